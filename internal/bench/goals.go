package main

import (
	"fmt"
	"strings"
	"time"
)

// Goal is what the provider is to reach, and whether it did.
type Goal struct {
	Goal     string `json:"goal"`
	Measured string `json:"measured"`
	Met      string `json:"met"` // one of the verdicts
	// Exact: it does not depend on how fast the machine is. A run that misses one
	// fails.
	Exact bool `json:"exact"`
}

const (
	yes         = "yes"
	no          = "no"
	notMeasured = "not measured"
)

// missed are errors for the exact goals that were measured and not met.
func missed(goals []Goal) []error {
	var errs []error
	for _, g := range goals {
		if g.Exact && g.Met == no {
			errs = append(errs, fmt.Errorf("goal missed: %s: %s", g.Goal, g.Measured))
		}
	}
	return errs
}

// judge holds the results against all goals.
func judge(r Results) []Goal {
	j := &judgement{Results: r}
	j.requests("refresh of 1 server", workRefresh, 1, 1)
	j.requests("refresh of 200 servers", workRefresh, manyServers, 2)
	j.requests("refresh of 1000 servers", workRefresh, tooMany, 6)
	j.requests("refresh of 200 SSH keys, 20 templates and 50 API keys", workSmall, sshKeys+templates+apiKeys, 5)
	j.limitedRefreshes()
	for _, c := range []struct{ parallelism, requests int }{{50, 44}, {10, 50}} {
		j.creation(Cell{workCreate, 40, c.parallelism, limitWindow, 0, ""}, c.requests, fortyLimit(c.parallelism))
	}
	j.creation(Cell{workCreate, 200, 200, limitWindow, 0, ""}, 210, 1.15*(createFloor+readyAfter).Seconds())
	j.wallOnly(Cell{workCreate, 200, 200, limitWindow, 0, ""}, 1.15*createFloor.Seconds())
	j.creation(Cell{workDestroy, 200, 200, limitWindow, 0, ""}, 206, 1.15*destroyFloor.Seconds())
	j.sharedKey()
	j.program()
	return j.goals
}

const (
	// window is the service's: what is beyond its first 120 requests waits for the next.
	window = time.Minute
	// createFloor is 200 creations under the limit: the last is asked for when the
	// second window opens, and is ready a boot later.
	createFloor  = window + readyAfter
	destroyFloor = window
)

// fortyLimit is in seconds: each wave of servers boots and is seen at the next look.
func fortyLimit(parallelism int) float64 {
	n := waves(Cell{Count: 40, Parallelism: parallelism})
	return float64(n)*(readyAfter+pollInterval).Seconds() + 1
}

// judgement collects goals.
type judgement struct {
	Results
	goals []Goal
}

// add notes a goal. Without a measurement nothing is judged.
func (j *judgement) add(exact bool, goal, measured string, met bool) {
	g := Goal{Goal: goal, Measured: measured, Met: notMeasured, Exact: exact}
	if measured != "" {
		if g.Met = no; met {
			g.Met = yes
		}
	}
	j.goals = append(j.goals, g)
}

// requests judges the product's rows of a work by the one that makes most.
func (j *judgement) requests(what, work string, n, limit int) {
	most, measured := 0, ""
	rows := j.rows(func(c Cell) bool { return c.Work == work && c.Count == n && c.Variant == readShared })
	for _, row := range rows {
		most = max(most, row.Requests.All)
		measured = fmt.Sprintf("%d at most, in %s", most, plural(len(rows), "row"))
	}
	j.add(true, fmt.Sprintf("%s: ≤ %s", what, plural(limit, "request")), measured, most <= limit)
}

// limitedRefreshes judges refreshes under the limit against those without it,
// the naive ones, and the floor.
func (j *judgement) limitedRefreshes() {
	for _, limiter := range []string{limitWindow, limitBucket} {
		for _, n := range []int{manyServers, tooMany} {
			about := fmt.Sprintf("refresh of %d under 120/min, %s", n, limiter)
			rows := j.rows(func(c Cell) bool {
				return c.Work == workRefresh && c.Count == n && c.Limiter == limiter && c.Variant == readShared
			})
			j.quiet(about, rows)
			if n == manyServers {
				j.worst(about+": ≤ 1.3 times its unlimited wall time", rows, 1.3, func(row Row) (float64, bool) {
					free := row.Cell
					free.Limiter = limitNone
					other, ok := j.row(free)
					return ratio(row.WallS, other.WallS), ok
				})
				j.faster(about, rows, 50)
				continue
			}
			j.faster(about, rows, 90)
			j.worst(about+": ≤ 1.10 times the floor's processor time", rows, 1.10, func(row Row) (float64, bool) {
				floor, ok := j.row(row.as(readNothing))
				return ratio(row.CPUMS, floor.CPUMS), ok
			})
		}
	}
}

// quiet wants exit code 0 and no 429.
func (j *judgement) quiet(about string, rows []Row) {
	exit, limited, measured := 0, 0, ""
	for _, row := range rows {
		exit, limited = max(exit, row.Exit), max(limited, row.Requests.Limited)
		measured = fmt.Sprintf("exit %d, %d x 429, in %s", exit, limited, plural(len(rows), "row"))
	}
	j.add(true, about+": exit 0, no 429", measured, exit == 0 && limited == 0)
}

