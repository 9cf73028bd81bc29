package rental

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDetached_OutlivesCancellationByTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		detached, stop := Detached(ctx, CancelGrace)
		defer stop()
		time.Sleep(time.Hour)
		if detached.Err() != nil {
			t.Fatal("it ended although nothing was canceled")
		}
		cancel()
		time.Sleep(CancelGrace - time.Second)
		synctest.Wait()
		if detached.Err() != nil {
			t.Fatal("it ended before the grace was over")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !errors.Is(detached.Err(), context.Canceled) {
			t.Errorf("after the grace: %v", detached.Err())
		}
	})
}

func TestDetached_EndsWhenStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	detached, stop := Detached(ctx, CancelGrace)
	cancel()
	stop()
	if !errors.Is(detached.Err(), context.Canceled) {
		t.Errorf("after stop: %v", detached.Err())
	}
}
