package provider

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Plugin is the server of the plugin protocol of one process.
type Plugin interface {
	tfprotov6.ProviderServer
	// Finish must be called before the process ends. It revokes ephemeral objects until ctx ends, and returns an error for
	// each object that it could not revoke. After it, the plugin creates none.
	Finish(ctx context.Context) []error
}

// NewPlugin returns the plugin of this process. Call it before the process serves the protocol.
func NewPlugin(version string) (Plugin, error) {
	withheld, err := withholdProtocolData()
	if err != nil {
		return nil, err
	}
	return newServer(version, &process{protocolDataWithheld: withheld})
}

// Server returns a constructor for servers that share the state of one process.
func Server(version string) func() (tfprotov6.ProviderServer, error) {
	shared := new(process)
	return func() (tfprotov6.ProviderServer, error) { return newServer(version, shared) }
}

func newServer(version string, shared *process) (Plugin, error) {
	p := &gpurentProvider{version: version, process: shared}
	served := providerserver.NewProtocol6(p)()
	framework, ok := served.(frameworkServer)
	if !ok {
		return nil, fmt.Errorf("the server of the framework, %T, lacks a part of the protocol", served)
	}
	return &server{frameworkServer: framework, provider: p, cleanup: &shared.cleanup}, nil
}

// frameworkServer is the part of the protocol that the provider uses.
type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
}

// server wraps the server of the framework. All responses pass through call, which sanitizes their diagnostics.
type server struct {
	frameworkServer
	provider *gpurentProvider
	cleanup  *tfkit.Cleanup
	actions  sync.RWMutex // held for reading while an action runs
}

// call calls a method of the framework server with a context that is released afterwards, and sanitizes the
// diagnostics of the response.
func call[Req, Resp any](
	ctx context.Context, method func(context.Context, Req) (Resp, error), req Req,
	diagnostics func(Resp) []*tfprotov6.Diagnostic,
) (Resp, error) {
	ctx, release := tfkit.WithRelease(ctx)
	defer release()
	resp, err := method(ctx, req)
	if err == nil {
		sanitize(diagnostics(resp))
	}
	return resp, err
}

func sanitize(diagnostics []*tfprotov6.Diagnostic) {
	for _, d := range diagnostics {
		d.Summary, d.Detail = tfkit.OneLine(d.Summary), tfkit.Sanitize(d.Detail)
	}
}

// Finish implements Plugin.
func (s *server) Finish(ctx context.Context) []error { return s.cleanup.Run(ctx) }

func (s *server) ValidateProviderConfig(
	ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest,
) (*tfprotov6.ValidateProviderConfigResponse, error) {
	return call(ctx, s.frameworkServer.ValidateProviderConfig, req,
		func(r *tfprotov6.ValidateProviderConfigResponse) []*tfprotov6.Diagnostic { return r.Diagnostics })
}

func (s *server) ConfigureProvider(
	ctx context.Context, req *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	return call(ctx, s.frameworkServer.ConfigureProvider, req,
		func(r *tfprotov6.ConfigureProviderResponse) []*tfprotov6.Diagnostic { return r.Diagnostics })
}

func (s *server) ValidateResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return call(ctx, s.frameworkServer.ValidateResourceConfig, req,
		func(r *tfprotov6.ValidateResourceConfigResponse) []*tfprotov6.Diagnostic { return r.Diagnostics })
}

func (s *server) UpgradeResourceState(
	ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest,
) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return call(ctx, s.frameworkServer.UpgradeResourceState, req,
		func(r *tfprotov6.UpgradeResourceStateResponse) []*tfprotov6.Diagnostic { return r.Diagnostics })
}

func (s *server) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	return call(ctx, s.frameworkServer.ReadResource, req,
		func(r *tfprotov6.ReadResourceResponse) []*tfprotov6.Diagnostic { return r.Diagnostics })
}

func (s *server) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	return call(ctx, s.frameworkServer.PlanResourceChange, req,
		func(r *tfprotov6.PlanResourceChangeResponse) []*tfprotov6.Diagnostic { return r.Diagnostics })
}

func (s *server) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	if meta := s.provider.meta.Load(); meta != nil && !meta.Ready() {
		return s.applyUnknown(ctx, meta, req)
	}
	return s.apply(ctx, req)
}

func (s *server) apply(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return call(ctx, s.frameworkServer.ApplyResourceChange, req,
		func(r *tfprotov6.ApplyResourceChangeResponse) []*tfprotov6.Diagnostic { return r.Diagnostics })
}

