package rental

import (
	"context"
	"sync"
	"time"
)

// Cached holds one result of the API for a time, and lets concurrent callers share a request. Its zero value is empty.
type Cached[T any] struct {
	mu     sync.Mutex // guards lock
	lock   chan struct{}
	filled bool
	ended  time.Time // when the last load ended
	writes uint64    // of the last load
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
	lock, arrived := c.lockChannel(), time.Now()
	select {
	case lock <- struct{}{}:
		defer func() { <-lock }()
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
	if c.filled && c.writes >= writes && (time.Since(c.ended) < maxAge || c.ended.After(arrived)) {
		return c.value, c.err
	}
	value, err := load(ctx)
	if err == nil || ctx.Err() == nil {
		c.filled, c.ended, c.writes, c.value, c.err = true, time.Now(), writes, value, err
	}
	return value, err
}

// Last returns the result of the last load if Get would return it, without waiting for a load in flight.
func (c *Cached[T]) Last(maxAge time.Duration, writes uint64) (value T, ok bool) {
	lock := c.lockChannel()
	select {
	case lock <- struct{}{}:
		defer func() { <-lock }()
	default:
		return value, false
	}
	if !c.filled || c.err != nil || c.writes < writes || time.Since(c.ended) >= maxAge {
		return value, false
	}
	return c.value, true
}

// lockChannel returns the lock of all fields. With a channel, unlike a mutex, a caller can wait until
// a context ends.
func (c *Cached[T]) lockChannel() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lock == nil {
		c.lock = make(chan struct{}, 1)
	}
	return c.lock
}
