package simulator

import "time"

// bucketCount gives a caller a bucket that holds its limit and fills evenly, the whole of it within a minute. It is known by
// what it lacks: the time in which it would be full again.
type bucketCount struct {
	at    time.Time
	lacks time.Duration
	limit int
}

func beginBucket(limit int, now time.Time) counter { return &bucketCount{at: now, limit: limit} }

// each is the time in which one request is earned back.
func (b *bucketCount) each() time.Duration { return rateWindow / time.Duration(b.limit) }

func (b *bucketCount) fill(now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		b.at, b.lacks = now, max(b.lacks-passed, 0)
	}
}

func (b *bucketCount) whole(now time.Time) bool {
	b.fill(now)
	return b.lacks == 0
}

func (b *bucketCount) spend(now time.Time) bool {
	if b.quota(now).remaining == 0 {
		return false
	}
	b.lacks += b.each()
	return true
}

func (b *bucketCount) quota(now time.Time) quota {
	b.fill(now)
	full := b.each() * time.Duration(b.limit)
	return quota{
		limit: b.limit, remaining: int((full - b.lacks) / b.each()), reset: b.lacks,
		retry: max(b.lacks+b.each()-full, 0),
	}
}
