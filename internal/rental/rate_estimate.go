package rental

import (
	"net/http"
	"strconv"
	"time"
)

const (
	// initialInFlight limits the requests in flight before the first response reports the rate limit. It is the default
	// parallelism of the CLI.
	initialInFlight = 10

	// inFlightShare is the divisor of the remaining requests that limits the requests in flight. Several processes share
	// the rate limit and see only the remaining requests, so the bursts of several must fit.
	inFlightShare = 4

	// probeInterval is the pause between two requests when no more may be in flight, so that one response that hangs does
	// not block all requests.
	probeInterval = time.Second

	// maxBlock limits how long one response blocks all requests, because the API counts requests per minute. The request
	// that received a longer Retry-After waits longer.
	maxBlock = time.Minute

	// rounding is the error of a time in whole seconds, in both directions.
	rounding = time.Second

	// minEpoch is the smallest X-RateLimit-Reset that is a time since 1970 and not the seconds until the reset.
	minEpoch = 100_000_000
)

// rateEstimate estimates the state of one rate limit from the headers of responses, because other processes can send
// requests with the same key. Its zero value has no data and allows a few requests, whose responses provide it.
//
// It supports two kinds of rate limits and detects which one it is. A fixed window is reset at one moment. A token
// bucket is refilled steadily: the reported moment of the reset moves before it has come.
type rateEstimate struct {
	known     bool // a response or a 429 has set the fields below
	unlimited bool // responses have no rate-limit headers: only a 429 blocks

	limit     int
	remaining int           // at the time observed, minus the requests in flight then and those sent since
	observed  time.Time     // time of the response that set remaining
	reset     interval      // when all requests are available again
	refill    time.Duration // time in which a token bucket gains one request; 0 for a fixed window

	reserved int // requests held back for urgent ones; see Client.Reserve

	blockedUntil time.Time
	inFlight     int
	lastSent     time.Time
}

// interval contains a moment that is only known in whole seconds.
type interval struct{ from, to time.Time }

func (i interval) overlaps(other interval) bool {
	return !i.to.Before(other.from) && !other.to.Before(i.from)
}

func (i interval) intersect(other interval) interval {
	return interval{from: later(i.from, other.from), to: earlier(i.to, other.to)}
}

// next returns the first moment at which one more request may be sent if no response arrives before.
func (r *rateEstimate) next(now time.Time) time.Time {
	if now.Before(r.blockedUntil) {
		return r.blockedUntil
	}
	maxInFlight := initialInFlight
	switch available := r.available(now) - r.heldBack(); {
	case r.unlimited:
		return now
	case r.known && available >= 1:
		maxInFlight = max(available/inFlightShare, 1)
	case r.known && r.refill > 0:
		return now.Add(r.untilRefilled(now))
	case r.known && now.Before(r.reset.to):
		return r.reset.to
	case r.known:
		maxInFlight = 1 // the limit should be reset: one request finds out
	}
	if r.inFlight < maxInFlight {
		return now
	}
	return later(now, r.lastSent.Add(probeInterval))
}

// available returns how many requests can be sent now.
func (r *rateEstimate) available(now time.Time) int {
	if r.refill <= 0 {
		return r.remaining
	}
	return min(r.remaining+int(now.Sub(r.observed)/r.refill), r.limit)
}

// heldBack returns how many requests are reserved, and at most half of the limit, so that others are still sent.
func (r *rateEstimate) heldBack() int { return min(r.reserved, r.limit/2) }

// untilRefilled returns the time until a token bucket has one request that is not reserved.
func (r *rateEstimate) untilRefilled(now time.Time) time.Duration {
	return time.Duration(1+r.heldBack()-r.remaining)*r.refill - now.Sub(r.observed)
}

// onSend counts a request that is being sent.
func (r *rateEstimate) onSend(now time.Time) {
	r.inFlight++
	r.remaining--
	r.lastSent = now
}

// undoSend takes back a request that was not sent.
func (r *rateEstimate) undoSend() {
	r.inFlight--
	r.remaining++
}

// onError counts a request without a response. The next response shows whether the API has counted it.
func (r *rateEstimate) onError() { r.inFlight-- }

// onResponse updates the estimate from the response to a request.
func (r *rateEstimate) onResponse(sent, now time.Time, resp *http.Response) {
	r.inFlight--
	if resp.StatusCode == http.StatusTooManyRequests {
		r.onRefusal(now, resp.Header)
		return
	}
	if isCached(resp.Header) {
		return // the headers belong to an earlier response
	}
	limit, remaining, reset, ok := parseRateHeaders(resp.Header, sent, now)
	if !ok {
		r.unlimited = r.unlimited || !r.known
		return
	}
	r.unlimited = false
	nextPeriod := r.known && reset.from.After(r.reset.to)
	if nextPeriod && now.Before(r.reset.from) {
		r.refill = time.Minute / time.Duration(limit) // the reset has moved, so this is a token bucket
	}
	if concurrent := !sent.After(r.observed); r.known && concurrent && !nextPeriod {
		// Responses can arrive in another order than the API counted the requests. Until the reset the remaining
		// requests only decrease. This request was in flight at the last response, which deducted it.
		remaining = min(remaining, r.available(now)+r.inFlight+1)
	}
	if r.known && r.refill == 0 && reset.overlaps(r.reset) && sent.Before(r.reset.to) {
		reset = reset.intersect(r.reset)
	}
	r.known, r.limit, r.remaining, r.observed, r.reset = true, limit, remaining-r.inFlight, now, reset
}

// onRefusal updates the estimate from a 429, which replaces everything known before.
func (r *rateEstimate) onRefusal(now time.Time, header http.Header) {
	wait, ok := retryAfter(header, now)
	if !ok {
		return // the refused request waits, and the next response may contain more
	}
	r.blockedUntil = later(r.blockedUntil, now.Add(min(wait, maxBlock)))
	r.known, r.unlimited, r.refill, r.remaining, r.observed = true, false, 0, -r.inFlight, now
	r.reset = interval{from: r.blockedUntil, to: r.blockedUntil}
}

// isCached reports whether a response comes from a cache between the API and the client.
func isCached(header http.Header) bool { return header.Get("Age") != "" }

// parseRateHeaders parses the X-RateLimit headers of a response to a request that was sent at a moment. The reset is in
// whole seconds: the seconds until it, or the time since 1970.
func parseRateHeaders(header http.Header, sent, now time.Time) (limit, remaining int, reset interval, ok bool) {
	limit, limitErr := strconv.Atoi(header.Get("X-RateLimit-Limit"))
	remaining, remainingErr := strconv.Atoi(header.Get("X-RateLimit-Remaining"))
	seconds, resetErr := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64)
	if limitErr != nil || remainingErr != nil || resetErr != nil ||
		limit < 1 || remaining < 0 || remaining > limit || seconds < 0 {
		return 0, 0, interval{}, false
	}
	if seconds >= minEpoch {
		apiTime := now
		if date, err := http.ParseTime(header.Get("Date")); err == nil {
			apiTime = date // the local clock may be wrong
		}
		seconds = max(seconds-apiTime.Unix(), 0)
	}
	wait := time.Duration(min(seconds, int64(maxBlock/time.Second))) * time.Second
	return limit, remaining, interval{from: sent.Add(wait - rounding), to: now.Add(wait + rounding)}, true
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
