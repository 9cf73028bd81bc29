package instance

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// watcher looks at all servers of a run that somebody waits for, with as few
// requests as that takes: one listing answers everybody, and who waits alone
// asks for the one server. Its zero value is ready.
type watcher struct {
	mu      sync.Mutex
	waiting []*glanceAt
	looking bool // a round is under way or due; it looks after who came meanwhile
	pages   int  // of the last listing; an estimate where it was not read to its end
	wake    chan struct{}
	last    map[string]rental.Instance // of the last listing
	listed  time.Time                  // when that began
	firsts  int                        // first looks since then that found no listing
	first   time.Time                  // when the last of them began
	tempo   float64                    // by which pauses are multiplied until the next look; 0 until drawn
	over    atomic.Uint64              // waits that have ended
}

// glanceAt is one who waits for the next look at a server.
type glanceAt struct {
	ctx   context.Context
	id    string
	due   time.Time
	found chan sighted // takes one
	// endAwaited: its destruction was accepted, so that its absence from the
	// active servers is proof enough.
	endAwaited bool
	// repeated: another look follows if this one fails.
	repeated bool
	// crowded: others have just looked alone, one after the other.
	crowded bool
}

// look asks for the one server, for as long as it is waited for. A repeated look is given
// up when its retries take too long: the next round asks again.
func (g *glanceAt) look(client *rental.Client) {
	ctx := g.ctx
	if g.repeated {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, maxLook)
		defer cancel()
	}
	inst, err := client.GetInstance(ctx, g.id)
	g.found <- sighted{inst, err}
}

// sighted is what a look came to.
type sighted struct {
	inst rental.Instance
	err  error
}

// wait is what somebody waits for.
type wait struct {
	id      string
	backoff poll.Backoff
	// endAwaited: the server's destruction was accepted.
	endAwaited bool
	// habit is how long it took for others like it; nil when that says nothing.
	habit *habit
	// check is told the server, or why it could not be looked at.
	check func(context.Context, rental.Instance, error) (done bool, err error)
}

// until looks at a server, first after a pause, until check is done or fails.
// When ctx ends, its error is returned at once.
func (w *watcher) until(ctx context.Context, client *rental.Client, what wait) error {
	defer w.over.Add(1)
	began := time.Now()
	for attempt := 0; ; attempt++ {
		asked := time.Now()
		due := asked.Add(w.vary(what.backoff(attempt)))
		if usual := began.Add(what.habit.usual()); usual.After(due) {
			due = usual
		}
		seen, err := w.next(ctx, client, &glanceAt{
			ctx: ctx, id: what.id, due: due, found: make(chan sighted, 1), endAwaited: what.endAwaited, repeated: true,
		})
		if err != nil {
			return err
		}
		done, err := what.check(ctx, seen.inst, seen.err)
		if late := time.Since(due); done && err == nil && late >= 0 && late < due.Sub(asked)/2 {
			// A look on behalf of others, or one that had to wait itself, says less.
			what.habit.learn(time.Since(began))
		}
		if done || err != nil {
			return err
		}
	}
}

// vary makes a pause a little longer or shorter, so that processes started together
// do not look together; all waits of this process alike, so that they do.
func (w *watcher) vary(pause time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tempo == 0 {
		w.tempo = 0.9 + 0.2*rand.Float64()
	}
	return time.Duration(float64(pause) * w.tempo)
}

// recently is how old a listing may be from which a server is taken that this run has
// not touched yet.
const recently = 10 * time.Second

// now looks at a server before anything is done to it: in the listing that others
// have just read, or else at once, together with everybody else who wants to.
func (w *watcher) now(ctx context.Context, client *rental.Client, id string, maxAge time.Duration) (rental.Instance, error) {
	w.mu.Lock()
	inst, there := w.last[id]
	there = there && time.Since(w.listed) < maxAge
	crowded := w.crowded(!there)
	w.mu.Unlock()
	if there {
		return inst, nil
	}
	return w.atOnce(ctx, client, id, crowded)
}

// afresh looks at a server that this run may have touched already.
func (w *watcher) afresh(ctx context.Context, client *rental.Client, id string) (rental.Instance, error) {
	return w.atOnce(ctx, client, id, false)
}

func (w *watcher) atOnce(ctx context.Context, client *rental.Client, id string, crowded bool) (rental.Instance, error) {
	seen, err := w.next(ctx, client, &glanceAt{ctx: ctx, id: id, due: time.Now(), found: make(chan sighted, 1), crowded: crowded})
	if err != nil {
		return rental.Instance{}, err
	}
	return seen.inst, seen.err
}

// crowded notes a first look, and says whether so many were made that a listing is
// cheaper: a CLI comes with one after the other.
func (w *watcher) crowded(look bool) bool {
	if time.Since(w.first) > recently {
		w.firsts = 0
	}
	if look {
		w.firsts++
		w.first = time.Now()
	}
	return w.firsts > max(w.pages, 1)
}

// next waits for a look that begins after this call: at due, or earlier when
// somebody else is due and everybody is looked at.
func (w *watcher) next(ctx context.Context, client *rental.Client, waiter *glanceAt) (sighted, error) {
	own := tfkit.Lasting(ctx) // the rounds go on for the others
	w.mu.Lock()
	w.waiting = append(w.waiting, waiter)
	if w.wake == nil {
		w.wake = make(chan struct{}, 1)
	}
	if !w.looking {
		w.looking = true
		go w.rounds(own, client)
	} else {
		select {
		case w.wake <- struct{}{}: // the new one may be due before the others
		default:
		}
	}
	w.mu.Unlock()
	select {
	case seen := <-waiter.found:
		return seen, ctx.Err()
	case <-ctx.Done():
		return sighted{}, ctx.Err()
	}
}

