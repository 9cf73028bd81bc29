package simulator

import (
	"iter"
	"math"
	"net/http"
	"strconv"
	"time"
)

const (
	defaultPerKey     = 120
	defaultPerAddress = 60
	rateWindow        = time.Minute
	// noLimit stands for no limit at all: the headers that every response carries need a number.
	noLimit = 1_000_000
)

// quota is what a caller has left after a request.
type quota struct {
	limit, remaining int
	// reset is the time until the full limit is there again.
	reset   time.Duration
	allowed bool
}

// limiter counts the requests of callers, a caller being a key or an address. The simulator's lock guards it.
type limiter interface {
	take(caller string, limit int, now time.Time) quota
	// peek yields, by caller, what those have left that are counted now.
	peek(now time.Time) iter.Seq2[string, quota]
}

// fixedWindow gives each caller its limit anew a minute after the first request of the last minute.
type fixedWindow struct {
	windows map[string]*windowCount
	swept   time.Time
}

type windowCount struct {
	began       time.Time
	used, limit int
}

func (w *windowCount) over(now time.Time) bool { return !now.Before(w.began.Add(rateWindow)) }

func (w *windowCount) quota(now time.Time) quota {
	return quota{limit: w.limit, remaining: max(w.limit-w.used, 0), reset: w.began.Add(rateWindow).Sub(now)}
}

func newFixedWindow() *fixedWindow { return &fixedWindow{windows: map[string]*windowCount{}} }

func (f *fixedWindow) take(caller string, limit int, now time.Time) quota {
	f.sweep(now)
	w := f.windows[caller]
	if w == nil || w.over(now) {
		w = &windowCount{began: now, limit: limit}
		f.windows[caller] = w
	}
	allowed := w.used < limit
	if allowed {
		w.used++
	}
	q := w.quota(now)
	q.allowed = allowed
	return q
}

func (f *fixedWindow) peek(now time.Time) iter.Seq2[string, quota] {
	return func(yield func(string, quota) bool) {
		for caller, w := range f.windows {
			if !w.over(now) && !yield(caller, w.quota(now)) {
				return
			}
		}
	}
}

// sweep forgets, once a window, the callers that have not come back.
func (f *fixedWindow) sweep(now time.Time) {
	if now.Before(f.swept.Add(rateWindow)) {
		return
	}
	f.swept = now
	for caller, w := range f.windows {
		if w.over(now) {
			delete(f.windows, caller)
		}
	}
}

// The kinds of caller: a caller is named by its kind, a space, and a key's id or an address.
const (
	callerKey     = "key"
	callerAddress = "address"
)

// rates is the limits in force, requests per minute.
type rates struct{ perKey, perAddress int }

func limitOf(perMinute int) int {
	if perMinute <= 0 {
		return noLimit
	}
	return perMinute
}

// charge counts a request against its key, or against its address when it bears no active key.
func (s *Simulator) charge(k *apiKey, address string) quota {
	caller, limit := callerAddress+" "+address, s.rates.perAddress
	if k != nil {
		caller, limit = callerKey+" "+k.ID, s.rates.perKey
	}
	return s.limiter.take(caller, limit, s.world.at)
}

// writeTo sets the rate headers. Reset is seconds left, as Retry-After is: simulated time is nobody else's.
func (q quota) writeTo(h http.Header) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(q.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(q.remaining))
	h.Set("X-RateLimit-Reset", q.seconds())
}

func (q quota) wholeSeconds() int { return max(int(math.Ceil(q.reset.Seconds())), 1) }

func (q quota) seconds() string { return strconv.Itoa(q.wholeSeconds()) }
