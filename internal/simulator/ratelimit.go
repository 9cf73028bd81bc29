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
	// reset is the time until the full limit is there again, retry until one more request may be made.
	reset, retry time.Duration
	allowed      bool
}

// limiter counts the requests of callers, a caller being a key or an address. The simulator's lock guards it.
type limiter interface {
	take(caller string, limit int, now time.Time) quota
	// peek yields, by caller, what those have left that are counted now.
	peek(now time.Time) iter.Seq2[string, quota]
}

func (c Config) newLimiter() limiter {
	if c.Limiter == LimiterBucket {
		return newTokenBucket()
	}
	return newFixedWindow()
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
