package provider

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Plugin is the server of the plugin protocol of one process: that of the framework with a few additions.
type Plugin struct {
	frameworkServer
	provider *gpurentProvider
	cleanup  *tfkit.Cleanup
	actions  sync.RWMutex // held for reading while an action runs
	run      atomic.Pointer[run]
}

// run is the time from a call of ConfigureProvider to StopProvider.
type run struct {
	ctx  context.Context // ends with the run
	stop context.CancelFunc
}

// frameworkServer is the part of the protocol that the provider uses.
type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
}

// NewPlugin returns the plugin of this process. Call it before the process serves the protocol.
func NewPlugin(version string) (*Plugin, error) {
	if err := os.Unsetenv(envProtoDataDir); err != nil {
		return nil, err
	}
	return newPlugin(version, new(process))
}

// Server returns a constructor for servers that share the state of one process.
func Server(version string) func() (tfprotov6.ProviderServer, error) {
	shared := new(process)
	return func() (tfprotov6.ProviderServer, error) { return newPlugin(version, shared) }
}

func newPlugin(version string, shared *process) (*Plugin, error) {
	p := &gpurentProvider{version: version, process: shared}
	served := providerserver.NewProtocol6(p)()
	framework, ok := served.(frameworkServer)
	if !ok {
		return nil, fmt.Errorf("the server of the framework, %T, lacks a part of the protocol", served)
	}
	plugin := &Plugin{frameworkServer: framework, provider: p, cleanup: &shared.cleanup}
	plugin.begin()
	return plugin, nil
}

func (p *Plugin) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	p.run.Store(&run{ctx, cancel})
}

// untilStopped returns a context that ends with ctx or with the run. The caller must call release.
func (p *Plugin) untilStopped(ctx context.Context) (stopped context.Context, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	run := p.run.Load().ctx
	detach := context.AfterFunc(run, cancel)
	if run.Err() != nil {
		cancel() // AfterFunc does it a moment later
	}
	return ctx, func() {
		detach()
		cancel()
	}
}

// ConfigureProvider begins a run, because a plugin that was attached to serves another one after StopProvider.
func (p *Plugin) ConfigureProvider(
	ctx context.Context, req *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	if p.run.Load().ctx.Err() != nil {
		p.begin()
	}
	return p.frameworkServer.ConfigureProvider(ctx, req)
}

// Finish must be called before the process ends. It revokes ephemeral objects until ctx ends, and returns an error for
// each object that it could not revoke. After it, the plugin creates none.
func (p *Plugin) Finish(ctx context.Context) []error { return p.cleanup.Run(ctx) }

// ValidateResourceConfig implements tfprotov6.ProviderServer.
func (p *Plugin) ValidateResourceConfig(
	ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest,
) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return released(ctx, p, p.frameworkServer.ValidateResourceConfig, req)
}

// UpgradeResourceState implements tfprotov6.ProviderServer.
func (p *Plugin) UpgradeResourceState(
	ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest,
) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return released(ctx, p, p.frameworkServer.UpgradeResourceState, req)
}

// ReadResource implements tfprotov6.ProviderServer.
func (p *Plugin) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	return released(ctx, p, p.frameworkServer.ReadResource, req)
}

// PlanResourceChange implements tfprotov6.ProviderServer.
func (p *Plugin) PlanResourceChange(
	ctx context.Context, req *tfprotov6.PlanResourceChangeRequest,
) (*tfprotov6.PlanResourceChangeResponse, error) {
	return released(ctx, p, p.frameworkServer.PlanResourceChange, req)
}

// ApplyResourceChange fails while the address or the key of the provider is unknown, because nothing can be changed.
func (p *Plugin) ApplyResourceChange(
	ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	if meta := p.provider.meta.Load(); meta != nil && !meta.Ready() {
		return &tfprotov6.ApplyResourceChangeResponse{
			NewState: req.PriorState, Private: req.PlannedPrivate, NewIdentity: req.PlannedIdentity,
			Diagnostics: []*tfprotov6.Diagnostic{unknownAtApply},
		}, nil
	}
	return released(ctx, p, p.frameworkServer.ApplyResourceChange, req)
}

// InvokeAction makes StopProvider wait for the action.
func (p *Plugin) InvokeAction(
	ctx context.Context, req *tfprotov6.InvokeActionRequest,
) (*tfprotov6.InvokeActionServerStream, error) {
	ctx, release := p.untilStopped(ctx)
	resp, err := p.frameworkServer.InvokeAction(ctx, req)
	if err != nil {
		release()
		return nil, err
	}
	events := resp.Events
	resp.Events = func(push func(tfprotov6.InvokeActionEvent) bool) {
		defer release()
		p.actions.RLock()
		defer p.actions.RUnlock()
		events(push)
	}
	return resp, nil
}

// stopTimeout limits the time that StopProvider waits for cancelled actions.
const stopTimeout = 10 * time.Second

// StopProvider cancels all calls, and those that arrive after it, which the framework would not: the CLI sends a call
// that it announced just before the interruption. It waits for the actions, because plugin-go drops the events of an
// action as soon as StopProvider has returned, including the final one with its error, and Terraform would report a
// success.
func (p *Plugin) StopProvider(
	ctx context.Context, req *tfprotov6.StopProviderRequest,
) (*tfprotov6.StopProviderResponse, error) {
	p.run.Load().stop()
	resp, err := p.frameworkServer.StopProvider(ctx, req)
	done := make(chan struct{})
	go func() {
		p.actions.Lock()
		defer p.actions.Unlock()
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
func (p *Plugin) CallFunction(
	ctx context.Context, req *tfprotov6.CallFunctionRequest,
) (*tfprotov6.CallFunctionResponse, error) {
	for i, argument := range req.Arguments {
		if argument == nil || len(argument.MsgPack) == 0 && len(argument.JSON) == 0 {
			req.Arguments[i] = null
		}
	}
	return released(ctx, p, p.frameworkServer.CallFunction, req)
}
