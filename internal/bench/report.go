package main

import (
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// row is the result of a scenario. In a comparison of a fleet with count, control is the run with count.
type row struct {
	scenario
	provider, control sample
}

// figure is a quantity of the provider and of its control.
type figure struct {
	name              string
	provider, control float64
	unit              string
	bound             float64 // largest ratio; 0 for none
}

func (r row) figures() []figure {
	megabytes := func(kB int64) float64 { return float64(kB) * 1024 / 1e6 }
	milliseconds := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	p, c := r.provider, r.control
	figures := []figure{
		{"wall time", p.wall.Seconds(), c.wall.Seconds(), "s", r.maxWall},
		{"provider CPU time", milliseconds(p.cpu), milliseconds(c.cpu), "ms", r.maxCPU},
		{"provider peak memory", megabytes(p.peakKB), megabytes(c.peakKB), "MB", r.maxMemory},
	}
	if r.comparesFleet() {
		figures = append(figures, figure{"wall time / floor", p.wall.Seconds(), r.floor().Seconds(), "s", r.maxFloor})
	}
	return figures
}

func (f figure) ratio() float64 { return f.provider / f.control }

// String returns, for example, "3.03 s / 2.95 s = 1.03 ≤ 1.15", or "none" without a control.
func (f figure) String() string {
	if f.control == 0 {
		return "none"
	}
	text := fmt.Sprintf("%.2f %s / %.2f %s = %.2f", f.provider, f.unit, f.control, f.unit, f.ratio())
	if f.unit != "s" {
		text = fmt.Sprintf("%.0f %s / %.0f %s = %.2f", f.provider, f.unit, f.control, f.unit, f.ratio())
	}
	switch {
	case f.bound == 0:
		return text
	case f.ratio() > f.bound:
		return fmt.Sprintf("%s > %.2f", text, f.bound)
	}
	return fmt.Sprintf("%s ≤ %.2f", text, f.bound)
}

// String returns a line of the table.
func (r row) String() string {
	requests := strconv.Itoa(r.provider.requests)
	if r.comparesFleet() {
		requests += " / " + strconv.Itoa(r.control.requests)
	}
	var line strings.Builder
	fmt.Fprintf(&line, "| %s | %s |", r.name, requests)
	for _, f := range r.figures() {
		fmt.Fprintf(&line, " %s |", f)
	}
	return line.String()
}

// Parts of the guide "Measurements".
var (
	//go:embed page.tmpl
	page string
	//go:embed fleets.tmpl
	fleets string
)

// report returns the results as a guide.
func report(cli string, rows []row) string {
	var controls, comparisons []row
	for _, r := range rows {
		if r.comparesFleet() {
			comparisons = append(comparisons, r)
		} else {
			controls = append(controls, r)
		}
	}
	measured := fmt.Sprintf("Measured on %s with %s on %s/%s with %d processors.\n",
		time.Now().UTC().Format(time.DateOnly), cli, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	return page + measured + table(controls) + "\n" + fleets + measured + table(comparisons)
}

func table(rows []row) string {
	if len(rows) == 0 {
		return ""
	}
	figures := rows[0].figures()
	var text strings.Builder
	text.WriteString("\n| scenario | requests |")
	for _, f := range figures {
		fmt.Fprintf(&text, " %s |", f.name)
	}
	text.WriteString("\n|---|---:|" + strings.Repeat("---:|", len(figures)) + "\n")
	for _, r := range rows {
		text.WriteString(r.String() + "\n")
	}
	return text.String()
}

// verdict returns an error for each ratio that exceeds its bound.
func verdict(rows []row) error {
	var errs []error
	for _, r := range rows {
		for _, f := range r.figures() {
			if f.bound > 0 && f.ratio() > f.bound {
				errs = append(errs, fmt.Errorf("%s: %s: %s", r.name, f.name, f))
			}
		}
	}
	return errors.Join(errs...)
}
