package lifecycle

import (
	"context"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Poller reads the instances that callers wait for: each poll serves all of them, with one listing for many and one
// request for each of a few.
type Poller struct {
	client *rental.Client

	mu      sync.Mutex
	waiting []*waiter // for the next poll
	callers int       // in await
	running bool      // run is running
	wake    chan struct{}
	pages   int                // in the last listing; one more than were read if it was cut
	cancel  context.CancelFunc // ends the poll in progress
}

// waiter is a caller that waits for a read of an instance.
type waiter struct {
	ctx    context.Context
	id     string
	due    time.Time
	result chan result // buffered for one result
	// destroyAccepted: the API has accepted the destroy request, so the instance is destroyed if the listing of active
	// instances does not contain it.
	destroyAccepted bool
	// repeats: the caller waits again after an error.
	repeats bool
}

// result is the result of a read.
type result struct {
	inst rental.Instance
	err  error
}

// check decides whether a wait is over. It receives the instance, or the error of the read.
type check func(ctx context.Context, inst rental.Instance, err error) (done bool, failure error)

// Get reads an instance now.
func (p *Poller) Get(ctx context.Context, id string) (rental.Instance, error) {
	read, err := p.await(ctx, waiter{id: id, due: time.Now()})
	if err != nil {
		return rental.Instance{}, err
	}
	return read.inst, read.err
}

// wait reads an instance after each pause until check returns true or an error. The cached instances are invalidated
// afterwards.
func (p *Poller) wait(ctx context.Context, w waiter, pause func(attempt int) time.Duration, check check) error {
	defer p.client.Invalidate("instances")
	w.repeats = true
	for attempt := 0; ; attempt++ {
		w.due = time.Now().Add(pause(attempt))
		read, err := p.await(ctx, w)
		if err != nil {
			return err
		}
		done, err := check(ctx, read.inst, read.err)
		if done || err != nil {
			return err
		}
	}
}

// await returns the result of a poll that begins after this call: when w is due, or earlier if another waiter is.
func (p *Poller) await(ctx context.Context, w waiter) (result, error) {
	w.ctx, w.result = ctx, make(chan result, 1)
	p.join(&w) //nolint:contextcheck // the poller serves several callers
	defer p.leave()
	select {
	case read := <-w.result:
		return read, ctx.Err()
	case <-ctx.Done():
		return result{}, ctx.Err()
	}
}

func (p *Poller) join(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, w)
	p.callers++
	if p.wake == nil {
		p.wake = make(chan struct{}, 1)
	}
	if !p.running {
		p.running = true
		go p.run()
		return
	}
	select {
	case p.wake <- struct{}{}: // w may be due before the others
	default:
	}
}

// leave cancels the poll in progress if no caller waits for it.
func (p *Poller) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.callers--; p.callers == 0 && p.cancel != nil {
		p.cancel()
	}
}

// run polls whenever a waiter is due, until no waiter is left.
func (p *Poller) run() {
	for {
		due, ok := p.nextDue()
		if !ok {
			return
		}
		timer := time.NewTimer(time.Until(due))
		select {
		case <-timer.C:
			p.poll()
		case <-p.wake:
			timer.Stop()
		}
	}
}

// nextDue returns when the first waiter is due; ok is false without waiters.
func (p *Poller) nextDue() (due time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removeLeft()
	for i, w := range p.waiting {
		if i == 0 || w.due.Before(due) {
			due = w.due
		}
	}
	p.running = len(p.waiting) > 0
	return due, p.running
}

func (p *Poller) removeLeft() {
	var left []*waiter
	for _, w := range p.waiting {
		if w.ctx.Err() == nil {
			left = append(left, w)
		}
	}
	p.waiting = left
}

// poll reads the instances of all waiters once.
func (p *Poller) poll() {
	p.mu.Lock()
	p.removeLeft()
	waiters := p.waiting
	p.waiting = nil
	if len(waiters) == 0 {
		p.mu.Unlock()
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(waiters[0].ctx))
	defer cancel()
	p.cancel = cancel
	useList := len(waiters) > max(p.pages, 1)
	p.mu.Unlock()
	if useList {
		waiters = p.serveFromList(ctx, waiters)
	}
	p.getEach(waiters)
}

// serveFromList serves waiters from a listing as its pages arrive, and returns the waiters whose instance it does not
// contain: a listing may lag, omits destroyed instances, and is cut where single requests are cheaper.
func (p *Poller) serveFromList(ctx context.Context, waiters []*waiter) (unserved []*waiter) {
	byID := map[string][]*waiter{}
	for _, w := range waiters {
		byID[w.id] = append(byID[w.id], w)
	}
	listed := 0
	query := rental.ListInstancesQuery{ListOptions: rental.ListOptions{MaxPages: len(waiters)}}
	var failure error
	for inst, err := range p.client.ListInstances(ctx, query) {
		if err != nil {
			failure = err
			break
		}
		listed++
		for _, w := range byID[inst.ID] {
			w.result <- result{inst: inst}
		}
		delete(byID, inst.ID)
	}
	pages := 1 + listed/rental.MaxPageSize
	if rental.IsListTooLong(failure) {
		pages = len(waiters) + 1
	}
	p.mu.Lock()
	p.pages = pages
	p.mu.Unlock()
	for _, left := range byID {
		for _, w := range left {
			switch {
			case failure != nil && !rental.IsListTooLong(failure):
				w.result <- result{err: failure}
			case failure == nil && w.destroyAccepted:
				w.result <- result{inst: rental.Instance{ID: w.id, Status: rental.StatusDestroyed}}
			default:
				unserved = append(unserved, w)
			}
		}
	}
	return unserved
}

const (
	// parallelGets is the number of parallel requests for single instances.
	parallelGets = 8
	// getTimeout limits such a read with its retries if the caller repeats it.
	getTimeout = time.Minute
	// pollTime is how long a poll waits for these reads. Slower reads continue in the background, so that they do not
	// delay the next poll.
	pollTime = 2 * time.Second
)

// getEach reads single instances, and returns when all are read or pollTime is over.
func (p *Poller) getEach(waiters []*waiter) {
	if len(waiters) == 0 {
		return
	}
	queue := make(chan *waiter, len(waiters))
	for _, w := range waiters {
		queue <- w
	}
	close(queue)
	var workers sync.WaitGroup
	for range min(len(waiters), parallelGets) {
		workers.Go(func() {
			for w := range queue {
				p.get(w)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		workers.Wait()
		close(done)
	}()
	timer := time.NewTimer(pollTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

func (p *Poller) get(w *waiter) {
	ctx := w.ctx
	if w.repeats {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, getTimeout)
		defer cancel()
	}
	inst, err := p.client.GetInstance(ctx, w.id)
	w.result <- result{inst, err}
}
