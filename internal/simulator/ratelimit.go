package simulator

import (
	"iter"
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
	// noLimit stands for no limit at all: the headers that every response carries need a number.
	noLimit = 1_000_000
)

// quota is what a caller has left after a request.
type quota struct {
	limit, remaining int
	// reset is the time until the full limit is there again, retry until one more request may be made.
	reset, retry time.Duration
	allowed      bool
}

// counter counts the requests of one caller.
type counter interface {
	// spend takes a request from what is left, and says whether there was one.
	spend(now time.Time) bool
	quota(now time.Time) quota
	// whole says whether the full limit is there, so that the caller can be forgotten.
	whole(now time.Time) bool
}

// limiter counts the requests of callers, a caller being a key or an address. The simulator's lock guards it.
type limiter struct {
	counters map[string]counter
	swept    time.Time
	begin    func(limit int, now time.Time) counter
}

func (c Config) newLimiter() *limiter {
	l := &limiter{counters: map[string]counter{}, begin: beginWindow}
	if c.Limiter == LimiterBucket {
		l.begin = beginBucket
	}
	return l
}

func (l *limiter) take(caller string, limit int, now time.Time) quota {
	l.sweep(now)
	c := l.counters[caller]
	if c == nil || c.whole(now) {
		c = l.begin(limit, now)
		l.counters[caller] = c
	}
	allowed := c.spend(now)
	q := c.quota(now)
	q.allowed = allowed
	return q
}

// peek yields, by caller, what those have left that are counted now.
func (l *limiter) peek(now time.Time) iter.Seq2[string, quota] {
	return func(yield func(string, quota) bool) {
		for caller, c := range l.counters {
			if !c.whole(now) && !yield(caller, c.quota(now)) {
				return
			}
		}
	}
}

// sweep forgets, once a minute, the callers that have not come back.
func (l *limiter) sweep(now time.Time) {
	if now.Before(l.swept.Add(rateWindow)) {
		return
	}
	l.swept = now
	maps.DeleteFunc(l.counters, func(_ string, c counter) bool { return c.whole(now) })
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

// tellQuota sets the rate headers. Who is told to wait does so in real time, however fast the simulated one passes.
func (s *Simulator) tellQuota(h http.Header, q quota, at time.Time) {
	reset := s.wholeSeconds(q.reset)
	if s.config.RateReset == ResetEpoch {
		reset += int(at.Unix())
	}
	h.Set("X-RateLimit-Limit", strconv.Itoa(q.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(q.remaining))
	h.Set("X-RateLimit-Reset", strconv.Itoa(reset))
}

// wholeSeconds is how many real seconds a time takes, one at least.
func (s *Simulator) wholeSeconds(simulated time.Duration) int {
	return max(int(math.Ceil(simulated.Seconds()/s.config.TimeScale)), 1)
}