// rounds looks whenever somebody is due, as long as anybody waits.
func (w *watcher) rounds(ctx context.Context, client *rental.Client) {
	for {
		due, ok := w.firstDue()
		if !ok {
			return
		}
		if wait := time.Until(due); wait > 0 {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-w.wake:
				timer.Stop()
				continue
			}
		}
		w.round(ctx, client)
	}
}

// firstDue forgets who has left, and ends the rounds when nobody is there.
func (w *watcher) firstDue() (due time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget()
	for i, waiter := range w.waiting {
		if i == 0 || waiter.due.Before(due) {
			due = waiter.due
		}
	}
	w.looking = len(w.waiting) > 0
	return due, w.looking
}

func (w *watcher) forget() {
	there := w.waiting[:0]
	for _, waiter := range w.waiting {
		if waiter.ctx.Err() == nil {
			there = append(there, waiter)
		}
	}
	clear(w.waiting[len(there):])
	w.waiting = there
}

const (
	// maxLooks is how many servers are looked up by id at the same time.
	maxLooks = 8
	// maxLook is how long a repeated one may take, with all its retries.
	maxLook = time.Minute
	// roundTime is how long a round waits for its look-ups, so that servers which come
	// meanwhile share the next one. Slower ones go on beside it.
	roundTime = 2 * time.Second
)

// round looks once, for everybody who waits when it begins.
func (w *watcher) round(ctx context.Context, client *rental.Client) {
	w.mu.Lock()
	w.forget()
	now := w.waiting
	w.waiting, w.tempo = nil, 0
	many := len(now) > max(w.pages, 1) || slices.ContainsFunc(now, func(g *glanceAt) bool { return g.crowded })
	w.mu.Unlock()
	if many {
		now = w.deliverListed(ctx, client, now)
	}
	w.lookUp(client, now) //nolint:contextcheck // each look has the context of its waiter
}

// deliverListed gives everybody the server from a listing, as soon as its page is there. It
// returns those whose server is not in it: a listing may lag, leaves out what is destroyed, and ends where single looks take
// fewer requests.
func (w *watcher) deliverListed(ctx context.Context, client *rental.Client, now []*glanceAt) (missing []*glanceAt) {
	ctx, cancel := unionContext(ctx, now)
	defer cancel()
	waiting := map[string][]*glanceAt{}
	for _, waiter := range now {
		waiting[waiter.id] = append(waiting[waiter.id], waiter)
	}
	err := w.list(ctx, client, len(now), func(inst rental.Instance) {
		for _, waiter := range waiting[inst.ID] {
			waiter.found <- sighted{inst: inst}
		}
		delete(waiting, inst.ID)
	})
	for _, waiter := range now {
		_, waits := waiting[waiter.id]
		switch {
		case !waits:
		case rental.IsListTooLong(err):
			missing = append(missing, waiter)
		case err != nil:
			waiter.found <- sighted{err: err}
		case waiter.endAwaited:
			waiter.found <- sighted{inst: rental.Instance{ID: waiter.id, Status: rental.StatusDestroyed}}
		default:
			missing = append(missing, waiter)
		}
	}
	return missing
}

// lookUp looks servers up by id, some at a time, and returns when all are delivered or
// roundTime is over.
func (w *watcher) lookUp(client *rental.Client, now []*glanceAt) {
	if len(now) == 0 {
		return
	}
	due := make(chan *glanceAt, len(now))
	for _, waiter := range now {
		due <- waiter
	}
	close(due)
	var all sync.WaitGroup
	for range min(len(now), maxLooks) {
		all.Go(func() {
			for waiter := range due {
				waiter.look(client)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	timer := time.NewTimer(roundTime)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// maybeMore is how many times as many pages a listing may have that was not read to its end.
const maybeMore = 4

// list reads the active servers, and hands over each one at once. With an error rental.IsListTooLong, reading on takes more
// requests than reading each of the waiting servers alone.
func (w *watcher) list(ctx context.Context, client *rental.Client, waiting int, deliver func(rental.Instance)) error {
	active, began := map[string]rental.Instance{}, time.Now()
	w.mu.Lock()
	most := max(waiting, w.pages, tfkit.FirstReach)
	w.mu.Unlock()
	var failed error
	for inst, err := range client.ListInstances(ctx, rental.ListInstancesQuery{ListOptions: rental.ListOptions{MaxPages: most}}) {
		if err != nil {
			failed = err
			break
		}
		active[inst.ID] = inst
		deliver(inst)
	}
	pages := 1 + len(active)/rental.MaxPageSize
	switch {
	case rental.IsListTooLong(failed):
		pages = maybeMore * most
	case failed != nil:
		return failed
	}
	w.mu.Lock()
	w.pages, w.last, w.listed = pages, active, began
	w.mu.Unlock()
	return failed
}

// unionContext ends when none of them waits any more.
func unionContext(parent context.Context, waiters []*glanceAt) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	var left atomic.Int64
	left.Store(int64(len(waiters)))
	stops := make([]func() bool, len(waiters))
	for i, waiter := range waiters {
		stops[i] = context.AfterFunc(waiter.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
