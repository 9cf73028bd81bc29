package simulator

import (
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
	// reset is the time until the limit is restored.
	reset   time.Duration
	allowed bool
}

// window counts the requests of one caller. The limit is restored one minute after the first request.
type window struct {
	startedAt time.Time
	used      int
}

// limiter counts the requests of keys and addresses. The simulator's lock guards it.
type limiter map[string]*window

// take counts a request of a caller, if the limit allows it.
func (l limiter) take(caller string, limit int, now time.Time) quota {
	w := l[caller]
	if w == nil || !now.Before(w.startedAt.Add(rateWindow)) {
		w = &window{startedAt: now}
		l[caller] = w
	}
	allowed := w.used < limit
	if allowed {
		w.used++
	}
	return quota{limit, limit - w.used, w.startedAt.Add(rateWindow).Sub(now), allowed}
}

// Kinds of callers. A caller is the kind, a space, and the id of a key or an address.
const (
	callerKey     = "key"
	callerAddress = "address"
)

// rates are the limits in requests per minute.
type rates struct{ PerKey, PerAddress int }

func limitOrNone(perMinute int) int {
	if perMinute <= 0 {
		return noLimit
	}
	return perMinute
}

// countRequest counts a request for its active key, or else for its address.
func (s *Simulator) countRequest(k *apiKey, address string) quota {
	caller, limit := callerAddress+" "+address, s.rates.PerAddress
	if k != nil {
		caller, limit = callerKey+" "+k.ID, s.rates.PerKey
	}
	return s.limiter.take(caller, limit, s.engine.Now)
}

// setRateLimitHeaders sets the rate limit headers. Clients wait in real time, so durations are scaled.
func (s *Simulator) setRateLimitHeaders(h http.Header, q quota) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(q.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(q.remaining))
	h.Set("X-RateLimit-Reset", strconv.Itoa(s.wholeSeconds(q.reset)))
}

// wholeSeconds converts a simulated duration to real seconds, at least one.
func (s *Simulator) wholeSeconds(simulated time.Duration) int {
	return max(int(math.Ceil(simulated.Seconds()/s.config.TimeScale)), 1)
}
