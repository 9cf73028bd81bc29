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
		defer stop()
		stopped, stopNow := Detached(ctx)
		if stopNow(); stopped.Err() == nil {
			t.Error("stop does not end it")
		}
		time.Sleep(time.Hour)
		cancel()
		time.Sleep(detachedGrace - time.Second)
		if detached.Err() != nil {
			t.Error("it ended before the grace")
		}
		time.Sleep(time.Second)
		if synctest.Wait(); detached.Err() == nil {
			t.Error("it has not ended after the grace")
		}
	})
}
