package poll

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestExponentialGrowsToItsBound(t *testing.T) {
	const first = 5 * time.Second
	backoff := Exponential(first)
	for attempt, want := range []time.Duration{first, 6500 * time.Millisecond, 8450 * time.Millisecond} {
		for range 100 {
			got := backoff(attempt)
			if low, high := want*8/10, want*12/10; got < low || got > high {
				t.Fatalf("pause %d is %s, want %s to %s", attempt, got, low, high)
			}
		}
	}
	for _, attempt := range []int{50, 1_000_000} {
		if got := backoff(attempt); got < 24*time.Second || got > 36*time.Second {
			t.Errorf("pause %d is %s, want six times %s give or take a fifth", attempt, got, first)
		}
	}
	if got := Exponential(0)(3); got != 0 {
		t.Errorf("a zero first pause gave %s", got)
	}
}

func TestUntilPausesBeforeEveryCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, checks := time.Now(), 0
		err := Until(t.Context(), func(int) time.Duration { return time.Second }, func(context.Context) (bool, error) {
			checks++
			if got, want := time.Since(start), time.Duration(checks)*time.Second; got != want {
				t.Errorf("check %d came after %s, want %s", checks, got, want)
			}
			return checks == 3, nil
		})
		if err != nil || checks != 3 {
			t.Errorf("err %v after %d checks, want none after 3", err, checks)
		}
	})
}

func TestUntilReturnsTheErrorOfTheCheck(t *testing.T) {
	boom := errors.New("boom")
	err := Until(t.Context(), Exponential(0), func(context.Context) (bool, error) { return false, boom })
	if !errors.Is(err, boom) {
		t.Errorf("got %v, want %v", err, boom)
	}
}

func TestUntilStopsInTheMiddleOfAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(time.Second, cancel)
		err := Until(ctx, func(int) time.Duration { return time.Hour }, func(context.Context) (bool, error) {
			t.Error("checked although cancelled before the first pause was over")
			return true, nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("returned after %s, want at once when cancelled, 1s", waited)
		}
	})
}

func TestUntilChecksNothingWhenAlreadyCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := Until(ctx, Exponential(0), func(context.Context) (bool, error) {
		t.Error("checked under a cancelled context")
		return true, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
