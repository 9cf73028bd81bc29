package rental

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// firstAnswerTimeout is how long a client waits for the first answer of the API, from its first request.
const firstAnswerTimeout = 10 * time.Second

// reachability records whether the API has answered a client. Only a response of the API is an answer, and a 5xx is
// none: a network error, a timeout, the page of a proxy and an API that is down are the same outage.
type reachability struct {
	baseURL string

	mu       sync.Mutex
	answered bool
	deadline time.Time // of the first answer; zero before the first request
	failure  error     // the end of the last attempt without an answer; nil for none
}

var errNoResponse = errors.New("no response")

// gaveUp returns an error if the client has given up. It is nil again if an answer arrives later, to an attempt that
// was in flight.
func (r *reachability) gaveUp() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answered || r.deadline.IsZero() || time.Now().Before(r.deadline) {
		return nil
	}
	return fmt.Errorf("no usable answer from the API at %s so far, within %s, so no more requests are sent: %w",
		r.baseURL, firstAnswerTimeout, cmp.Or(r.failure, errNoResponse))
}

func (r *reachability) hasAnswered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answered
}

// end records the end of an attempt. failure is nil after an answer.
func (r *reachability) end(failure error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = r.answered || failure == nil
	r.failure = failure
}

// limit returns a context that ends when the client gives up. The first call of it starts the time.
func (r *reachability) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answered {
		return ctx, func() {}
	}
	if r.deadline.IsZero() {
		r.deadline = time.Now().Add(firstAnswerTimeout)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(time.Until(r.deadline), func() {
		if r.gaveUp() != nil {
			cancel(errNoAnswer(firstAnswerTimeout))
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
	attempt := req
	if req.Method == http.MethodGet {
		ctx, stop := l.limit(req.Context())
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
