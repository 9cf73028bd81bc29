package rental

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestDetached_OutlivesCancellationByTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		detached, stop := Detached(ctx)
		stopped, stopNow := Detached(ctx)
		defer stop()
		for _, step := range []struct {
			do    func()
			ended bool
		}{
			{func() { time.Sleep(time.Hour) }, false},
			{cancel, false},
			{func() { time.Sleep(detachedGrace - time.Second) }, false},
			{func() { time.Sleep(time.Second) }, true},
		} {
			step.do()
			if synctest.Wait(); (detached.Err() != nil) != step.ended {
				t.Fatalf("ended %t, want %t", !step.ended, step.ended)
			}
		}
		if stopNow(); stopped.Err() == nil {
			t.Error("stop does not end it")
		}
	})
}
