package rental

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// scopes is what a client knows about the scopes of its key.
type scopes struct {
	accepted atomic.Bool // the API has accepted a request that needs a scope

	once    sync.Once
	blocked bool
}

// probeTimeout limits the requests of isBlocked, because the error that they explain must not come late.
const probeTimeout = 3 * time.Second

// isBlocked returns Error.Blocked for a refused request. It asks the API once, and only if the API has not accepted any
// request that needs a scope.
func (c *Client) isBlocked(ctx context.Context, refused request) bool {
	if c.scopes.accepted.Load() || refused.urgent {
		return false
	}
	c.scopes.once.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		single := c.WithoutRetries()
		for _, other := range []request{
			{path: []string{"me"}, scope: ScopeUserRead}, {path: []string{"balance"}, scope: ScopeBillingRead},
			{path: []string{"instances"}, scope: ScopeInstancesRead},
		} {
			other.method, other.urgent = http.MethodGet, true
			if other.scope != refused.scope && !IsForbidden(single.send(ctx, other)) {
				return
			}
		}
		c.scopes.blocked = true
	})
	return c.scopes.blocked
}
