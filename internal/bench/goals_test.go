package main

import (
	"strings"
	"testing"
)

// measured is a run in which everything is as it should be; a test spoils one row.
func measured() Results {
	r := Results{
		Date: "2030-01-02", CLI: "terraform 1.2.3", CPUs: 2,
		Program: &Program{SizeMB: 19, Schema: Answer{12, 24}, Nothing: &Answer{10, 22}},
	}
	add := func(c Cell, wall, cpu float64, requests int) {
		r.Rows = append(r.Rows, Row{Cell: c, Runs: 1, WallS: wall, CPUMS: cpu, PeakMB: 90, Requests: Tally{All: requests}})
	}
	add(Cell{workPlan, memoryCount, 10, limitWindow, 0, readShared}, 3, 100, 4)
	for n, requests := range map[int]int{1: 1, manyServers: 2, tooMany: 6} {
		for _, limiter := range []string{limitNone, limitWindow, limitBucket} {
			c := Cell{workRefresh, n, 10, limiter, 0, ""}
			add(c.as(readShared), 1.2, 105, requests)
			add(c.as(readNothing), 1, 100, 0)
			add(c.as(readEach), 120, 200, n)
		}
	}
	add(Cell{workSmall, sshKeys + templates + apiKeys, 10, limitNone, 0, readShared}, 1, 100, 5)
	for _, variant := range []string{defaults, noLooks} {
		for _, work := range []string{workCreate, workCreateSaved} {
			add(Cell{work, 40, 50, limitWindow, 0, variant}, 15, 100, 44)
			add(Cell{work, 40, 10, limitWindow, 0, variant}, 58, 100, 50)
			add(Cell{work, 200, 200, limitWindow, 0, variant}, 79, 100, 210)
		}
	}
	add(Cell{workDestroy, 200, 200, limitWindow, 0, defaults}, 65, 100, 206)
	for _, work := range []string{workSpent, workRefreshTogether, workCreateTogether} {
		add(Cell{work, 200, 10, limitWindow, 0, readShared}, 10, 100, 50)
	}
	return r
}

func verdict(t *testing.T, goals []Goal, begins string) Goal {
	t.Helper()
	for _, g := range goals {
		if strings.HasPrefix(g.Goal, begins) {
			return g
		}
	}
	t.Fatalf("no goal begins with %q", begins)
	return Goal{}
}

func TestAllGoalsMet(t *testing.T) {
	for _, g := range judge(measured()) {
		if g.Met != yes {
			t.Errorf("%s: %s, %s", g.Goal, g.Measured, g.Met)
		}
	}
}

func TestNothingMeasuredIsNeitherMetNorMissed(t *testing.T) {
	goals := judge(Results{})
	for _, g := range goals {
		if g.Met != notMeasured {
			t.Errorf("%s: %s, %s", g.Goal, g.Measured, g.Met)
		}
	}
	if errs := missed(goals); len(errs) > 0 {
		t.Error(errs)
	}
}

func TestGoalsMissed(t *testing.T) {
	for _, test := range []struct {
		goal  string
		cell  Cell
		spoil func(*Row)
		exact bool
	}{
		{"refresh of 200 servers: ≤ 2", Cell{workRefresh, 200, 10, limitBucket, 0, readShared}, func(r *Row) { r.Requests.All = 3 }, true},
		{"refresh of 200 under 120/min, window: exit 0", Cell{workRefresh, 200, 10, limitWindow, 0, readShared}, func(r *Row) { r.Requests.Limited = 1 }, true},
		{"refresh of 200 under 120/min, window: ≤ 1.3", Cell{workRefresh, 200, 10, limitWindow, 0, readShared}, func(r *Row) { r.WallS = 1.6 }, false},
		{"refresh of 200 under 120/min, bucket: ≥ 50", Cell{workRefresh, 200, 10, limitBucket, 0, readEach}, func(r *Row) { r.WallS = 50 }, false},
		{"refresh of 1000 under 120/min, window: ≤ 1.10", Cell{workRefresh, 1000, 10, limitWindow, 0, readShared}, func(r *Row) { r.CPUMS = 111 }, false},
		{"create 40, par 50, no-looks, saved plan: exit 0", Cell{workCreateSaved, 40, 50, limitWindow, 0, noLooks}, func(r *Row) { r.Requests.All = 45 }, true},
		{"create 40, par 50, defaults, saved plan: exit 0", Cell{workCreateSaved, 40, 50, limitWindow, 0, defaults}, func(r *Row) { r.Requests.All = 45 }, false},
		{"create 40, par 10, no-looks, plan and apply: ≤ 59.0 s", Cell{workCreate, 40, 10, limitWindow, 0, noLooks}, func(r *Row) { r.WallS = 59.1 }, false},
		{"destroy 200, par 200, defaults, plan and apply: exit 0", Cell{workDestroy, 200, 200, limitWindow, 0, defaults}, func(r *Row) { r.Exit = 1 }, true},
		{"refresh-spent, window: exit 0", Cell{workSpent, 200, 10, limitWindow, 0, readShared}, func(r *Row) { r.Exit = 1 }, true},
		{"memory at 500", Cell{workPlan, memoryCount, 10, limitWindow, 0, readShared}, func(r *Row) { r.PeakMB = 111 }, false},
	} {
		r := measured()
		for i := range r.Rows {
			if r.Rows[i].Cell == test.cell {
				test.spoil(&r.Rows[i])
			}
		}
		goals := judge(r)
		if got := verdict(t, goals, test.goal); got.Met != no || got.Exact != test.exact {
			t.Errorf("%s: %s, %s, exact %v", got.Goal, got.Measured, got.Met, got.Exact)
		}
		if errs := missed(goals); (len(errs) == 1) != test.exact {
			t.Errorf("%s: a run of it ends with %v", test.goal, errs)
		}
	}
}

func TestProgramGoals(t *testing.T) {
	r := measured()
	r.Program = &Program{SizeMB: 21, Schema: Answer{14, 30}, Nothing: &Answer{10, 22}}
	goals := judge(r)
	for _, begins := range []string{"stripped binary", "schema: ≤ 1.3", "schema: ≤ 1.15"} {
		if got := verdict(t, goals, begins); got.Met != no {
			t.Errorf("%s: %s, %s", got.Goal, got.Measured, got.Met)
		}
	}
	r.Program.Nothing = nil
	if got := verdict(t, judge(r), "schema: ≤ 1.3"); got.Met != notMeasured {
		t.Errorf("without a provider to compare with: %s", got.Met)
	}
}
