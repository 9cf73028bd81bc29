package rental

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// initialRequests may be sent before the first response reports the rate limit, and one more in each second. It is
	// the default parallelism of the CLI.
	initialRequests = 10

	// spacedShare is the divisor of the limit for the last requests before a reset, which are sent at the rate of the
	// limit. So a process that sends as much as it may leaves some to the others.
	spacedShare = 10

	// maxPause limits how long one response pauses all requests, because the API counts requests per minute. The request
	// that received a longer Retry-After waits longer.
	maxPause = time.Minute

	// minEpoch is the smallest X-RateLimit-Reset that is a time since 1970 and not the seconds until the reset.
	minEpoch = 100_000_000
)

// limiter delays requests until a rate limit allows them, in the order of their arrival. Other processes can use the
// same rate limit, so what the API reports counts: a bucket holds the requests that it has left, and refills at the
// rate of the limit. No request is sent after a 429 until Retry-After, or after a response without remaining requests
// until the reset; then one request shows whether there are some again.
type limiter struct {
	first   chan struct{} // held by the request that is the next one
	changed chan struct{} // wakes it after a response

	mu          sync.Mutex
	perMinute   int
	bucket      *rate.Limiter
	observed    time.Time // when the last response reported the limit, or was a 429
	pausedUntil time.Time // zero after the pause
	inFlight    int
}

func newLimiter(perMinute int) *limiter {
	return &limiter{
		first: make(chan struct{}, 1), changed: make(chan struct{}, 1),
		perMinute: perMinute, bucket: rate.NewLimiter(1, initialRequests),
	}
}

// wait blocks until the request may be sent or ctx ends.
func (l *limiter) wait(ctx context.Context) error {
	select {
	case l.first <- struct{}{}:
		defer func() { <-l.first }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for {
		pause := l.take(time.Now())
		if pause == 0 {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-l.changed:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// take counts a request that may be sent now, or returns how long to wait before the next try.
func (l *limiter) take(now time.Time) (pause time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.pausedUntil) {
		return l.pausedUntil.Sub(now)
	}
	if !l.pausedUntil.IsZero() {
		l.pausedUntil = time.Time{}
		l.fill(now, 1)
	}
	reservation := l.bucket.ReserveN(now, 1)
	if pause = reservation.DelayFrom(now); pause > 0 {
		reservation.CancelAt(now)
		return pause
	}
	l.inFlight++
	return 0
}

// skip counts a request that is sent without waiting.
func (l *limiter) skip() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bucket.Allow()
	l.inFlight++
}

// fill sets how many requests the bucket holds.
func (l *limiter) fill(now time.Time, requests int) {
	l.bucket = rate.NewLimiter(rate.Limit(l.perMinute)/60, l.perMinute)
	l.bucket.AllowN(now, l.perMinute-requests)
}

// done updates the limiter after a request. resp is nil if there was no response.
func (l *limiter) done(sent, now time.Time, resp *http.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
	if resp == nil || isCached(resp.Header) { // the headers belong to an earlier response
		return
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		if wait, ok := retryAfter(resp.Header, now); ok {
			l.observed = now
			l.pause(now, wait)
		}
	} else {
		l.observe(sent, now, resp.Header)
	}
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// observe updates the bucket from the rate-limit headers of a response. An API without them only limits requests by
// 429.
func (l *limiter) observe(sent, now time.Time, header http.Header) {
	limit, remaining, reset, ok := parseRateHeaders(header, now)
	if !ok {
		if l.observed.IsZero() {
			l.bucket.SetLimitAt(now, rate.Inf)
		}
		return
	}
	free := max(remaining-l.inFlight-limit/spacedShare, 0)
	// Responses can arrive in another order than the API counted the requests. So a response to a request that was in
	// flight at the last response can only show that fewer requests are left.
	tokens := l.bucket.TokensAt(now)
	if l.observed.IsZero() || float64(free) < tokens-1 || float64(free) > tokens && sent.After(l.observed) {
		l.perMinute = limit
		l.fill(now, free)
	}
	l.observed = now
	if remaining == 0 {
		l.pause(now, reset)
	}
}

// pause stops all requests for a time.
func (l *limiter) pause(now time.Time, wait time.Duration) {
	wait = min(max(wait, time.Second), maxPause) // in whole seconds, which may be rounded down
	if until := now.Add(wait); until.After(l.pausedUntil) {
		l.pausedUntil = until
	}
}

// isCached reports whether a response comes from a cache between the API and the client.
func isCached(header http.Header) bool { return header.Get("Age") != "" }

// parseRateHeaders parses the X-RateLimit headers of a response. The reset is the seconds until it, or the time since
// 1970.
func parseRateHeaders(header http.Header, now time.Time) (limit, remaining int, reset time.Duration, ok bool) {
	limit, limitErr := strconv.Atoi(header.Get("X-RateLimit-Limit"))
	remaining, remainingErr := strconv.Atoi(header.Get("X-RateLimit-Remaining"))
	seconds, resetErr := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64)
	if limitErr != nil || remainingErr != nil || resetErr != nil ||
		limit < 1 || remaining < 0 || remaining > limit || seconds < 0 {
		return 0, 0, 0, false
	}
	if seconds >= minEpoch {
		if date, err := http.ParseTime(header.Get("Date")); err == nil {
			now = date // the local clock may be wrong
		}
		seconds = max(seconds-now.Unix(), 0)
	}
	return limit, remaining, time.Duration(min(seconds, int64(maxPause/time.Second))) * time.Second, true
}
