package rental

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Documented rate limits in requests per minute. The headers of responses replace them.
const (
	limitPerKey     = 120
	limitPerAddress = 60
)

// rateLimitLayer delays requests as the rate limit requires. The API counts requests with and without a key separately.
type rateLimitLayer struct {
	next                http.RoundTripper
	withKey, withoutKey *limiter
	log                 func(ctx context.Context, message string, fields map[string]any) // nil: no log
	reach               *reachability
}

// logWaitAfter is how long a request waits for the rate limit before the log mentions it.
const logWaitAfter = time.Second

func (l *rateLimitLayer) RoundTrip(req *http.Request) (*http.Response, error) {
	limiter := l.withoutKey
	if req.Header.Get("Authorization") != "" {
		limiter = l.withKey
	}
	if err := l.wait(limiter, req); err != nil {
		return nil, fmt.Errorf("while waiting for the request limit: %w", err)
	}
	if err := l.check(limiter, req); err != nil {
		return nil, err
	}
	sent := time.Now()
	resp, err := l.next.RoundTrip(req)
	limiter.done(sent, time.Now(), resp)
	return resp, err
}

func (l *rateLimitLayer) wait(limiter *limiter, req *http.Request) error {
	ctx := req.Context()
	if callFrom(ctx).urgent {
		limiter.skip()
		return nil
	}
	if l.log != nil {
		timer := time.AfterFunc(logWaitAfter, func() {
			l.log(ctx, "Waiting for the request limit", map[string]any{"method": req.Method, "keyed": limiter == l.withKey})
		})
		defer timer.Stop()
	}
	limited, stop := l.reach.limit(ctx)
	defer stop()
	return limiter.wait(limited)
}
