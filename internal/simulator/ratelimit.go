package simulator

import (
	"maps"
	"math"
	"net/http"
	"strconv"
	"time"
)

const (
	defaultPerKey     = 120
	defaultPerAddress = 60
	rateWindow        = time.Minute
	// noLimit is the limit in the headers when there is no limit.
	noLimit = 1_000_000
)

// quota is the remaining limit of a caller after a request.
type quota struct {
	limit, remaining int
	// reset is the time until the full limit is restored, retry until one more request is allowed.
	reset, retry time.Duration
	allowed      bool
}

// counter counts the requests of one caller.
type counter interface {
	// take counts a request and reports whether it is allowed.
	take(now time.Time) bool
	quota(now time.Time) quota
	// full reports whether the full limit is available, so that the counter can be removed.
	full(now time.Time) bool
}

// limiter counts the requests of keys and addresses. The simulator's lock guards it.
type limiter struct {
	counters   map[string]counter
	sweptAt    time.Time
	newCounter func(limit int, now time.Time) counter
}

func (c Config) newLimiter() *limiter {
	l := &limiter{counters: map[string]counter{}, newCounter: newWindowCounter}
	if c.Limiter == LimiterBucket {
		l.newCounter = newBucketCounter
	}
	return l
}

func (l *limiter) take(caller string, limit int, now time.Time) quota {
	l.sweep(now)
	c := l.counters[caller]
	if c == nil || c.full(now) {
		c = l.newCounter(limit, now)
		l.counters[caller] = c
	}
	allowed := c.take(now)
	q := c.quota(now)
	q.allowed = allowed
	return q
}

// sweep removes full counters once a minute.
func (l *limiter) sweep(now time.Time) {
	if now.Before(l.sweptAt.Add(rateWindow)) {
		return
	}
	l.sweptAt = now
	maps.DeleteFunc(l.counters, func(_ string, c counter) bool { return c.full(now) })
}

// Kinds of callers. A caller is the kind, a space, and the id of a key or an address.
const (
	callerKey     = "key"
	callerAddress = "address"
)

// rates are the limits in requests per minute.
type rates struct{ perKey, perAddress int }

func limitOrNone(perMinute int) int {
	if perMinute <= 0 {
		return noLimit
	}
	return perMinute
}

// countRequest counts a request for its active key, or else for its address.
func (s *Simulator) countRequest(k *apiKey, address string) quota {
	caller, limit := callerAddress+" "+address, s.rates.perAddress
	if k != nil {
		caller, limit = callerKey+" "+k.ID, s.rates.perKey
	}
	return s.limiter.take(caller, limit, s.engine.now)
}

// setRateLimitHeaders sets the rate limit headers. Clients wait in real time, so durations are scaled.
func (s *Simulator) setRateLimitHeaders(h http.Header, q quota, at time.Time) {
	reset := s.wholeSeconds(q.reset)
	if s.config.RateReset == ResetEpoch {
		reset += int(at.Unix())
	}
	h.Set("X-RateLimit-Limit", strconv.Itoa(q.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(q.remaining))
	h.Set("X-RateLimit-Reset", strconv.Itoa(reset))
}

// wholeSeconds converts a simulated duration to real seconds, at least one.
func (s *Simulator) wholeSeconds(simulated time.Duration) int {
	return max(int(math.Ceil(simulated.Seconds()/s.config.TimeScale)), 1)
}
