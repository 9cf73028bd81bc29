package main

import (
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{7}, 7},
		{[]float64{9, 1}, 5},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 100, 1, 2}, 3},
	} {
		if got := median(test.values); got != test.want {
			t.Errorf("median of %v: %v, want %v", test.values, got, test.want)
		}
	}
}

func TestMedianLeavesTheOrderAlone(t *testing.T) {
	values := []float64{3, 1, 2}
	median(values)
	if values[0] != 3 || values[1] != 1 || values[2] != 2 {
		t.Errorf("the values became %v", values)
	}
}

func TestRatio(t *testing.T) {
	if got := ratio(3, 2); got != 1.5 {
		t.Errorf("3/2 is %v", got)
	}
	if got := ratio(3, 0); got != 0 {
		t.Errorf("3/0 is %v, want 0: JSON knows no infinity", got)
	}
}

// A row tells the usual time, but the worst of everything else.
func TestSummarize(t *testing.T) {
	took := func(seconds, cpuMS, peakKB int64, requests, exit int) sample {
		return sample{wall: time.Duration(seconds) * time.Second, cpu: time.Duration(cpuMS) * time.Millisecond, peakKB: peakKB, exit: exit, requests: Tally{All: requests}}
	}
	c := Cell{Work: workRefresh, Count: 10}
	got := summarize(c, []sample{took(3, 100, 1000, 2, 0), took(1, 300, 4000, 5, 2), took(2, 200, 2000, 1, 0)})
	if got.Cell != c || got.Runs != 3 || got.WallS != 2 || got.WallMinS != 1 || got.WallMaxS != 3 || got.CPUMS != 200 {
		t.Errorf("times %+v", got)
	}
	if got.PeakMB != 4.1 || got.Exit != 2 || got.Requests.All != 5 {
		t.Errorf("the worst is %+v", got)
	}
}

func TestUsageOfSeveralProcesses(t *testing.T) {
	var s sample
	if err := s.addUsage([]byte("{\"cpu_ms\":40,\"peak_kb\":30000}\n{\"cpu_ms\":60,\"peak_kb\":20000}\n")); err != nil {
		t.Fatal(err)
	}
	if s.cpu != 100*time.Millisecond || s.peakKB != 30000 {
		t.Errorf("%v and %d kB, want the sum and the maximum", s.cpu, s.peakKB)
	}
	if err := s.addUsage([]byte("{\"cpu_ms\":")); err == nil {
		t.Error("half a line was taken")
	}
}

// The name is what -only matches: each part must be in it.
func TestCellNamesAreDifferent(t *testing.T) {
	b := &bench{options: options{repeat: 1}}
	seen := map[string]bool{}
	for _, g := range b.groups() {
		for _, m := range g {
			if seen[m.cell.String()] {
				t.Errorf("%s is measured twice", m.cell)
			}
			seen[m.cell.String()] = true
		}
	}
	for _, want := range []string{"refresh/1000/par10/window/0ms/each", "create/200/par200/window/0ms/no-looks", "control/200/par10/none/0ms/A"} {
		if !seen[want] {
			t.Errorf("%s is not measured", want)
		}
	}
	if forbidden := "refresh/1000/par50/window/0ms/each"; seen[forbidden] {
		t.Errorf("%s would take minutes for nothing", forbidden)
	}
}

func TestQuickWaitsForNoLimit(t *testing.T) {
	opts, err := parse([]string{"-quick"})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{options: opts}
	for _, g := range b.groups() {
		for _, m := range g {
			if m.cell.Count > manyServers && m.cell.Work != workSmall || m.takes > 2*time.Minute {
				t.Errorf("%s takes %v", m.cell, m.takes)
			}
		}
	}
}

// Only a whole run may replace the committed results.
func TestPartialRuns(t *testing.T) {
	for _, test := range []struct {
		args    []string
		partial bool
	}{
		{nil, false},
		{[]string{"-repeat=9"}, false},
		{[]string{"-repeat=2"}, true},
		{[]string{"-quick"}, true},
		{[]string{"-only=create"}, true},
	} {
		opts, err := parse(test.args)
		if err != nil || opts.partial() != test.partial {
			t.Errorf("%v: partial %v, error %v", test.args, opts.partial(), err)
		}
	}
	for _, wrong := range [][]string{{"-only=("}, {"-repeat=0"}, {"refresh"}} {
		if _, err := parse(wrong); err == nil {
			t.Errorf("%v was taken", wrong)
		}
	}
}
