package placement

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// lookIntervals is the time between two listings of the offers for a wait, in poll intervals: a minute by default,
	// because the API refreshes its offers about every minute.
	lookIntervals = 12
	// maxLookInterval limits it.
	maxLookInterval = time.Minute
)

// awaitOffer rents from an offer of the queries, and waits until there is one.
func (c *creation) awaitOffer(ctx context.Context) (Placed, error) {
	if !c.keys.isRandom() { // an earlier run may have rented the instance
		none := &Error{Kind: NoOffer}
		if placed, err := c.recover(ctx, none); !errors.Is(err, none) {
			return placed, err
		}
	}
	c.sent = false // that request has rented nothing
	waitCtx, cancel := context.WithTimeout(ctx, c.WaitForOffer)
	defer cancel()
	w := &waiter{creation: c, wake: make(chan struct{}, 1), tried: map[string]*offerList{}}
	c.placer.waitlist.join(w) //nolint:contextcheck // its lists are for several creations
	defer c.placer.waitlist.leave(w)
	began := time.Now()
	for {
		found, err := w.next(waitCtx)
		if err != nil {
			return Placed{}, err
		}
		if found == nil {
			none := w.none()
			none.Waited = time.Since(began)
			if ctx.Err() != nil {
				none.Kind, none.Err = Interrupted, ctx.Err()
			}
			return Placed{}, none
		}
		placed, next, err := c.tryOffer(ctx, found.offerID)
		if !next && !canWait(err) || w.refusedAgain(err) {
			return placed.from(found.query), err
		}
		c.placer.waitlist.retry(w, err)
	}
}

// canWait reports whether a creation may continue to wait after an error: nothing was rented, and only the state of
// one offer is unknown.
func canWait(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Kind == OffersUnreadable && !rental.IsDefinitive(e.Err) ||
		e.Kind == OfferRefused && e.Available == AvailabilityUnknown)
}

// refusedAgain reports whether available offers were refused in maxRefusals successive looks.
func (w *waiter) refusedAgain(err error) bool {
	if !isRefusal(err) {
		return false
	}
	if time.Since(w.refusedAt) > 2*w.placer.waitlist.lookInterval() {
		w.refusals = 0
	}
	w.refusals, w.refusedAt = w.refusals+1, time.Now()
	return w.refusals == maxRefusals
}

// waitlist serves the creations that wait for an offer, in the order in which they began to wait. All of them share one
// listing per query and look interval.
type waitlist struct {
	placer *Placer

	mu      sync.Mutex
	waiting []*waiter // in the order in which they began to wait
	running bool      // run is running
	changed chan struct{}
	cancel  context.CancelFunc // ends the listing in progress

	lists map[string]*offerList // the last one of each query, for run only
}

// waiter is a creation that waits for an offer.
type waiter struct {
	*creation
	wake      chan struct{} // receives a value when found or failure is set
	refusedAt time.Time     // when an available offer was refused

	// The mutex of the waitlist guards the following fields.

	idle        bool // it tries the offer that it received
	pausedUntil time.Time
	found       *foundOffer
	failure     error
	tried       map[string]*offerList // the list in which an offer was tried last
	numbers     Error                 // of the last look
	lastErr     error                 // about the last offer that was tried
}

// foundOffer is an offer that is reserved for a waiter.
type foundOffer struct {
	offerID string
	query   int
}

// offerList is the result of one query at one time. It is identified by its address.
type offerList struct {
	offers []rental.Offer
	err    error
	at     time.Time
}

// LookInterval is the time between two listings of the offers for a wait.
func (p *Placer) LookInterval() time.Duration { return p.waitlist.lookInterval() }

// lookInterval is the time between two listings of the same query.
func (l *waitlist) lookInterval() time.Duration {
	return min(lookIntervals*l.placer.pollInterval, maxLookInterval)
}

// afterRefusal is how long a refused offer and its waiter are left out: less than the time until the next look.
func (l *waitlist) afterRefusal() time.Duration { return l.lookInterval() / 2 }

