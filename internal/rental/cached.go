package rental

import (
	"context"
	"sync"
	"time"
)

// Cached holds one result of the API for a time, and lets concurrent callers share a request. Its zero value is empty.
type Cached[T any] struct {
	init   sync.Once     // of locked
	locked chan struct{} // a lock whose wait ends with a context; it guards the fields below

	loaded bool      // there was a load
	ended  time.Time // when the last load ended
	writes uint64    // before it
	value  T
	err    error
}

// Get returns the result of the last load if that ended less than maxAge ago or while this call waited for it, and was
// not made before one of the writes; otherwise it loads again. writes counts the changes that this process has made so
// far: see Client.Writes. An error is cached, too, so that hundreds of resources report a missing permission after one
// request; the end of a caller's own context is not.
func (c *Cached[T]) Get(
	ctx context.Context, maxAge time.Duration, writes uint64, load func(context.Context) (T, error),
) (T, error) {
	arrived := time.Now()
	select {
	case c.lock() <- struct{}{}:
		defer c.unlock()
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
	if c.usable(max(maxAge, time.Since(arrived)), writes) {
		return c.value, c.err
	}
	value, err := load(ctx)
	if err == nil || ctx.Err() == nil {
		c.loaded, c.ended, c.writes, c.value, c.err = true, time.Now(), writes, value, err
	}
	return value, err
}

// Last returns the result of the last load if Get would return it, without waiting for a load in flight.
func (c *Cached[T]) Last(maxAge time.Duration, writes uint64) (value T, ok bool) {
	select {
	case c.lock() <- struct{}{}:
		defer c.unlock()
	default:
		return value, false
	}
	if c.err != nil || !c.usable(maxAge, writes) {
		return value, false
	}
	return c.value, true
}

func (c *Cached[T]) lock() chan<- struct{} {
	c.init.Do(func() { c.locked = make(chan struct{}, 1) })
	return c.locked
}

func (c *Cached[T]) unlock() { <-c.locked }

// usable reports whether the last load ended less than maxAge ago and was not made before one of the writes.
func (c *Cached[T]) usable(maxAge time.Duration, writes uint64) bool {
	return c.loaded && c.writes >= writes && time.Since(c.ended) < maxAge
}
