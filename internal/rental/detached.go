package rental

import (
	"context"
	"time"
)

// CancelGrace is how long a request that creates something may continue after its run was interrupted. A request that
// is cut off could create an object whose id nobody reads.
const CancelGrace = 30 * time.Second

// Detached returns a context that ends grace after ctx does, and otherwise when stop is called.
func Detached(ctx context.Context, grace time.Duration) (detached context.Context, stop func()) {
	detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, cancel)
		context.AfterFunc(detached, func() { timer.Stop() })
	})
	return detached, func() { release(); cancel() }
}
