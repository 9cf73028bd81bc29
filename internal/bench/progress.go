package main

import (
	"fmt"
	"io"
	"time"
)

// progress says what is done and how long the rest may take.
type progress struct {
	out         io.Writer
	repeat      int
	groups, at  int
	ahead, done time.Duration // as guessed
	took        time.Duration // what was done
	began       time.Time
}

func newProgress(out io.Writer, groups []group, repeat int) *progress {
	p := &progress{out: out, groups: len(groups), repeat: repeat}
	for _, g := range groups {
		p.ahead += p.guess(g)
	}
	fmt.Fprintf(out, "%d groups of measurements, about %s\n", len(groups), p.left())
	return p
}

// guess is how long a group may take.
func (p *progress) guess(g group) time.Duration {
	var sum, waiting time.Duration
	for _, m := range g {
		if m.once {
			waiting = max(waiting, m.takes)
		} else {
			sum += m.takes * time.Duration(p.repeat)
		}
	}
	return sum + waiting
}

func (p *progress) begin(g group) {
	p.at++
	p.began = time.Now()
	rest := ""
	if len(g) > 1 {
		rest = fmt.Sprintf(" and %d beside it", len(g)-1)
	}
	fmt.Fprintf(p.out, "[%d/%d, %s left] %s%s\n", p.at, p.groups, p.left(), g[0].cell, rest)
}

func (p *progress) end(g group, rows []Row) {
	p.took += time.Since(p.began)
	p.done += p.guess(g)
	p.ahead -= p.guess(g)
	for _, r := range rows {
		fmt.Fprintf(p.out, "    %-40s %8.2f s %6.0f ms CPU %6.1f MB %5d requests %3d x 429\n", r.Cell, r.WallS, r.CPUMS, r.PeakMB, r.Requests.All, r.Requests.Limited)
	}
}

// left corrects the guesses by how wrong they were so far.
func (p *progress) left() time.Duration {
	left := p.ahead
	if p.done > time.Minute {
		left = time.Duration(float64(left) * ratio(p.took.Seconds(), p.done.Seconds()))
	}
	return left.Round(time.Second)
}
