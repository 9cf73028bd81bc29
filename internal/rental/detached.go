package rental

import (
	"context"
	"time"
)

// detachedGrace leaves time for one request, unless the request limit is used up.
const detachedGrace = 2 * time.Second

// Detached returns a context for the requests that stop or delete what must not stay. It ends detachedGrace after ctx
// does, because an interrupted run must end soon, and otherwise when stop is called.
func Detached(ctx context.Context) (detached context.Context, stop func()) {
	detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, func() { time.AfterFunc(detachedGrace, cancel) })
	return detached, func() { release(); cancel() }
}
