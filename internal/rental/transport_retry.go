package rental

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
)

// maxRequestedWait limits the total time that one call waits at the API's request (Retry-After or 429) when its
// context has no deadline.
const maxRequestedWait = 10 * time.Minute

// maxForeignRetries limits retries of a response that does not come from the API and is not likely to change, such as
// an HTML page with status 200 or 404. A wrong base URL must not cost minutes.
const maxForeignRetries = 2

// retryLayer repeats a request as classify allows.
type retryLayer struct {
	next       http.RoundTripper
	maxRetries int
	backoff    backoff.Exponential
	reach      *reachability
}

func (l retryLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	call := callFrom(ctx)
	var counts retryCounts
	for {
		if err := l.reach.gaveUp(); err != nil {
			return nil, err
		}
		call.maybeSent = false
		resp, err := l.next.RoundTrip(req)
		outcome := classify(call, resp, err)
		call.record(outcome)
		if call.client.single || !l.mayRetry(outcome, counts) {
			return resp, err
		}
		if err != nil && ctx.Err() != nil {
			return nil, err // the error of ctx, from the layer that it interrupted
		}
		pause, requested := l.pause(outcome, resp, counts)
		if !counts.allow(ctx, pause, requested) {
			return resp, err // it explains more than the timeout that the pause would end with
		}
		counts.add(outcome, pause, requested)
		call.lastFailure = failure(resp, err)
		if err = l.sleep(ctx, pause); err != nil {
			return nil, err
		}
		req = rewind(req)
	}
}

// sleep pauses, at most until the client gives up. It returns the error of ctx.
func (l retryLayer) sleep(ctx context.Context, pause time.Duration) error {
	limited, stop := l.reach.limit(ctx)
	defer stop()
	_ = backoff.Sleep(limited, pause) //nolint:errcheck // the error of ctx is returned
	return ctx.Err()
}

// retryCounts counts what limits the retries of one call.
type retryCounts struct {
	failures    int           // attempts that count against maxRetries
	foreign     int           // of these, foreign responses that are not likely to change
	rateLimited int           // 429 responses of the API
	waited      time.Duration // sum of the pauses that the API requested
}

func (l retryLayer) mayRetry(o outcome, counts retryCounts) bool {
	switch {
	case !o.retry || o.foreign && counts.foreign >= maxForeignRetries:
		return false
	case o.rateLimited:
		return true
	}
	return counts.failures < l.maxRetries
}

// pause returns the pause before the next attempt, and whether the API requested it.
func (l retryLayer) pause(o outcome, resp *http.Response, counts retryCounts) (pause time.Duration, requested bool) {
	if resp != nil && (resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable) {
		if wait, ok := retryAfter(resp.Header, time.Now()); ok && wait > 0 {
			return wait + jitter(wait), true
		}
	}
	if o.rateLimited {
		return l.backoff.Pause(counts.rateLimited), true
	}
	return l.backoff.Pause(counts.failures), false
}

// allow reports whether the pause ends before the deadline of ctx and, without a deadline, within maxRequestedWait.
func (c *retryCounts) allow(ctx context.Context, pause time.Duration, requested bool) bool {
	if deadline, ok := ctx.Deadline(); ok {
		return pause <= time.Until(deadline)
	}
	return !requested || c.waited+pause <= maxRequestedWait
}

func (c *retryCounts) add(o outcome, pause time.Duration, requested bool) {
	if requested {
		c.waited += pause
	}
	if o.rateLimited {
		c.rateLimited++
		return
	}
	c.failures++
	if o.foreign {
		c.foreign++
	}
}

// rewind returns the request with its body at the beginning.
func rewind(req *http.Request) *http.Request {
	next := req.WithContext(req.Context())
	if req.GetBody != nil {
		next.Body, _ = req.GetBody() //nolint:errcheck // a body in memory has no errors
	}
	return next
}

// jitter returns up to a quarter of a wait, and at most 5 s.
func jitter(wait time.Duration) time.Duration { return rand.N(min(wait/4, 5*time.Second) + 1) }

// failure describes the end of an attempt in a few words.
func failure(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	if isAPIError(resp) {
		text := fmt.Sprintf("%d %s", resp.StatusCode, parseErrorBody(bodyOf(resp).data).Code)
		if id := resp.Header.Get("X-Request-Id"); id != "" {
			text += fmt.Sprintf(" (request id %.*s)", maxRequestID, id)
		}
		return errors.New(text)
	}
	return fmt.Errorf("%d %s, not from the API", resp.StatusCode, http.StatusText(resp.StatusCode))
}
