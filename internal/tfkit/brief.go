package tfkit

import (
	"context"
	"sync/atomic"
	"time"
)

// The framework keeps the context of every call until the plugin ends, and with it
// all that hangs on it: with a thousand resources that was most of the plugin's
// memory.

// Brief returns a context that is ctx until end is called. From then on it is over,
// and holds nothing of it.
func Brief(ctx context.Context) (brief context.Context, end func()) {
	b := new(briefContext)
	b.now.Store(&held{ctx})
	return b, func() { b.now.Store(over) }
}

// Lasting returns ctx without its end, for work that goes on for others when the
// call that began it has ended. What a brief context lets go, it keeps.
func Lasting(ctx context.Context) context.Context {
	if b, ok := ctx.Value(briefKey{}).(*briefContext); ok {
		ctx = b.now.Load().Context
	}
	return context.WithoutCancel(ctx)
}

type briefContext struct{ now atomic.Pointer[held] }

type held struct{ context.Context }

type briefKey struct{}

var over = func() *held {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return &held{ctx}
}()

func (b *briefContext) Deadline() (time.Time, bool) { return b.now.Load().Deadline() }

func (b *briefContext) Done() <-chan struct{} { return b.now.Load().Done() }

func (b *briefContext) Err() error { return b.now.Load().Err() }

func (b *briefContext) Value(key any) any {
	if key == (briefKey{}) {
		return b
	}
	return b.now.Load().Value(key)
}
