package rental

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// firstAnswerTimeout is how long a client waits for the first answer of the API. It begins with an attempt, and again
	// with the first one after as long a time without any.
	firstAnswerTimeout = 10 * time.Second

	// leastTime is what an attempt has at least, and so does its wait for the rate limit, also at the end of
	// firstAnswerTimeout.
	leastTime = 2 * time.Second
)

// reachability records whether the API has answered a client. Only a response of the API is an answer, and a 5xx is
// none: a network error, a timeout, the page of a proxy and an API that is down are the same outage. The client gives
// up when an attempt or a pause ends without an answer after firstAnswerTimeout.
type reachability struct {
	baseURL string

	mu       sync.Mutex
	answered bool
	lost     bool      // the client has given up
	active   time.Time // when an attempt began or ended last; zero before the first one
	deadline time.Time // of the first answer
	failure  error     // the end of the last attempt without an answer; nil for none
}

var errNoResponse = errors.New("no response")

// gaveUp returns an error if the client has given up. It is nil again if an answer arrives later, to an attempt that
// was in flight.
func (r *reachability) gaveUp() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answered || !r.lost {
		return nil
	}
	failure := r.failure
	if failure == nil {
		failure = errNoResponse
	}
	return fmt.Errorf("no usable answer from the API at %s so far, within %s, so no more requests are sent: %w",
		r.baseURL, firstAnswerTimeout, failure)
}

func (r *reachability) hasAnswered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answered
}

// begin records the begin of an attempt.
func (r *reachability) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.renew()
	r.active = time.Now()
}

// renew starts the timeout with the first attempt, and after a time without any. The caller holds the lock.
func (r *reachability) renew() {
	if now := time.Now(); !r.lost && now.Sub(r.active) >= firstAnswerTimeout {
		r.active, r.deadline = now, now.Add(firstAnswerTimeout)
	}
}

// end records the end of an attempt. failure is nil after an answer.
func (r *reachability) end(failure error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active = time.Now()
	r.answered = r.answered || failure == nil
	r.failure = failure
	r.lost = r.lost || !r.active.Before(r.deadline)
}

// limit returns a context that ends when the client gives up, but not before the least time has passed.
func (r *reachability) limit(ctx context.Context, least time.Duration) (context.Context, context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answered || r.active.IsZero() {
		return ctx, func() {}
	}
	r.renew()
	left := max(time.Until(r.deadline), least)
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(left, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.lost = true; !r.answered {
			cancel(errNoAnswer(left.Round(time.Second / 10)))
		}
	})
	return ctx, func() { timer.Stop(); cancel(nil) }
}

// reachabilityLayer records answers, and ends a GET when the client gives up. It does not end a write: the API could
// have performed it, and a lost response can leave a server that is billed.
type reachabilityLayer struct {
	next http.RoundTripper
	*reachability
}

func (l reachabilityLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := l.gaveUp(); err != nil {
		return nil, err // while the request waited for the rate limit
	}
	l.begin()
	attempt := req
	if req.Method == http.MethodGet {
		ctx, stop := l.limit(req.Context(), leastTime)
		defer stop()
		attempt = req.WithContext(ctx)
	}
	resp, err := l.next.RoundTrip(attempt)
	switch call := callFrom(req.Context()); {
	case call.isAnswer(resp):
		l.end(nil)
	case err == nil || req.Context().Err() == nil: // an interrupted attempt shows nothing
		l.end(maskedError{failure(resp, err), call.mask})
	}
	return resp, err
}