// next returns the next offer for the waiter, nil when ctx has ended.
func (w *waiter) next(ctx context.Context) (*foundOffer, error) {
	l := &w.placer.waitlist
	select {
	case <-w.wake:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	found, failure := w.found, w.failure
	if ctx.Err() != nil {
		return nil, nil // leave releases the offer
	}
	w.found = nil
	return found, failure
}

// none returns the error of a wait in which no offer could be rented.
func (w *waiter) none() *Error {
	l := &w.placer.waitlist
	l.mu.Lock()
	defer l.mu.Unlock()
	none := w.numbers
	none.Kind = NoOffer
	if none.Last == nil {
		none.Last = w.lastErr
	}
	return &none
}

// join adds a creation, which gets an offer of the latest lists at once if there is one.
func (l *waitlist) join(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, w)
	if !l.running {
		l.running = true
		go l.run()
	}
	l.look()
}

// retry makes a waiter wait again, in its place, after its offer could not be rented. After a refusal, it gets no other
// offer of the same look.
func (l *waitlist) retry(w *waiter, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if isRefusal(err) {
		w.pausedUntil = time.Now().Add(l.afterRefusal())
	}
	w.idle, w.lastErr = false, err
	l.look()
}

// look makes run serve the waiters now. The lock is held.
func (l *waitlist) look() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// leave removes a waiter and releases an offer that it did not try.
func (l *waitlist) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(other *waiter) bool { return other == w })
	if w.found != nil {
		w.release(w.found.offerID, Available, Placed{}, nil)
		l.look() // for the next waiter
	}
	if len(l.waiting) > 0 {
		return
	}
	if l.cancel != nil {
		l.cancel()
	}
	l.look() // ends run
}

// run serves the waiters until there are none.
func (l *waitlist) run() {
	for {
		pause, ok := l.serve()
		if !ok {
			return
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-l.changed:
			timer.Stop()
		}
	}
}

// serve gives each waiter an offer if there is one for it. It returns the time until a list is out of date; ok is false
// if nothing waits.
func (l *waitlist) serve() (pause time.Duration, ok bool) {
	l.mu.Lock()
	waiting := slices.Clone(l.waiting)
	if len(waiting) == 0 {
		l.running = false
		l.mu.Unlock()
		return 0, false
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(waiting[0].requestCtx))
	defer cancel()
	l.cancel = cancel
	l.mu.Unlock()
	pause, used := l.lookInterval(), map[string]*offerList{}
	for _, w := range waiting {
		lists := make([]*offerList, len(w.Queries))
		for i, query := range w.Queries {
			lists[i] = l.list(ctx, query.OfferQuery)
			if ctx.Err() != nil { // nothing waits any more
				return 0, true
			}
			used[query.Key()] = lists[i]
			pause = min(pause, time.Until(lists[i].at.Add(l.lookInterval())))
		}
		l.give(w, lists)
	}
	l.lists = used
	return pause, true
}

// list returns the offers of a query as they were at the last look, or reads them if that is due.
func (l *waitlist) list(ctx context.Context, query rental.OfferQuery) *offerList {
	key := query.Key()
	if list := l.lists[key]; list != nil && time.Since(list.at) < l.lookInterval() {
		return list
	}
	read, limit := l.placer.cache.FreshOffers, maxCandidates
	if l.lists[key] == nil { // the plan has just read the first ones
		read, limit = l.placer.cache.Offers, firstCandidates
	}
	list := &offerList{at: time.Now()}
	if list.offers, list.err = read(ctx, query, limit); ctx.Err() == nil {
		l.lists[key] = list
	}
	return list
}

// give reserves the first offer of the lists, in order of preference, that the waiter can try.
func (l *waitlist) give(w *waiter, lists []*offerList) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.idle || time.Now().Before(w.pausedUntil) || !slices.Contains(l.waiting, w) {
		return
	}
	w.numbers = Error{}
	for i, list := range lists {
		if list.err != nil {
			w.numbers.Last = &Error{Kind: OffersUnreadable, Err: list.err}
			if rental.IsDefinitive(list.err) {
				w.failure = &Error{Kind: OffersUnreadable, Err: list.err}
				w.signal()
				return
			}
			continue
		}
		numbers := Error{Listed: true, Matching: len(list.offers)}
		for _, offer := range l.placer.failed.last(list.offers) {
			switch {
			case w.tried[offer.ID] == list:
				numbers.Tried++
			case numbers.Tried >= w.Queries[i].MaxAttempts:
			case !w.reserve(offer.ID):
				numbers.Reserved++
			default:
				w.tried[offer.ID] = list
				w.found, w.idle = &foundOffer{offer.ID, i}, true
				w.signal()
				return
			}
		}
		w.numbers.add(numbers)
	}
}

func (w *waiter) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
