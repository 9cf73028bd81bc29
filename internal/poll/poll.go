// Package poll has the one loop that waits for something in the service to
// come true.
package poll

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff says how long to pause before check number attempt, counted from 0.
type Backoff func(attempt int) time.Duration

// growth is by how much each pause exceeds the one before it: slow enough that
// a server that boots in a minute is noticed within seconds of being ready.
const growth = 1.3

// Exponential is Growing with each pause varied by up to a fifth either way, so that
// processes started together do not poll together.
func Exponential(first time.Duration) Backoff {
	growing := Growing(first)
	return func(attempt int) time.Duration {
		return time.Duration(float64(growing(attempt)) * (0.8 + 0.4*rand.Float64()))
	}
}

// Growing starts at first and grows to six times that. A first of zero or less never
// pauses.
func Growing(first time.Duration) Backoff {
	return func(attempt int) time.Duration {
		if first <= 0 {
			return 0
		}
		pause, longest := float64(first), 6*float64(first)
		for range attempt {
			if pause *= growth; pause >= longest {
				pause = longest
				break
			}
		}
		return time.Duration(pause)
	}
}

// Until pauses, checks, and repeats until check reports done or an error, which
// it returns. It pauses first because every caller has just been told the
// current state by the request that started the change. When ctx ends, also in
// the middle of a pause, it returns the context's error at once.
func Until(ctx context.Context, backoff Backoff, check func(context.Context) (done bool, err error)) error {
	for attempt := 0; ; attempt++ {
		if err := Pause(ctx, backoff(attempt)); err != nil {
			return err
		}
		done, err := check(ctx)
		if done || err != nil {
			return err
		}
	}
}

// Pause waits, or returns the error of ctx when that ends first.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return ctx.Err()
	}
}
