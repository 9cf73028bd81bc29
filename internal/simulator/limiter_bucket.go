package simulator

import (
	"iter"
	"time"
)

// tokenBucket gives each caller a bucket that holds its limit and fills evenly, the whole of it within a minute.
type tokenBucket struct {
	buckets map[string]*bucketCount
	swept   time.Time
}

// bucketCount is a bucket by what it lacks: empty is the time in which it would be full again.
type bucketCount struct {
	at    time.Time
	lacks time.Duration
	limit int
}

// each is the time in which one request is earned back.
func (b *bucketCount) each() time.Duration { return rateWindow / time.Duration(b.limit) }

func (b *bucketCount) fill(now time.Time) {
	if passed := now.Sub(b.at); passed > 0 {
		b.at, b.lacks = now, max(b.lacks-passed, 0)
	}
}

func (b *bucketCount) quota() quota {
	full := b.each() * time.Duration(b.limit)
	return quota{
		limit: b.limit, remaining: int((full - b.lacks) / b.each()), reset: b.lacks,
		retry: max(b.lacks+b.each()-full, 0),
	}
}

func newTokenBucket() *tokenBucket { return &tokenBucket{buckets: map[string]*bucketCount{}} }

func (t *tokenBucket) take(caller string, limit int, now time.Time) quota {
	t.sweep(now)
	b := t.buckets[caller]
	if b == nil {
		b = &bucketCount{at: now, limit: limit}
		t.buckets[caller] = b
	}
	b.fill(now)
	allowed := b.quota().remaining > 0
	if allowed {
		b.lacks += b.each()
	}
	q := b.quota()
	q.allowed = allowed
	return q
}

func (t *tokenBucket) peek(now time.Time) iter.Seq2[string, quota] {
	return func(yield func(string, quota) bool) {
		for caller, b := range t.buckets {
			if b.fill(now); b.lacks > 0 && !yield(caller, b.quota()) {
				return
			}
		}
	}
}

// sweep forgets, once a minute, the callers whose buckets are full.
func (t *tokenBucket) sweep(now time.Time) {
	if now.Before(t.swept.Add(rateWindow)) {
		return
	}
	t.swept = now
	for caller, b := range t.buckets {
		if b.fill(now); b.lacks == 0 {
			delete(t.buckets, caller)
		}
	}
}
