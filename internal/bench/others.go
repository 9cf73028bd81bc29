package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// togetherCount is how many CLI processes share a key.
const togetherCount = 4

// others are the works besides plain refreshes and the lives of servers.
func (b *bench) others() []group {
	small := Cell{workSmall, sshKeys + templates + apiKeys, 10, limitNone, 0, ""}
	var g group
	for _, reads := range []string{readShared, readNothing, readEach} {
		g = append(g, b.small(small.as(reads), reads))
	}
	groups := []group{g}
	for _, limiter := range []string{limitWindow, limitBucket} {
		if !b.quick {
			groups = append(groups, group{b.spent(Cell{workSpent, manyServers, 10, limiter, 0, readShared})})
		}
		groups = append(groups, group{b.refreshTogether(Cell{workRefreshTogether, 200, 10, limiter, 0, readShared})})
	}
	return append(groups, group{b.createTogether(Cell{workCreateTogether, 100, 10, limitWindow, 0, defaults})})
}

// small refreshes keys and templates, which the service lists and nothing more.
func (b *bench) small(c Cell, reads string) member {
	return member{cell: c, takes: 4 * time.Second, measure: func(ctx context.Context) (sample, error) {
		place := b.fleets[fleetKey{limiter: workSmall}]
		if place == nil {
			var err error
			if place, err = b.seededSmall(ctx); err != nil {
				return sample{}, err
			}
			b.fleets[fleetKey{limiter: workSmall}] = place
		}
		s, err := observe(ctx, place, c, reads, planArgs(c.Parallelism)...)
		if err == nil && reads == readNothing {
			err = checkReads(c, reads, s)
		}
		return s, err
	}}
}

func (b *bench) seededSmall(ctx context.Context) (*workspace, error) {
	w, err := newWorld(ctx, limitNone, instantBoot, 0)
	if err != nil {
		return nil, err
	}
	place, err := b.workspace(w)
	if err == nil {
		var config string
		if config, err = smallThings(); err == nil {
			err = place.configure(config)
		}
	}
	if err == nil {
		err = place.must(ctx, applyArgs(50)...)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return place, nil
}

// spent refreshes when somebody else has just used the key's limit up.
func (b *bench) spent(c Cell) member {
	return member{cell: c, once: true, takes: time.Minute, measure: func(ctx context.Context) (sample, error) {
		place, err := b.fleet(ctx, c)
		if err != nil {
			return sample{}, err
		}
		place.world.prepare(c)
		if err := place.world.spend(ctx, perKey); err != nil {
			return sample{}, err
		}
		place.world.ClearRequests()
		s, err := place.run(ctx, readShared, planArgs(c.Parallelism)...)
		if err != nil {
			return s, err
		}
		s.requests, err = place.world.tally()
		return s, err
	}}
}

// refreshTogether refreshes several states with one key at the same time.
func (b *bench) refreshTogether(c Cell) member {
	var places []*workspace
	return member{cell: c, takes: 4 * time.Second, measure: func(ctx context.Context) (sample, error) {
		if places == nil {
			var err error
			if places, err = b.apart(ctx, c, func(w *world, name string, offers []string) (*workspace, error) {
				return b.seeded(ctx, w, name, offers)
			}); err != nil {
				return sample{}, err
			}
			b.fleets[fleetKey{limiter: c.String()}] = places[0] // closes the service in the end
		}
		return together(ctx, c, places, planArgs(c.Parallelism)...)
	}}
}

// createTogether creates the servers of several configurations with one key at
// the same time.
func (b *bench) createTogether(c Cell) member {
	return member{cell: c, once: true, takes: 90 * time.Second, measure: func(ctx context.Context) (s sample, err error) {
		places, err := b.apart(ctx, c, func(w *world, name string, offers []string) (*workspace, error) {
			place, err := b.workspace(w)
			if err != nil {
				return nil, err
			}
			return place, place.configure(servers("", name, offers))
		})
		if err != nil {
			return s, err
		}
		w := places[0].world
		defer func() { err = errors.Join(err, w.close()) }()
		s, err = together(ctx, c, places, applyArgs(c.Parallelism)...)
		if err == nil && s.exit == 0 {
			err = w.wantServers(ctx, c.Count, "running")
		}
		return s, err
	}}
}

// apart makes a service for several workspaces, each with its share of the
// servers.
func (b *bench) apart(ctx context.Context, c Cell, furnish func(w *world, name string, offers []string) (*workspace, error)) (places []*workspace, err error) {
	w, err := newWorld(ctx, c.Limiter, instantBoot, c.Count)
	if err != nil {
		return nil, err
	}
	offers, err := w.offers(ctx, c.Count)
	share := c.Count / togetherCount
	for i := 0; i < togetherCount && err == nil; i++ {
		var place *workspace
		place, err = furnish(w, fmt.Sprintf("fleet%d", i), offers[i*share:(i+1)*share])
		places = append(places, place)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return places, nil
}

// together runs the CLI in all workspaces at once. The wall time is until the
// last has ended.
func together(ctx context.Context, c Cell, places []*workspace, args ...string) (sample, error) {
	w := places[0].world
	w.prepare(c)
	samples, errs := make([]sample, len(places)), make([]error, len(places))
	var running sync.WaitGroup
	for i, place := range places {
		running.Go(func() { samples[i], errs[i] = place.run(ctx, readShared, args...) })
	}
	running.Wait()
	var all sample
	for _, s := range samples {
		all.join(s)
	}
	if err := errors.Join(errs...); err != nil {
		return all, err
	}
	var err error
	all.requests, err = w.tally()
	return all, err
}
