package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// The works that are measured.
const (
	workControl         = "control"       // one and the same thing, twice
	workRefresh         = "refresh"       // nothing but that
	workPlan            = "plan"          // a refresh, and a plan that finds nothing to do
	workSmall           = "refresh-small" // keys and templates
	workSpent           = "refresh-spent" // after somebody else has used the limit up
	workRefreshTogether = "refresh-together"
	workCreate          = "create"
	workCreateSaved     = "create-saved" // the apply of a saved plan alone
	workDestroy         = "destroy"
	workDestroySaved    = "destroy-saved"
	workCreateTogether  = "create-together"
)

// How a row differs from others of its work: the ways of reading, as the build
// for measurements knows them, and the two configurations of new servers.
const (
	readShared  = "shared"  // the product
	readNothing = "nothing" // the floor
	readEach    = "each"    // the naive reference
	defaults    = "defaults"
	noLooks     = "no-looks" // no name to look for twins of, no money to look at
)

// The limits: none, or the service's own in the two ways in which it may count.
const (
	limitNone   = "none"
	limitWindow = "window"
	limitBucket = "bucket"
)

// Cell names what is measured: it is a row of the table.
type Cell struct {
	Work        string `json:"work"`
	Count       int    `json:"count"` // of servers or things
	Parallelism int    `json:"parallelism"`
	Limiter     string `json:"limiter"`
	LatencyMS   int    `json:"latency_ms"` // added to every answer
	Variant     string `json:"variant"`
}

// String is the row's name, which -only matches.
func (c Cell) String() string {
	return fmt.Sprintf("%s/%d/par%d/%s/%dms/%s", c.Work, c.Count, c.Parallelism, c.Limiter, c.LatencyMS, c.Variant)
}

func (c Cell) limited() bool { return c.Limiter != limitNone }

func (c Cell) as(variant string) Cell {
	c.Variant = variant
	return c
}

// sample is one measurement of a cell.
type sample struct {
	wall     time.Duration
	cpu      time.Duration // of all provider processes
	peakKB   int64         // of the largest provider process
	exit     int
	requests Tally
	output   string // of the CLI
}

// Row is what the measurements of a cell came to.
type Row struct {
	Cell
	Runs int `json:"runs"`
	// WallS is the median, seconds; WallMinS and WallMaxS are the extremes.
	WallS    float64 `json:"wall_s"`
	WallMinS float64 `json:"wall_min_s"`
	WallMaxS float64 `json:"wall_max_s"`
	// CPUMS is the median of the processor time, milliseconds.
	CPUMS float64 `json:"provider_cpu_ms"`
	// PeakMB is the largest resident memory, 10^6 bytes.
	PeakMB float64 `json:"provider_peak_mb"`
	// Exit is the CLI's worst exit code.
	Exit int `json:"exit"`
	// Requests are those of the run that made most.
	Requests Tally `json:"requests"`
}

// summarize makes a row of at least one sample.
func summarize(c Cell, samples []sample) Row {
	row := Row{Cell: c, Runs: len(samples)}
	var walls, cpus []float64
	for _, s := range samples {
		walls = append(walls, s.wall.Seconds())
		cpus = append(cpus, float64(s.cpu.Milliseconds()))
		row.PeakMB = max(row.PeakMB, rounded(float64(s.peakKB)*1024/1e6, 1))
		row.Exit = max(row.Exit, s.exit)
		if s.requests.All >= row.Requests.All {
			row.Requests = s.requests
		}
	}
	row.WallS, row.CPUMS = rounded(median(walls), 3), rounded(median(cpus), 1)
	row.WallMinS, row.WallMaxS = rounded(slices.Min(walls), 3), rounded(slices.Max(walls), 3)
	return row
}

// median is the middle of the values, or the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ratio is how many times as large a is as b; 0 when b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func rounded(value float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(value*scale) / scale
}
