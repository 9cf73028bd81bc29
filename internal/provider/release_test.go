package provider

import (
	"context"
	"runtime"
	"testing"
	"time"
)

type nameKey struct{}

func TestRelease_InheritsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), nameKey{}, "x"))
	released, release := withRelease(ctx)
	defer release()
	child, stop := context.WithTimeout(released, time.Hour)
	defer stop()
	if child.Value(nameKey{}) != "x" || child.Err() != nil {
		t.Errorf("value %v, error %v", child.Value(nameKey{}), child.Err())
	}
	cancel()
	<-child.Done()
	if released.Err() == nil {
		t.Error("the released context outlives its parent")
	}
}

func TestRelease_ReleasesContext(t *testing.T) {
	gone := make(chan struct{})
	child := func() context.Context {
		load := new([1 << 20]byte)
		runtime.AddCleanup(load, func(gone chan struct{}) { close(gone) }, gone)
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), nameKey{}, load))
		defer cancel()
		released, release := withRelease(ctx)
		defer release()
		child, stop := context.WithCancel(released)
		t.Cleanup(stop) // keeps the child, like the framework
		return child
	}()
	for range 100 {
		runtime.GC()
		select {
		case <-gone:
			if child.Err() == nil {
				t.Error("the child is not canceled")
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("the context is still referenced")
}
