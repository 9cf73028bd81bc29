package rental

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Cached holds one result of the API for a time, and lets concurrent callers share a request. Its zero value is empty.
type Cached[T any] struct {
	flights singleflight.Group

	mu   sync.Mutex
	last loaded[T]
}

// loaded is the result of a load. Its zero value is that before the first load.
type loaded[T any] struct {
	value       T
	err         error
	ended       time.Time
	writes      uint64 // before it
	interrupted bool   // the context of its caller ended
}

// Get returns the result of the last load if that ended less than maxAge ago or while this call waited for it, and was
// not made before one of the writes; otherwise it loads again. writes counts the changes that this process has made so
// far: see Client.Writes. An error is cached, too, so that hundreds of resources report a missing permission after one
// request. The end of a caller's own context is not: the others load again.
func (c *Cached[T]) Get(
	ctx context.Context, maxAge time.Duration, writes uint64, load func(context.Context) (T, error),
) (value T, err error) {
	if last, ok := c.usable(maxAge, writes); ok {
		return last.value, last.err
	}
	for ctx.Err() == nil {
		flight := c.flights.DoChan("", func() (any, error) { return c.load(ctx, writes, load), nil })
		select {
		case result := <-flight:
			if now := result.Val.(loaded[T]); !now.interrupted && now.writes >= writes {
				return now.value, now.err
			}
		case <-ctx.Done():
		}
	}
	return value, ctx.Err()
}

func (c *Cached[T]) load(ctx context.Context, writes uint64, load func(context.Context) (T, error)) loaded[T] {
	value, err := load(ctx)
	now := loaded[T]{value, err, time.Now(), writes, err != nil && ctx.Err() != nil}
	if !now.interrupted {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last = now
	}
	return now
}

// Last returns the result of the last load if Get would return it, without waiting for a load in flight.
func (c *Cached[T]) Last(maxAge time.Duration, writes uint64) (value T, ok bool) {
	last, ok := c.usable(maxAge, writes)
	return last.value, ok && last.err == nil
}

// usable returns the last load if it ended less than maxAge ago and was not made before one of the writes.
func (c *Cached[T]) usable(maxAge time.Duration, writes uint64) (last loaded[T], ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, !c.last.ended.IsZero() && c.last.writes >= writes && time.Since(c.last.ended) < maxAge
}