func (s *server) ImportResourceState(
	ctx context.Context, req *tfprotov6.ImportResourceStateRequest,
) (*tfprotov6.ImportResourceStateResponse, error) {
	return call(ctx, s.frameworkServer.ImportResourceState, req,
		func(r *tfprotov6.ImportResourceStateResponse) []*tfprotov6.Diagnostic { return r.Diagnostics })
}

func (s *server) ReadDataSource(
	ctx context.Context, req *tfprotov6.ReadDataSourceRequest,
) (*tfprotov6.ReadDataSourceResponse, error) {
	return call(ctx, s.frameworkServer.ReadDataSource, req,
		func(r *tfprotov6.ReadDataSourceResponse) []*tfprotov6.Diagnostic { return r.Diagnostics })
}

// OpenEphemeralResource does not release the context: the revocation at the end of the process logs with its values.
func (s *server) OpenEphemeralResource(
	ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest,
) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	resp, err := s.frameworkServer.OpenEphemeralResource(ctx, req)
	if err == nil {
		sanitize(resp.Diagnostics)
	}
	return resp, err
}

func (s *server) CloseEphemeralResource(
	ctx context.Context, req *tfprotov6.CloseEphemeralResourceRequest,
) (*tfprotov6.CloseEphemeralResourceResponse, error) {
	return call(ctx, s.frameworkServer.CloseEphemeralResource, req,
		func(r *tfprotov6.CloseEphemeralResourceResponse) []*tfprotov6.Diagnostic { return r.Diagnostics })
}

func (s *server) PlanAction(
	ctx context.Context, req *tfprotov6.PlanActionRequest,
) (*tfprotov6.PlanActionResponse, error) {
	return call(ctx, s.frameworkServer.PlanAction, req,
		func(r *tfprotov6.PlanActionResponse) []*tfprotov6.Diagnostic { return r.Diagnostics })
}

// ListResource sanitizes the diagnostics of the results.
func (s *server) ListResource(
	ctx context.Context, req *tfprotov6.ListResourceRequest,
) (*tfprotov6.ListResourceServerStream, error) {
	resp, err := s.frameworkServer.ListResource(ctx, req)
	if err != nil {
		return nil, err
	}
	results := resp.Results
	resp.Results = func(push func(tfprotov6.ListResourceResult) bool) {
		for result := range results {
			sanitize(result.Diagnostics)
			if !push(result) {
				return
			}
		}
	}
	return resp, nil
}

// InvokeAction sanitizes the diagnostics of the events, and makes StopProvider wait for the action.
func (s *server) InvokeAction(
	ctx context.Context, req *tfprotov6.InvokeActionRequest,
) (*tfprotov6.InvokeActionServerStream, error) {
	resp, err := s.frameworkServer.InvokeAction(ctx, req)
	if err != nil {
		return nil, err
	}
	events := resp.Events
	resp.Events = func(push func(tfprotov6.InvokeActionEvent) bool) {
		s.actions.RLock()
		defer s.actions.RUnlock()
		for event := range events {
			if completed, ok := event.Type.(tfprotov6.CompletedInvokeActionEventType); ok {
				sanitize(completed.Diagnostics)
			}
			if !push(event) {
				return
			}
		}
	}
	return resp, nil
}

// stopTimeout limits the time that StopProvider waits for cancelled actions.
const stopTimeout = 10 * time.Second

// StopProvider cancels all calls and waits for the actions among them. plugin-go drops the events of an action as soon
// as StopProvider has returned, including the final one with its error, and Terraform would report a success.
func (s *server) StopProvider(
	ctx context.Context, req *tfprotov6.StopProviderRequest,
) (*tfprotov6.StopProviderResponse, error) {
	resp, err := s.frameworkServer.StopProvider(ctx, req)
	done := make(chan struct{})
	go func() {
		s.actions.Lock()
		defer s.actions.Unlock()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(stopTimeout):
	}
	return resp, err
}

// null is a null value in the encoding of the protocol.
var null = &tfprotov6.DynamicValue{MsgPack: []byte{0xc0}}

// CallFunction sets missing arguments to null. OpenTofu (seen in 1.12) omits null arguments, which the framework treats
// as an error.
func (s *server) CallFunction(
	ctx context.Context, req *tfprotov6.CallFunctionRequest,
) (*tfprotov6.CallFunctionResponse, error) {
	for i, argument := range req.Arguments {
		if argument == nil || len(argument.MsgPack) == 0 && len(argument.JSON) == 0 {
			req.Arguments[i] = null
		}
	}
	resp, err := call(ctx, s.frameworkServer.CallFunction, req,
		func(*tfprotov6.CallFunctionResponse) []*tfprotov6.Diagnostic { return nil })
	if err == nil && resp.Error != nil {
		resp.Error.Text = tfkit.Sanitize(resp.Error.Text)
	}
	return resp, err
}
