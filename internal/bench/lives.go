package main

import (
	"context"
	"errors"
	"time"
)

const (
	// readyAfter is how long a new server takes until it can be used.
	readyAfter = 9500 * time.Millisecond
	// realBoot is the simulator's way to say so: addresses come after 120% of it.
	realBoot = readyAfter * 100 / 120
	// pollInterval is the provider's default.
	pollInterval = 5 * time.Second

	savedPlan = "saved.tfplan"
)

// lives are creations and destructions under the limit, for which a server takes
// its usual time. One takes a minute, so each is measured once.
func (b *bench) lives() []group {
	var groups []group
	alone := func(m member) { groups = append(groups, group{m}) }
	for _, variant := range []string{defaults, noLooks} {
		for _, work := range []string{workCreate, workCreateSaved} {
			alone(b.create(Cell{work, 40, 50, limitWindow, 0, variant}))
			if b.quick {
				continue
			}
			alone(b.create(Cell{work, 40, 10, limitWindow, 0, variant}))
			alone(b.create(Cell{work, 200, 200, limitWindow, 0, variant}))
		}
		if !b.quick {
			alone(b.create(Cell{workCreate, 40, 50, limitNone, 0, variant}))
		}
	}
	if !b.quick {
		alone(b.destroy(Cell{workDestroy, 200, 200, limitWindow, 0, defaults}))
		alone(b.destroy(Cell{workDestroySaved, 200, 200, limitWindow, 0, defaults}))
	}
	return groups
}

// create is an apply that creates servers: the whole of it, or that of a saved
// plan alone.
func (b *bench) create(c Cell) member {
	takes := time.Duration(waves(c))*(readyAfter+pollInterval) + 3*time.Second
	if c.limited() && c.Count > perKey {
		takes += time.Minute
	}
	return member{cell: c, once: true, takes: takes, measure: func(ctx context.Context) (s sample, err error) {
		w, err := newWorld(ctx, c.Limiter, realBoot, c.Count)
		if err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, w.close()) }()
		place, err := b.configured(ctx, w, c)
		if err != nil {
			return s, err
		}
		args := applyArgs(c.Parallelism)
		if c.Work == workCreateSaved {
			if err := place.must(ctx, saveArgs(c.Parallelism, savedPlan)...); err != nil {
				return s, err
			}
			args = applyArgs(c.Parallelism, savedPlan)
		}
		s, err = observe(ctx, place, c, readShared, args...)
		if err == nil && s.exit == 0 {
			err = w.wantServers(ctx, c.Count, "running")
		}
		return s, err
	}}
}

// configured is a workspace with the configuration of servers that are not there.
func (b *bench) configured(ctx context.Context, w *world, c Cell) (*workspace, error) {
	offers, err := w.offers(ctx, c.Count)
	if err != nil {
		return nil, err
	}
	place, err := b.workspace(w)
	if err != nil {
		return nil, err
	}
	if c.Variant == noLooks {
		return place, place.configure(servers(moneyOff, "", offers))
	}
	return place, place.configure(servers("", "server", offers))
}

// destroy ends running servers: by destroy, or by the apply of a saved plan alone.
func (b *bench) destroy(c Cell) member {
	return member{cell: c, once: true, takes: 100 * time.Second, measure: func(ctx context.Context) (s sample, err error) {
		w, err := newWorld(ctx, c.Limiter, realBoot, c.Count)
		if err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, w.close()) }()
		offers, err := w.offers(ctx, c.Count)
		if err != nil {
			return s, err
		}
		place, err := b.seeded(ctx, w, "server", offers)
		if err != nil {
			return s, err
		}
		args := destroyArgs(c.Parallelism)
		if c.Work == workDestroySaved {
			if err := place.must(ctx, saveArgs(c.Parallelism, savedPlan, "-destroy")...); err != nil {
				return s, err
			}
			args = applyArgs(c.Parallelism, savedPlan)
		}
		s, err = observe(ctx, place, c, readShared, args...)
		if err == nil && s.exit == 0 {
			err = w.wantServers(ctx, 0, "")
		}
		return s, err
	}}
}

// waves is how many times as many servers as the CLI handles at once there are.
func waves(c Cell) int { return (c.Count + c.Parallelism - 1) / c.Parallelism }
