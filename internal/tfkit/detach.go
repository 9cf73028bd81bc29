package tfkit

import (
	"context"
	"time"
)

// Grace is how long a request that creates something may go on after the run
// was interrupted. Cutting such a request off would lose what it created.
const Grace = 30 * time.Second

// Detach returns a context that outlives the end of ctx by Grace, and
// otherwise has no end of its own. The caller calls stop when done.
func Detach(ctx context.Context) (detached context.Context, stop func()) {
	return DetachFor(ctx, Grace)
}

// DetachFor is Detach with another grace.
func DetachFor(ctx context.Context, grace time.Duration) (detached context.Context, stop func()) {
	detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, cancel)
		context.AfterFunc(detached, func() { timer.Stop() })
	})
	return detached, func() { release(); cancel() }
}
