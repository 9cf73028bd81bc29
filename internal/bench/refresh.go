package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// fleetKey names servers that are there for all refreshes of their number.
type fleetKey struct {
	count   int
	limiter string
}

// manyServers is where a naive refresh under the limit takes long enough to be
// measured once, and tooMany where it takes minutes.
const (
	manyServers = 200
	tooMany     = 1000
	memoryCount = 500 // servers at which the memory is judged
)

// fleet is a workspace whose state and configuration are of so many running
// servers of a service of their own. It is made once.
func (b *bench) fleet(ctx context.Context, c Cell) (*workspace, error) {
	key := fleetKey{c.Count, c.Limiter}
	if key.limiter == limitNone {
		key.limiter = limitWindow // its limit is lifted for that
	}
	if place := b.fleets[key]; place != nil {
		return place, nil
	}
	w, err := newWorld(ctx, key.limiter, instantBoot, c.Count)
	if err != nil {
		return nil, err
	}
	offers, err := w.offers(ctx, c.Count)
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	place, err := b.seeded(ctx, w, "server", offers)
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	b.fleets[key] = place
	return place, nil
}

// seeded is a workspace with running servers, made without a limit, and with the
// configuration of a user who left all to the defaults.
func (b *bench) seeded(ctx context.Context, w *world, name string, offers []string) (*workspace, error) {
	const parallelism = 50
	place, err := b.workspace(w)
	if err != nil {
		return nil, err
	}
	if err := place.configure(servers(seedProvider, name, offers)); err != nil {
		return nil, err
	}
	if err := place.must(ctx, applyArgs(parallelism)...); err != nil {
		return nil, err
	}
	return place, place.configure(servers("", name, offers))
}

// controls compare the product with itself: what differs is the machine's noise.
func (b *bench) controls() []group {
	var groups []group
	for _, n := range []int{manyServers, tooMany} {
		if b.quick && n > manyServers {
			continue
		}
		var g group
		for _, variant := range []string{"A", "B"} {
			g = append(g, b.refresh(Cell{workControl, n, 10, limitNone, 0, variant}, readShared))
		}
		groups = append(groups, g)
	}
	return groups
}

// refreshes compare limits, and the product with its references, each within a
// group.
func (b *bench) refreshes() []group {
	var groups []group
	for _, n := range []int{1, 10, 40, manyServers, tooMany} {
		if b.quick && n > manyServers {
			continue
		}
		for _, parallelism := range []int{10, 50} {
			for _, latency := range []int{0, 50} {
				var g group
				for _, limiter := range []string{limitNone, limitWindow, limitBucket} {
					g = append(g, b.besideReferences(Cell{workRefresh, n, parallelism, limiter, latency, ""})...)
				}
				groups = append(groups, g)
			}
		}
	}
	return groups
}

// plans are what most commands begin with.
func (b *bench) plans() []group {
	var groups []group
	for _, n := range []int{1, 40, manyServers, memoryCount, tooMany} {
		if b.quick && n > manyServers {
			continue
		}
		c := Cell{workPlan, n, 10, limitWindow, 0, ""}
		groups = append(groups, group{b.plan(c.as(readShared), readShared), b.plan(c.as(readNothing), readNothing)})
	}
	return groups
}

// besideReferences is a refresh in all three ways. The naive one that waits for
// the limit is measured once, and of those that wait for minutes only two are.
func (b *bench) besideReferences(c Cell) group {
	g := group{b.refresh(c.as(readShared), readShared), b.refresh(c.as(readNothing), readNothing)}
	waits := c.limited() && c.Count > perKey
	if waits && (b.quick || c.Count == tooMany && (c.Parallelism != 10 || c.LatencyMS != 0)) {
		return g
	}
	naive := b.refresh(c.as(readEach), readEach)
	naive.once = waits
	return append(g, naive)
}

// refresh reads all servers and finds the configuration, the state and the service
// alike.
func (b *bench) refresh(c Cell, reads string) member {
	return b.look(c, reads, refreshArgs(c.Parallelism))
}

// plan is a refresh with a plan that has nothing to do.
func (b *bench) plan(c Cell, reads string) member { return b.look(c, reads, planArgs(c.Parallelism)) }

func (b *bench) look(c Cell, reads string, args []string) member {
	prepare := func(ctx context.Context) {
		if _, err := b.fleet(ctx, c); err != nil && ctx.Err() == nil {
			b.trouble(err)
		}
	}
	return member{cell: c, takes: refreshTakes(c, reads), prepare: prepare, measure: func(ctx context.Context) (sample, error) {
		place, err := b.fleet(ctx, c)
		if err != nil {
			return sample{}, err
		}
		s, err := observe(ctx, place, c, reads, args...)
		if err == nil && s.exit == 0 && !strings.Contains(s.output, "No changes") {
			err = fmt.Errorf("it found changes:\n%s", tail(s.output))
		}
		if err != nil {
			return s, err
		}
		return s, checkReads(c, reads, s)
	}}
}

// checkReads makes sure that a reference is what it is called.
func checkReads(c Cell, reads string, s sample) error {
	asked := s.requests.served["GET /instances/{id}"]
	switch {
	case reads == readNothing && s.requests.All != 0:
		return fmt.Errorf("%d requests, and the floor makes none: %v", s.requests.All, s.requests.Endpoints)
	case reads == readEach && asked != c.Count:
		return fmt.Errorf("%d of %d servers were read one by one: %v", asked, c.Count, s.requests.Endpoints)
	}
	return nil
}

// refreshTakes is a guess.
func refreshTakes(c Cell, reads string) time.Duration {
	seconds := 0.3 + 0.012*float64(c.Count)
	if reads != readEach {
		return time.Duration(seconds * float64(time.Second))
	}
	seconds += float64(c.Count*c.LatencyMS) / 1000 / float64(c.Parallelism)
	if over := c.Count - perKey; c.limited() && over > 0 {
		seconds += 60 * float64(over) / perKey
	}
	return time.Duration(seconds * float64(time.Second))
}
