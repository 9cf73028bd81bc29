package tfkit

import (
	"context"
	"sync/atomic"
	"time"
)

// WithRelease returns a context that is ctx until release is called. After that it is canceled and no longer refers to
// ctx. The framework keeps the context of every call until the plugin ends: without release, a refresh of 1,000
// instances took 242 MB of memory instead of 73 MB.
func WithRelease(ctx context.Context) (released context.Context, release func()) {
	r := new(releasedContext)
	r.current.Store(&heldContext{ctx})
	return r, func() { r.current.Store(canceled) }
}

type releasedContext struct{ current atomic.Pointer[heldContext] }

type heldContext struct{ context.Context }

var canceled = func() *heldContext {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return &heldContext{ctx}
}()

func (r *releasedContext) Deadline() (time.Time, bool) { return r.current.Load().Deadline() }

func (r *releasedContext) Done() <-chan struct{} { return r.current.Load().Done() }

func (r *releasedContext) Err() error { return r.current.Load().Err() }

func (r *releasedContext) Value(key any) any { return r.current.Load().Value(key) }
