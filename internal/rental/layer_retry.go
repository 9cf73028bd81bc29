package rental

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// maxToldWait bounds, for a context without a deadline, all the time that one call waits because the service told it to.
const maxToldWait = 10 * time.Minute

// maxForeignRetries is how often a call is repeated after an answer that is not the service's own and not likely to change, such as a page
// of HTML with status 200 or 404: a wrong base URL must not cost minutes.
const maxForeignRetries = 2

// maxRedirects is how many hops a GET follows.
const maxRedirects = 10

// retryLayer repeats a request as its operation allows. go-retryablehttp runs the loop and rewinds bodies; what to repeat is judge's,
// when is retryRun's.
type retryLayer struct {
	http       *http.Client
	maxRetries int
	backoff    func(attempt int) time.Duration
}

func newRetryLayer(next http.RoundTripper, maxRetries int, backoff func(int) time.Duration) retryLayer {
	return retryLayer{
		http:       &http.Client{Transport: next, CheckRedirect: checkRedirect},
		maxRetries: maxRetries,
		backoff:    backoff,
	}
}

func (l retryLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	repeatable, err := retryablehttp.FromRequest(req)
	if err != nil {
		return nil, err
	}
	run := &retryRun{retryLayer: l, call: callOf(req.Context())}
	// The library's client is only a set of hooks; one per call lets the hooks be methods of the call's own state. The library must
	// not count: a 429 is no failed attempt.
	client := &retryablehttp.Client{
		HTTPClient:     l.http,
		RetryMax:       math.MaxInt,
		RequestLogHook: run.begin,
		CheckRetry:     run.check,
		Backoff:        run.wait,
		ErrorHandler:   retryablehttp.PassthroughErrorHandler,
	}
	resp, err := client.Do(repeatable)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// retryRun is the state of one call's attempts. The library uses it from one goroutine.
type retryRun struct {
	retryLayer
	call    *call
	retries int           // counted against maxRetries
	limits  int           // 429 answers
	foreign int           // answers that are neither the service's own nor likely to change
	told    time.Duration // waited so far because the service said so
	pause   time.Duration // before the next attempt
}

func (r *retryRun) begin(_ retryablehttp.Logger, _ *http.Request, attempt int) {
	r.call.attempt = attempt + 1
	r.call.maybeSent = false
}

// check decides whether there is another attempt. A false with a nil error hands over what there is: the answer, or its error.
func (r *retryRun) check(ctx context.Context, resp *http.Response, err error) (bool, error) {
	verdict := judge(r.call, resp, err)
	if verdict.lost {
		r.call.answerLost()
	}
	if verdict.doubt != unchanged && r.call.repeat != free {
		r.call.outcomeUnknown = verdict.doubt == raised
	}
	if !verdict.retry || verdict.few && r.foreign >= maxForeignRetries {
		return false, nil
	}
	if ctx.Err() != nil {
		if errors.Is(err, ctx.Err()) {
			return false, nil // err says more about where it stopped
		}
		return false, ctx.Err()
	}
	if !verdict.limited && r.retries >= r.maxRetries {
		return false, nil
	}
	pause, told := r.next(resp, verdict.limited)
	// A pause that outlasts the deadline would only turn the service's explanation into a bare time-out.
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
		return false, nil
	} else if !ok && told && r.told+pause > maxToldWait {
		return false, nil
	}
	if told {
		r.told += pause
	}
	switch {
	case verdict.limited:
		r.limits++
	case verdict.few:
		r.foreign++
		r.retries++
	default:
		r.retries++
	}
	r.pause = pause
	r.call.lastFailure = failure(resp, err)
	return true, nil
}

// next is the pause before the next attempt, and whether it is the service's doing.
func (r *retryRun) next(resp *http.Response, limited bool) (pause time.Duration, told bool) {
	if resp != nil && (resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable) {
		if wait, ok := retryAfter(resp.Header, time.Now()); ok && wait > 0 {
			return wait + jitter(wait), true
		}
	}
	if limited {
		return r.backoff(r.limits), true
	}
	return r.backoff(r.retries), false
}

func (r *retryRun) wait(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return r.pause }

// exponentialBackoff doubles from 0.5 s to 30 s; half of it is chance, so that callers that failed together do not return together.
func exponentialBackoff(attempt int) time.Duration {
	const first, last = 500 * time.Millisecond, 30 * time.Second
	pause := min(first<<min(attempt, 10), last)
	return pause/2 + rand.N(pause/2+1)
}

// jitter is up to a quarter of a wait, and 5 s at most.
func jitter(wait time.Duration) time.Duration { return rand.N(min(wait/4, 5*time.Second) + 1) }

func failure(resp *http.Response, err error) error {
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			return wrapped.Err
		}
		return err
	}
	code, _, _ := parseEnvelope(peek(resp))
	return fmt.Errorf("%d %s", resp.StatusCode, code)
}

// checkRedirect lets a GET follow redirects within its origin. Everything else gets the redirect itself as its answer: a key, an
// idempotency key or a body is for the configured service only, and a changed method is another operation.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != http.MethodGet || len(via) > maxRedirects || !sameOrigin(first.URL, req.URL) {
		return http.ErrUseLastResponse
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b) && b.User == nil
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}