// faster wants the naive way to take so many times as long, wherever it was measured.
func (j *judgement) faster(about string, rows []Row, limit float64) {
	least, measured := 0.0, ""
	for _, row := range rows {
		naive, ok := j.row(row.as(readEach))
		if times := ratio(naive.WallS, row.WallS); ok && (measured == "" || times < least) {
			least = times
			measured = fmt.Sprintf("%.0f (%.1f s / %.2f s, par %d, %d ms)", times, naive.WallS, row.WallS, row.Parallelism, row.LatencyMS)
		}
	}
	j.add(false, fmt.Sprintf("%s: ≥ %.0f times faster than naive", about, limit), measured, least >= limit)
}

// worst judges rows by the one with the highest ratio.
func (j *judgement) worst(goal string, rows []Row, limit float64, value func(Row) (float64, bool)) {
	most, measured := 0.0, ""
	for _, row := range rows {
		if times, ok := value(row); ok && times > most {
			most, measured = times, fmt.Sprintf("%.2f (par %d, %d ms)", times, row.Parallelism, row.LatencyMS)
		}
	}
	j.add(false, goal, measured, most <= limit)
}

// creation judges a creation or destruction in all configurations, as a whole
// apply and as that of a saved plan. Looks at the market and the money, which every
// user may turn off, come on top.
func (j *judgement) creation(c Cell, requests int, seconds float64) {
	rows := j.lives(c)
	if len(rows) == 0 {
		j.add(true, fmt.Sprintf("%s: exit 0, ≤ %d requests, no 429, ≤ %.1f s", c.brief(), requests, seconds), "", false)
	}
	for _, row := range rows {
		about := lifeName(row.Cell)
		looks := row.Variant == defaults && strings.HasPrefix(row.Work, workCreate)
		j.add(!looks, fmt.Sprintf("%s: exit 0, ≤ %d requests, no 429", about, requests),
			fmt.Sprintf("exit %d, %s, %d x 429", row.Exit, plural(row.Requests.All, "request"), row.Requests.Limited),
			row.Exit == 0 && row.Requests.All <= requests && row.Requests.Limited == 0)
		j.wall(about, row, seconds)
	}
}

func (j *judgement) wallOnly(c Cell, seconds float64) {
	for _, row := range j.lives(c) {
		j.wall(lifeName(row.Cell), row, seconds)
	}
}

func (j *judgement) wall(about string, row Row, seconds float64) {
	j.add(false, fmt.Sprintf("%s: ≤ %.1f s", about, seconds), fmt.Sprintf("%.1f s", row.WallS), row.WallS <= seconds)
}

// lives are the rows of a creation or destruction, whole and of a saved plan.
func (j *judgement) lives(c Cell) []Row {
	return j.rows(func(other Cell) bool {
		other.Work, other.Variant = strings.TrimSuffix(other.Work, "-saved"), ""
		return other == c
	})
}

func lifeName(c Cell) string {
	how := "plan and apply"
	if strings.HasSuffix(c.Work, "-saved") {
		how = "saved plan"
	}
	return fmt.Sprintf("%s, %s, %s", c.brief(), c.Variant, how)
}

func (c Cell) brief() string {
	return fmt.Sprintf("%s %d, par %d", strings.TrimSuffix(c.Work, "-saved"), c.Count, c.Parallelism)
}

// sharedKey judges what happens when others spend the same limit. That no server
// is lost or rented twice was looked at when it was measured.
func (j *judgement) sharedKey() {
	for _, work := range []string{workSpent, workRefreshTogether, workCreateTogether} {
		rows := j.rows(func(c Cell) bool { return c.Work == work })
		if len(rows) == 0 {
			j.add(true, work+": exit 0, nothing lost", "", false)
		}
		for _, row := range rows {
			j.add(true, fmt.Sprintf("%s, %s: exit 0, nothing lost", work, row.Limiter),
				fmt.Sprintf("exit %d, %.1f s, %s, %d x 429", row.Exit, row.WallS, plural(row.Requests.All, "request"), row.Requests.Limited), row.Exit == 0)
		}
	}
}

// program judges the provider as a program.
func (j *judgement) program() {
	size, schema, memory := "", "", ""
	var megabytes, times, more float64
	if p := j.Program; p != nil {
		megabytes, size = p.SizeMB, fmt.Sprintf("%.1f MB", p.SizeMB)
		if p.Nothing != nil {
			times, more = ratio(p.Schema.MS, p.Nothing.MS), ratio(p.Schema.RSSMB, p.Nothing.RSSMB)
			schema = fmt.Sprintf("%.2f (%.0f ms / %.0f ms)", times, p.Schema.MS, p.Nothing.MS)
			memory = fmt.Sprintf("%.2f (%.1f MB / %.1f MB)", more, p.Schema.RSSMB, p.Nothing.RSSMB)
		}
	}
	j.add(false, "stripped binary: ≤ 20 MB", size, megabytes <= 20)
	j.add(false, "schema: ≤ 1.3 times the time of a provider that does nothing", schema, times <= 1.3)
	j.add(false, "schema: ≤ 1.15 times its memory", memory, more <= 1.15)
	row, ok := j.row(Cell{workPlan, memoryCount, 10, limitWindow, 0, readShared})
	peak := ""
	if ok {
		peak = fmt.Sprintf("%.1f MB", row.PeakMB)
	}
	j.add(false, "memory at 500 servers: ≤ 110 MB", peak, row.PeakMB <= 110)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
