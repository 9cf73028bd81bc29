package backoff

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestExponential_GrowsToItsMaximum(t *testing.T) {
	pauses := Exponential{First: time.Second, Max: 5 * time.Second, Factor: 1.5, Jitter: 0.2}
	for n, want := range []time.Duration{time.Second, 1500 * time.Millisecond, 2250 * time.Millisecond} {
		shortest, longest := want, want
		for range 100 {
			got := pauses.Pause(n)
			shortest, longest = min(shortest, got), max(longest, got)
		}
		if shortest < want*8/10 || shortest > want*9/10 || longest > want*12/10 || longest < want*11/10 {
			t.Errorf("pause %d is %s to %s, want %s with a jitter of 20 %%", n, shortest, longest, want)
		}
	}
	if got := pauses.Pause(1000); got > 6*time.Second {
		t.Errorf("pause 1000 is %s, want at most the maximum with its jitter", got)
	}
	if got := (Exponential{}).Pause(7); got != 0 {
		t.Errorf("the zero value pauses for %s", got)
	}
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := Sleep(t.Context(), time.Hour); err != nil || time.Since(began) != time.Hour {
			t.Errorf("slept for %s with error %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := Sleep(
			ctx,
			time.Hour,
		); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(began) != time.Hour+time.Minute {
			t.Errorf("after the deadline: %v after %s", err, time.Since(began))
		}
	})
}
