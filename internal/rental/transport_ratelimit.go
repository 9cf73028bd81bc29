package rental

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Budgets are the rate limits that the clients of a process share: one for each API key and base URL, and one for all
// requests without a key. The zero value is ready for use.
type Budgets struct{ limiters sync.Map }

// limiterKey identifies a rate limit. The API key is empty for requests without one.
type limiterKey struct{ baseURL, apiKey string }

func (b *Budgets) limiter(key limiterKey) *limiter {
	found, _ := b.limiters.LoadOrStore(key, &limiter{})
	return found.(*limiter)
}

type urgentKey struct{}

// Urgent returns a context whose requests do not wait for the rate limit. It is for requests that cannot be sent later,
// because the process is about to end: a CLI allows two seconds for that. See Client.Reserve.
func Urgent(ctx context.Context) context.Context { return context.WithValue(ctx, urgentKey{}, true) }

// Reserve holds back one request of the API key's rate limit for a later Urgent one. Call release once. Other processes
// do not respect the reservation.
func (c *Client) Reserve() (release func()) {
	c.limiter.reserve(1)
	return func() { c.limiter.reserve(-1) }
}

// rateLimitLayer delays requests as the rate limit requires. The API counts requests with and without a key separately.
type rateLimitLayer struct {
	next                http.RoundTripper
	withKey, withoutKey *limiter
	log                 func(ctx context.Context, message string, fields map[string]any) // nil: no log
	reach               *reachability
}

// logWaitAfter is how long a request waits for the rate limit before the log mentions it.
const logWaitAfter = 2 * time.Second

func (l *rateLimitLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	limiter := l.withoutKey
	if req.Header.Get("Authorization") != "" {
		limiter = l.withKey
	}
	if err := l.wait(limiter, req); err != nil {
		return nil, err
	}
	sent := time.Now()
	resp, err := l.next.RoundTrip(req)
	limiter.done(sent, resp)
	return resp, err
}

func (l *rateLimitLayer) wait(limiter *limiter, req *http.Request) error {
	ctx := req.Context()
	if ctx.Value(urgentKey{}) != nil {
		limiter.skipQueue()
		return nil
	}
	if l.log != nil {
		timer := time.AfterFunc(logWaitAfter, func() {
			l.log(ctx, "Waiting for the request limit", map[string]any{"method": req.Method, "keyed": limiter == l.withKey})
		})
		defer timer.Stop()
	}
	limited, stop := l.reach.limit(ctx)
	defer stop()
	return limiter.wait(limited, req.Method != http.MethodGet)
}

// limiter queues the requests of one rate limit. Writes go before reads: users wait for writes, and most reads only
// check their progress. The zero value is ready for use.
type limiter struct {
	mu            sync.Mutex
	estimate      rateEstimate
	writes, reads queue
	timer         *time.Timer // admits the next request
}

// waiter is a request in the queue.
type waiter struct {
	since    time.Time
	admitted chan struct{} // closed when the request may be sent
}

// queue is in the order of arrival.
type queue []*waiter

// remove reports whether the waiter was in the queue.
func (q *queue) remove(w *waiter) bool {
	at := slices.Index(*q, w)
	if at < 0 {
		return false
	}
	*q = slices.Delete(*q, at, at+1)
	return true
}

// wait blocks until the request may be sent or ctx ends.
func (l *limiter) wait(ctx context.Context, write bool) error {
	own := &waiter{since: time.Now(), admitted: make(chan struct{})}
	q := &l.reads
	if write {
		q = &l.writes
	}
	l.mu.Lock()
	*q = append(*q, own)
	l.admit()
	l.mu.Unlock()
	select {
	case <-own.admitted:
		return nil
	case <-ctx.Done():
		l.cancel(q, own)
		return fmt.Errorf("while waiting for the request limit: %w", context.Cause(ctx))
	}
}

// cancel removes a waiter, or takes back its admission.
func (l *limiter) cancel(q *queue, own *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !q.remove(own) {
		l.estimate.undoSend()
	}
	l.admit()
}

// skipQueue counts a request that is sent without waiting.
func (l *limiter) skipQueue() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.estimate.onSend(time.Now())
}

// done updates the estimate after a request. resp is nil if there was no response.
func (l *limiter) done(sent time.Time, resp *http.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if resp == nil {
		l.estimate.onError()
	} else {
		l.estimate.onResponse(sent, time.Now(), resp)
	}
	l.admit()
}

// reserve changes the number of reserved requests.
func (l *limiter) reserve(change int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.estimate.reserved += change
	l.admit()
}

// maxReadDelay is how long writes go before a read. It is longer than a used-up rate limit takes to recover.
const maxReadDelay = 3 * time.Minute

// admit admits all requests that may be sent now, and starts the timer for the next one.
func (l *limiter) admit() {
	for {
		now := time.Now()
		q := &l.writes
		if len(l.reads) > 0 && (len(l.writes) == 0 || now.Sub(l.reads[0].since) > maxReadDelay) {
			q = &l.reads
		}
		if len(*q) == 0 {
			return
		}
		if wait := l.estimate.next(now).Sub(now); wait > 0 {
			l.admitAfter(wait)
			return
		}
		first := (*q)[0]
		q.remove(first)
		l.estimate.onSend(now)
		close(first.admitted)
	}
}

// admitAfter calls admit after a wait. Jitter separates processes that wait for the same moment.
func (l *limiter) admitAfter(wait time.Duration) {
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = time.AfterFunc(wait+jitter(wait/16), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.admit()
	})
}
