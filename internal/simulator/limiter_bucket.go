package simulator

import "time"

// bucketCounter is a token bucket that holds the limit and refills evenly within one minute. It stores the time until
// it is full.
type bucketCounter struct {
	at      time.Time
	missing time.Duration
	limit   int
}

func newBucketCounter(limit int, now time.Time) counter { return &bucketCounter{at: now, limit: limit} }

// perRequest is the time that restores one request.
func (b *bucketCounter) perRequest() time.Duration { return rateWindow / time.Duration(b.limit) }

func (b *bucketCounter) refill(now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		b.at, b.missing = now, max(b.missing-passed, 0)
	}
}

func (b *bucketCounter) full(now time.Time) bool {
	b.refill(now)
	return b.missing == 0
}

func (b *bucketCounter) take(now time.Time) bool {
	if b.quota(now).remaining == 0 {
		return false
	}
	b.missing += b.perRequest()
	return true
}

func (b *bucketCounter) quota(now time.Time) quota {
	b.refill(now)
	full := b.perRequest() * time.Duration(b.limit)
	return quota{
		limit: b.limit, remaining: int((full - b.missing) / b.perRequest()), reset: b.missing,
		retry: max(b.missing+b.perRequest()-full, 0),
	}
}
