package rental

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// longestHold bounds how long one 429 holds back everybody: the service counts by the minute, so after one the gate would hold back
// for nothing. The request that was told to wait longer does.
const longestHold = time.Minute

// budgetLayer holds all requests of a rate budget back together once one of them was told to wait; otherwise ten parallel calls
// would learn it by ten more refusals. Requests with a key and requests without are counted apart by the service, so they are here.
type budgetLayer struct {
	next         http.RoundTripper
	keyed, plain gate
}

func (l *budgetLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	budget := &l.plain
	if req.Header.Get("Authorization") != "" {
		budget = &l.keyed
	}
	if err := budget.pass(req.Context()); err != nil {
		return nil, err
	}
	resp, err := l.next.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusTooManyRequests {
		if wait, ok := retryAfter(resp.Header, time.Now()); ok {
			budget.closeFor(min(wait, longestHold))
		}
	}
	return resp, err
}

// gate is open unless closed until a moment. Its zero value is open.
type gate struct {
	mu    sync.Mutex
	until time.Time
}

func (g *gate) closeFor(wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(wait); until.After(g.until) {
		g.until = until
	}
}

func (g *gate) remaining() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Until(g.until)
}

// pass waits until the gate is open. Jitter spreads those who waited together.
func (g *gate) pass(ctx context.Context) error {
	for {
		wait := g.remaining()
		if wait <= 0 {
			return nil
		}
		timer := time.NewTimer(wait + jitter(wait))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("while the request limit was waited out: %w", ctx.Err())
		}
	}
}
