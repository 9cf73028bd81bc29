package tfkit

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDetachOutlivesCancellationByTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		detached, stop := Detach(ctx)
		defer stop()
		time.Sleep(time.Hour)
		if detached.Err() != nil {
			t.Fatal("ended although nothing was cancelled")
		}
		cancel()
		time.Sleep(Grace - time.Second)
		synctest.Wait()
		if detached.Err() != nil {
			t.Fatal("ended before the grace was over")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !errors.Is(detached.Err(), context.Canceled) {
			t.Errorf("after the grace: %v", detached.Err())
		}
	})
}

func TestDetachEndsWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		detached, stop := Detach(ctx)
		cancel()
		synctest.Wait()
		stop()
		if !errors.Is(detached.Err(), context.Canceled) {
			t.Errorf("after stop: %v", detached.Err())
		}
	})
}
