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
	last *loaded[T] // nil before the first load
}

// loaded is the result of a load.
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
) (T, error) {
	if last := c.usable(maxAge, writes); last != nil {
		return last.value, last.err
	}
	for ctx.Err() == nil {
		flight := c.flights.DoChan("", func() (any, error) { return c.load(ctx, writes, load), nil })
		select {
		case result := <-flight:
			if now := result.Val.(*loaded[T]); !now.interrupted && now.writes >= writes {
				return now.value, now.err
			}
		case <-ctx.Done():
		}
	}
	var none T
	return none, ctx.Err()
}

func (c *Cached[T]) load(ctx context.Context, writes uint64, load func(context.Context) (T, error)) *loaded[T] {
	value, err := load(ctx)
	now := &loaded[T]{value, err, time.Now(), writes, err != nil && ctx.Err() != nil}
	if !now.interrupted {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last = now
	}
	return now
}

// Last returns the result of the last load if Get would return it, without waiting for a load in flight.
func (c *Cached[T]) Last(maxAge time.Duration, writes uint64) (value T, ok bool) {
	if last := c.usable(maxAge, writes); last != nil && last.err == nil {
		return last.value, true
	}
	return value, false
}

// usable returns the last load if it ended less than maxAge ago and was not made before one of the writes, else nil.
func (c *Cached[T]) usable(maxAge time.Duration, writes uint64) *loaded[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil || c.last.writes < writes || time.Since(c.last.ended) >= maxAge {
		return nil
	}
	return c.last
}
