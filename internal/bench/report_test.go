package bench

import (
	_ "embed"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// row is the result of a scenario.
type row struct {
	scenario
	samples [2]sample // by side
}

// figure compares a time of the two sides.
type figure struct {
	name     string
	values   [2]float64 // seconds
	maxRatio float64    // 0 for no bound
}

func (r row) figures() []figure {
	a, b := r.samples[0], r.samples[1]
	return []figure{
		{"wall time", [...]float64{a.wall.Seconds(), b.wall.Seconds()}, r.maxRatio},
		{"CPU time", [...]float64{a.cpu.Seconds(), b.cpu.Seconds()}, 0},
		{"wall time / ideal", [...]float64{a.wall.Seconds(), r.ideal().Seconds()}, r.maxIdeal},
	}
}

func (f figure) exceeded() bool { return f.maxRatio > 0 && f.values[0]/f.values[1] > f.maxRatio }

// String returns, for example, "3.03 s / 2.95 s = 1.03 ≤ 1.25", or "none" without the second value.
func (f figure) String() string {
	if f.values[1] == 0 {
		return "none"
	}
	ratio := f.values[0] / f.values[1]
	text := fmt.Sprintf("%.2f s / %.2f s = %.2f", f.values[0], f.values[1], ratio)
	switch {
	case f.exceeded():
		return fmt.Sprintf("%s > %.2f", text, f.maxRatio)
	case f.maxRatio > 0:
		return fmt.Sprintf("%s ≤ %.2f", text, f.maxRatio)
	default:
		return text
	}
}

// String returns a line of the table.
func (r row) String() string {
	line := fmt.Sprintf("| %s | %d / %d |", r.name, r.samples[0].requests, r.samples[1].requests)
	for _, f := range r.figures() {
		line += fmt.Sprintf(" %s |", f)
	}
	return line + "\n"
}

//go:embed page.tmpl
var page string

// guide returns the guide "Measurements" with the results.
func guide(t *testing.T, rows []row) string {
	t.Helper()
	cli, err := acctest.CLI()
	if err != nil {
		t.Fatal(err)
	}
	var lines string
	for _, r := range rows {
		lines += r.String()
	}
	measured := fmt.Sprintf("Measured on %s with %s on %s/%s with %d processors.",
		time.Now().UTC().Format(time.DateOnly), cli, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	return strings.NewReplacer("MEASURED", measured, "ROWS\n", lines).Replace(page)
}

func TestFigure(t *testing.T) {
	for want, f := range map[string]figure{
		"1.15 s / 1.00 s = 1.15 ≤ 1.15": {values: [...]float64{1.15, 1}, maxRatio: 1.15},
		"1.20 s / 1.00 s = 1.20 > 1.15": {values: [...]float64{1.2, 1}, maxRatio: 1.15},
		"60.00 s / 50.00 s = 1.20":      {values: [...]float64{60, 50}},
		"none":                          {values: [...]float64{1, 0}, maxRatio: 1.15},
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
