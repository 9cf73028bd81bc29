package rental

import (
	"context"
	"sync"
	"time"
)

// Cached holds one result of the API for a time, and lets concurrent callers share a request. Its zero value is empty.
type Cached[T any] struct {
	load  lastLoad
	value T
}

// Get returns the result of the last load if that ended less than maxAge ago or while this call waited for it, and was
// not made before one of the writes; otherwise it loads again. writes counts the changes that this process has made so
// far: see Client.Writes. An error is cached, too, so that hundreds of resources report a missing permission after one
// request; the end of a caller's own context is not.
func (c *Cached[T]) Get(
	ctx context.Context, maxAge time.Duration, writes uint64, load func(context.Context) (T, error),
) (T, error) {
	arrived := time.Now()
	unlock, err := c.load.lock(ctx)
	if err != nil {
		var none T
		return none, err
	}
	defer unlock()
	if c.load.usable(maxAge, writes) || c.load.endedAfter(arrived, writes) {
		return c.value, c.load.err
	}
	value, err := load(ctx)
	if err == nil || ctx.Err() == nil {
		c.value = value
		c.load.end(writes, err)
	}
	return value, err
}

// Last returns the result of the last load if Get would return it, without waiting for a load in flight.
func (c *Cached[T]) Last(maxAge time.Duration, writes uint64) (value T, ok bool) {
	unlock, ok := c.load.tryLock()
	if !ok {
		return value, false
	}
	defer unlock()
	if c.load.err != nil || !c.load.usable(maxAge, writes) {
		return value, false
	}
	return c.value, true
}

// lastLoad describes the last load of a Cached. Its lock guards the Cached.
type lastLoad struct {
	mu     sync.Mutex // guards locked
	locked chan struct{}
	done   bool      // there was a load
	ended  time.Time // when it ended
	writes uint64    // before it
	err    error
}

// lock waits for the lock until ctx ends, which a mutex cannot do.
func (l *lastLoad) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case l.channel() <- struct{}{}:
		return l.unlock, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *lastLoad) tryLock() (unlock func(), ok bool) {
	select {
	case l.channel() <- struct{}{}:
		return l.unlock, true
	default:
		return nil, false
	}
}

func (l *lastLoad) unlock() { <-l.locked }

func (l *lastLoad) channel() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locked == nil {
		l.locked = make(chan struct{}, 1)
	}
	return l.locked
}

func (l *lastLoad) usable(maxAge time.Duration, writes uint64) bool {
	return l.done && l.writes >= writes && time.Since(l.ended) < maxAge
}

func (l *lastLoad) endedAfter(t time.Time, writes uint64) bool {
	return l.done && l.writes >= writes && l.ended.After(t)
}

func (l *lastLoad) end(writes uint64, err error) {
	l.done, l.ended, l.writes, l.err = true, time.Now(), writes, err
}
