// Package backoff has the pauses between attempts.
package backoff

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// Exponential is a sequence of growing pauses. Its zero value never pauses.
type Exponential struct {
	First time.Duration // the first pause
	Max   time.Duration // the longest pause, before jitter; 0 for no limit
	// Factor is the ratio of each pause to the one before it. 0 means 2.
	Factor float64
	// Jitter is the largest random change of a pause as a share of it, in both directions, so that processes that
	// started together do not send their requests together.
	Jitter float64
}

// Pause returns the pause before attempt number n, counted from 0.
func (e Exponential) Pause(n int) time.Duration {
	factor := e.Factor
	if factor == 0 {
		factor = 2
	}
	longest := float64(math.MaxInt64 / 4)
	if e.Max > 0 {
		longest = float64(e.Max)
	}
	pause := min(float64(e.First)*math.Pow(factor, float64(n)), longest)
	return time.Duration(pause * (1 + e.Jitter*(2*rand.Float64()-1)))
}

// Sleep waits for d, or returns the error of ctx if that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return ctx.Err()
	}
}
