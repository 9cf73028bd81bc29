package main

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"
)

// The plot's page and the field within it that has axes, pixels.
const (
	plotWidth, plotHeight = 760, 440
	left, right           = 70, 550
	top, bottom           = 50, 380
	// labelGap keeps the names of lines that end close together apart.
	labelGap = 17
)

// Bounds of the axes; both are logarithmic.
const (
	minServers, maxPlotted = 1, 1000
	minSeconds, maxSeconds = 0.1, 1000.0
)

//go:embed plot.svg.tmpl
var plotText string

var plotTemplate = template.Must(template.New("plot").Parse(plotText))

// line is one of the plot.
type line struct {
	Class  string // decides its colour
	Label  string
	Points string // x,y pairs
	Dots   []dot
	LabelY float64
}

type dot struct{ X, Y float64 }

type tick struct {
	At   float64
	Text string
}

// plot draws the wall time of refreshes over the number of servers.
func plot(r Results) (string, error) {
	page := struct {
		Width, Height, Left, Right, Top, Bottom int
		XTicks, YTicks                          []tick
		Lines                                   []line
		Note                                    string
	}{
		plotWidth, plotHeight, left, right, top, bottom, nil, nil, nil,
		fmt.Sprintf("%s, %s, -parallelism=10", cliName(r.CLI), plural(r.CPUs, "processor")),
	}
	for servers := 1.0; servers <= maxPlotted; servers *= 10 {
		page.XTicks = append(page.XTicks, tick{xOf(servers), strconv.Itoa(int(servers))})
	}
	for s := minSeconds; s <= maxSeconds; s *= 10 {
		page.YTicks = append(page.YTicks, tick{yOf(s), strconv.FormatFloat(rounded(s, 1), 'f', -1, 64)})
	}
	for _, of := range []struct{ class, label, limiter, reads string }{
		{"limited", "one request each, 120/min", limitWindow, readEach},
		{"naive", "one request each, no limit", limitNone, readEach},
		{"ours", "this provider, 120/min", limitWindow, readShared},
		{"floor", "nothing read at all", limitNone, readNothing},
	} {
		if l, ok := drawn(r, of.limiter, of.reads); ok {
			l.Class, l.Label = of.class, of.label
			page.Lines = append(page.Lines, l)
		}
	}
	spread(page.Lines)
	var out strings.Builder
	err := plotTemplate.Execute(&out, page)
	return out.String(), err
}

// drawn is the line through what was measured of one way of reading.
func drawn(r Results, limiter, reads string) (line, bool) {
	var l line
	var points []string
	for _, n := range []int{1, 10, 40, manyServers, tooMany} {
		row, ok := r.row(plotted(n, limiter, reads))
		if !ok {
			continue
		}
		d := dot{xOf(float64(n)), yOf(row.WallS)}
		l.Dots = append(l.Dots, d)
		l.LabelY = d.Y
		points = append(points, fmt.Sprintf("%.1f,%.1f", d.X, d.Y))
	}
	l.Points = strings.Join(points, " ")
	return l, len(points) > 0
}

// spread moves the names of lines, which come from the top one down, apart.
func spread(lines []line) {
	highest := float64(top)
	for i := range lines {
		lines[i].LabelY = max(lines[i].LabelY, highest)
		highest = lines[i].LabelY + labelGap
	}
	for i := len(lines) - 1; i >= 0; i-- {
		limit := float64(bottom - labelGap*(len(lines)-1-i))
		lines[i].LabelY = min(lines[i].LabelY, limit)
	}
}

func xOf(servers float64) float64 {
	return left + (right-left)*share(servers, minServers, maxPlotted)
}

func yOf(s float64) float64 {
	return bottom - (bottom-top)*share(s, minSeconds, maxSeconds)
}

// share is where a value lies between bounds, 0 to 1, on a logarithmic axis.
func share(value, low, high float64) float64 {
	value = min(max(value, low), high)
	return rounded(math.Log(value/low)/math.Log(high/low), 4)
}
