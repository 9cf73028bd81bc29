package rental

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// scopes is the result of earlier requests that need a scope of the key.
type scopes struct {
	accepted atomic.Bool // the API has accepted a request that needs a scope

	once    sync.Once
	blocked atomic.Bool
}

// probeTimeout limits the requests of isBlocked, because the error that they explain must not come late.
const probeTimeout = 3 * time.Second

// isBlocked returns Error.Blocked for a refused request. After a read it asks the API, once, and only if the API has
// not accepted any request that needs a scope.
func (c *Client) isBlocked(ctx context.Context, refused request) bool {
	if c.scopes.accepted.Load() || refused.urgent || refused.method != http.MethodGet {
		return c.scopes.blocked.Load()
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
		c.scopes.blocked.Store(true)
	})
	return c.scopes.blocked.Load()
}
