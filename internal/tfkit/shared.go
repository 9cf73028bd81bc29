package tfkit

import (
	"context"
	"reflect"
	"sync"
	"time"
)

// Shared returns the one T that everything of a configured provider has in
// common, made on first use. The CLI configures the provider anew for every
// plan and for every apply, so nothing outlives the run it belongs to.
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
	value T
	err   error
}

// Get returns the answer when it was asked for no longer than maxAge ago, and
// asks otherwise. A failure is remembered too, so that a missing permission is
// met once and not two hundred times; the end of the caller's own context is not.
func (r *Remembered[T]) Get(ctx context.Context, maxAge time.Duration, ask func(context.Context) (T, error)) (T, error) {
	r.once.Do(func() { r.turn = make(chan struct{}, 1) })
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
	if !r.asked.IsZero() && time.Since(r.asked) <= maxAge {
		return r.value, r.err
	}
	began := time.Now()
	value, err := ask(ctx)
	if err == nil || ctx.Err() == nil {
		r.asked, r.value, r.err = began, value, err
	}
	return value, err
}
