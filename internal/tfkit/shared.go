package tfkit

import (
	"context"
	"reflect"
	"sync"
	"time"
)

// Shared returns the one T that everything of a configured provider has in
// common, made on first use. It can outlive a run: see Run.
func Shared[T any](m *Meta) *T {
	made, _ := m.shared.LoadOrStore(reflect.TypeFor[T](), new(T))
	return made.(*T)
}

// Remembered is an answer of the service that serves many askers for a while.
// Who asks meanwhile waits for the request under way. Its zero value is ready.
type Remembered[T any] struct {
	once  sync.Once
	turn  chan struct{} // holds one token: whose turn it is
	asked time.Time
	ended time.Time
	value T
	err   error
}

// Get returns the answer when it was asked for less than maxAge ago or arrived
// after this call began, and asks otherwise. A failure is cached too, so that 200
// resources meet a missing permission once; the end of the caller's own context is not.
func (r *Remembered[T]) Get(ctx context.Context, maxAge time.Duration, ask func(context.Context) (T, error)) (T, error) {
	r.once.Do(func() { r.turn = make(chan struct{}, 1) })
	arrived := time.Now()
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
	if !r.asked.IsZero() && (time.Since(r.asked) < maxAge || r.ended.After(arrived)) {
		return r.value, r.err
	}
	began := time.Now()
	value, err := ask(ctx)
	if err == nil || ctx.Err() == nil {
		r.asked, r.ended, r.value, r.err = began, time.Now(), value, err
	}
	return value, err
}
