package lifecycle

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// poller reads the instances that callers wait for: one listing serves all of many callers, and each of a few sends a
// request for its own instance.
type poller struct {
	client  *rental.Client
	waiting atomic.Int32 // callers
	pages   atomic.Int32 // of the last listing; one more than were read if it was cut
	last    rental.Cached[listing]
}

// listing is what a list request returned.
type listing struct {
	began     time.Time
	instances map[string]rental.Instance
	cut       bool // there are more
}

// Get reads an instance now. Simultaneous calls share a request.
func (p *poller) Get(ctx context.Context, id string) (rental.Instance, error) {
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	inst, err := p.read(ctx, id, time.Now(), false)
	return inst, cmp.Or(ctx.Err(), err)
}

// wait reads an instance after each pause until check returns true or an error. check receives the instance, or the
// error of the read. The cached instances are invalidated afterwards. destroyAccepted: the API has accepted the
// destruction of the instance, so it is destroyed if the listing of active instances does not contain it.
func (p *poller) wait(
	ctx context.Context, id string, destroyAccepted bool, pause func(attempt int) time.Duration,
	check func(ctx context.Context, inst rental.Instance, err error) (done bool, failure error),
) error {
	defer p.client.Invalidate("instances")
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	for attempt := 0; ; attempt++ {
		since := time.Now() // an older read does not show what check has requested
		if err := backoff.Sleep(ctx, pause(attempt)); err != nil {
			return err
		}
		inst, err := p.read(ctx, id, since, destroyAccepted)
		if ended := ctx.Err(); ended != nil {
			return ended
		}
		if done, err := check(ctx, inst, err); done || err != nil {
			return err
		}
	}
}

// read returns an instance as a request that began at a time or later returned it. A listing may lag, and omits
// destroyed instances.
func (p *poller) read(
	ctx context.Context, id string, since time.Time, destroyAccepted bool,
) (rental.Instance, error) {
	list, read := p.last.Last(time.Since(since), 0)
	if !read || list.began.Before(since) {
		if p.waiting.Load() <= max(p.pages.Load(), 1) {
			return p.client.GetInstance(ctx, id)
		}
		var err error
		list, err = p.list(ctx, since)
		switch {
		case rental.IsNotFound(err): // a 404 of a list is not one of an instance
			return p.client.GetInstance(ctx, id)
		case err != nil:
			return rental.Instance{}, err
		}
	}
	if inst, found := list.instances[id]; found {
		return inst, nil
	}
	if destroyAccepted && !list.cut {
		return rental.Instance{ID: id, Status: rental.StatusDestroyed}, nil
	}
	return p.client.GetInstance(ctx, id)
}

// list returns a listing that began at a time or later.
func (p *poller) list(ctx context.Context, since time.Time) (listing, error) {
	for age := time.Since(since); ; age = 0 {
		list, err := p.last.Get(ctx, age, 0, p.load)
		if err != nil || !list.began.Before(since) {
			return list, err
		}
	}
}

// load lists the active instances, with as many pages as there are callers: then single requests are cheaper.
func (p *poller) load(ctx context.Context) (listing, error) {
	list := listing{began: time.Now(), instances: map[string]rental.Instance{}}
	callers := p.waiting.Load()
	query := rental.ListInstancesQuery{ListOptions: rental.ListOptions{MaxPages: int(callers)}}
	for inst, err := range p.client.ListInstances(ctx, query) {
		if list.cut = rental.IsListTooLong(err); list.cut {
			p.pages.Store(callers + 1)
			return list, nil
		}
		if err != nil {
			return listing{}, err
		}
		list.instances[inst.ID] = inst
	}
	p.pages.Store(int32(1 + len(list.instances)/rental.MaxPageSize)) //nolint:gosec // a few pages
	return list, nil
}
