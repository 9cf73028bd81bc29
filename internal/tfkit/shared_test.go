package tfkit

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSharedIsOnePerProvider(t *testing.T) {
	type counter struct{ n int }
	one, other := &Meta{}, &Meta{}
	Shared[counter](one).n = 7
	if got := Shared[counter](one).n; got != 7 {
		t.Errorf("asked again: %d, want 7", got)
	}
	if got := Shared[counter](other).n; got != 0 {
		t.Errorf("another provider: %d, want 0", got)
	}
}

func TestRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Remembered[int]
		asked := 0
		ask := func(context.Context) (int, error) {
			time.Sleep(time.Second)
			asked++
			return asked, nil
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				if got, err := r.Get(t.Context(), time.Minute, ask); got != 1 || err != nil {
					t.Errorf("%d, %v: want the answer to the first question", got, err)
				}
			})
		}
		all.Wait()
		time.Sleep(2 * time.Minute)
		if got, err := r.Get(t.Context(), time.Minute, ask); got != 2 || err != nil {
			t.Errorf("%d, %v after two minutes: want a new answer", got, err)
		}
	})
}

func TestRememberedFailures(t *testing.T) {
	var r Remembered[int]
	failure := errors.New("no scope")
	asked := 0
	fail := func(context.Context) (int, error) { asked++; return 0, failure }
	for range 2 {
		if _, err := r.Get(t.Context(), time.Minute, fail); !errors.Is(err, failure) {
			t.Errorf("%v, want %v", err, failure)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
	var interrupted Remembered[int]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := interrupted.Get(ctx, time.Minute, func(ctx context.Context) (int, error) { return 0, ctx.Err() }); err == nil {
		t.Error("no error")
	}
	if got, err := interrupted.Get(t.Context(), time.Minute, func(context.Context) (int, error) { return 1, nil }); got != 1 || err != nil {
		t.Errorf("%d, %v: an interruption was remembered", got, err)
	}
}
