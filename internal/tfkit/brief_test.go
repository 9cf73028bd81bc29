package tfkit

import (
	"context"
	"runtime"
	"testing"
	"time"
)

type nameKey struct{}

func TestBriefContextIsTheOneItStandsFor(t *testing.T) {
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), nameKey{}, "x"))
	brief, end := Brief(ctx)
	defer end()
	child, stop := context.WithTimeout(brief, time.Hour)
	defer stop()
	if child.Value(nameKey{}) != "x" || child.Err() != nil {
		t.Errorf("value %v, error %v", child.Value(nameKey{}), child.Err())
	}
	cancel()
	<-child.Done()
	if brief.Err() == nil {
		t.Error("its end was not seen")
	}
}

func TestBriefContextLetsGo(t *testing.T) {
	gone := make(chan struct{})
	kept := func() context.Context {
		load := new([1 << 20]byte)
		runtime.AddCleanup(load, func(gone chan struct{}) { close(gone) }, gone)
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), nameKey{}, load))
		defer cancel()
		brief, end := Brief(ctx)
		defer end()
		kept, stop := context.WithCancel(brief)
		t.Cleanup(stop) // it is kept, as the framework keeps it
		return kept
	}()
	for range 100 {
		runtime.GC()
		select {
		case <-gone:
			if kept.Err() == nil {
				t.Error("it is not over")
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("what hung on the context is still held")
}

func TestLastingOutlivesTheCall(t *testing.T) {
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), nameKey{}, "x"))
	brief, end := Brief(ctx)
	inner, stop := context.WithCancel(brief)
	lasting := Lasting(inner)
	cancel()
	stop()
	end()
	if lasting.Err() != nil || lasting.Value(nameKey{}) != "x" {
		t.Errorf("error %v, value %v", lasting.Err(), lasting.Value(nameKey{}))
	}
	if plain := Lasting(context.WithValue(t.Context(), nameKey{}, "y")); plain.Value(nameKey{}) != "y" {
		t.Error("a context that is not brief lost its values")
	}
}
