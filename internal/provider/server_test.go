package provider

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// framework is a server whose action sends its last event some time after the provider was stopped, and whose apply
// returns the error of its context.
type framework struct {
	frameworkServer
	stopped chan struct{}
}

func (f framework) StopProvider(
	context.Context, *tfprotov6.StopProviderRequest,
) (*tfprotov6.StopProviderResponse, error) {
	close(f.stopped)
	return &tfprotov6.StopProviderResponse{}, nil
}

func (f framework) InvokeAction(
	context.Context, *tfprotov6.InvokeActionRequest,
) (*tfprotov6.InvokeActionServerStream, error) {
	return &tfprotov6.InvokeActionServerStream{Events: func(push func(tfprotov6.InvokeActionEvent) bool) {
		push(tfprotov6.InvokeActionEvent{})
		<-f.stopped
		time.Sleep(20 * time.Millisecond)
		push(tfprotov6.InvokeActionEvent{})
	}}, nil
}

func (framework) ConfigureProvider(
	context.Context, *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

func (framework) ApplyResourceChange(
	ctx context.Context, _ *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return nil, ctx.Err()
}

// newFake returns a plugin with the fake framework.
func newFake(t *testing.T) *Plugin {
	t.Helper()
	p, err := NewPlugin("test")
	if err != nil {
		t.Fatal(err)
	}
	p.frameworkServer = framework{stopped: make(chan struct{})}
	return p
}

func TestServer_StopProviderWaitsForActions(t *testing.T) {
	s := newFake(t)
	action, err := s.InvokeAction(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var sent atomic.Int32
	running := make(chan struct{}, 2)
	go action.Events(func(tfprotov6.InvokeActionEvent) bool {
		sent.Add(1)
		running <- struct{}{}
		return true
	})
	<-running
	if _, err := s.StopProvider(t.Context(), nil); err != nil || sent.Load() != 2 {
		t.Errorf("%d events before the provider stopped (%v), want 2", sent.Load(), err)
	}
}

// A busy machine can deliver a call after the StopProvider that should end it.
func TestServer_StopProviderCancelsLaterCalls(t *testing.T) {
	s := newFake(t)
	if _, err := s.StopProvider(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ApplyResourceChange(t.Context(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a call after StopProvider: %v, want a canceled context", err)
	}
	if _, err := s.ConfigureProvider(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ApplyResourceChange(t.Context(), nil); err != nil {
		t.Errorf("a call of the next run: %v", err)
	}
}

func TestPlugin_RejectsFrameDumps(t *testing.T) {
	for godebug, refused := range map[string]bool{
		"": false, "http2debug=1": false, "http2client=0": false, "http2debug=2": true, "gctrace=1,http2debug=2": true,
	} {
		t.Setenv(envGODEBUG, godebug)
		plugin, err := NewPlugin("test")
		if err != nil {
			t.Fatal(err)
		}
		schema, err := plugin.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(schema.Diagnostics) > 0; got != refused {
			t.Errorf("GODEBUG=%s: refused %t, want %t: %v", godebug, got, refused, schema.Diagnostics)
		}
	}
}
