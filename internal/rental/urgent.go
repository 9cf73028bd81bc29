package rental

import (
	"context"
	"time"
)

// What has to be undone before a process ends cannot wait until the request limit allows it, and a CLI gives it two seconds.

type urgentKey struct{}

// Urgent returns a context whose requests wait for no rate budget: it is for what cannot be done later, because the process ends. See
// Client.Reserve.
func Urgent(ctx context.Context) context.Context { return context.WithValue(ctx, urgentKey{}, true) }

// Reserve holds a request of the key's rate budget back, for an Urgent one later, until release is called once. Other processes
// with the same key do not know of it.
func (c *Client) Reserve() (release func()) {
	c.budget.keep(1)
	return func() { c.budget.keep(-1) }
}

// keep changes how many requests are held back.
func (g *gate) keep(change int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rate.kept += change
	g.admit()
}

// jump passes without a turn.
func (g *gate) jump() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rate.sent(time.Now())
}

// reserve is how many requests are held back: never so many that nothing else goes on.
func (r *rate) reserve() int { return min(r.kept, r.limit/2) }
