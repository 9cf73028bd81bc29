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

// Plugin is the provider's side of the plugin protocol, as a process serves it.
type Plugin interface {
	tfprotov6.ProviderServer
	// Finish is called before the process ends. It undoes what was made for the
	// length of a run and is there yet, until ctx ends, and returns an error for each
	// thing that is left behind. Nothing of the kind is made from then on.
	Finish(ctx context.Context) []error
}

// NewPlugin makes one: the framework's server, with calls whose contexts end with
// them. It is called before the process begins to serve.
func NewPlugin(version string) (Plugin, error) {
	withheld, err := withholdProtocolData()
	if err != nil {
		return nil, err
	}
	return newServer(version, &process{protocolDataWithheld: withheld})
}

// Server returns what makes servers that belong to one process.
func Server(version string) func() (tfprotov6.ProviderServer, error) {
	shared := new(process)
	return func() (tfprotov6.ProviderServer, error) { return newServer(version, shared) }
}

func newServer(version string, shared *process) (Plugin, error) {
	made := &gpurentProvider{version: version, process: shared}
	framework, ok := providerserver.NewProtocol6(made)().(frameworkServer)
	if !ok {
		return nil, fmt.Errorf("the framework's server is a %T, which lacks a part of the protocol", framework)
	}
	return server{framework, made, &shared.cleanup, new(sync.RWMutex)}, nil
}

// frameworkServer is all of the protocol that is used.
type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
}

// server is the framework's server. It hands brief contexts to the calls that are
// made once for every resource.
type server struct {
	frameworkServer
	provider *gpurentProvider
	cleanup  *tfkit.Cleanup
	actions  *sync.RWMutex // held for reading while an action runs
}

// Finish implements Plugin.
func (s server) Finish(ctx context.Context) []error { return s.cleanup.Run(ctx) }

// ValidateProviderConfig records the call: see tfkit.Run.
func (s server) ValidateProviderConfig(ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	s.provider.validated.Store(true)
	return s.frameworkServer.ValidateProviderConfig(ctx, req)
}

// stopTimeout is how long StopProvider waits for interrupted actions to end.
const stopTimeout = 10 * time.Second

// StopProvider cancels all calls and waits for the actions among them. plugin-go drops the events of an action as soon
// as StopProvider has returned, the final one with its error included, and Terraform would report a success.
func (s server) StopProvider(ctx context.Context, req *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	resp, err := s.frameworkServer.StopProvider(ctx, req)
	ended := make(chan struct{})
	go func() {
		s.actions.Lock()
		defer s.actions.Unlock()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(stopTimeout):
	}
	return resp, err
}

// InvokeAction makes StopProvider wait for the action.
func (s server) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	resp, err := s.frameworkServer.InvokeAction(ctx, req)
	if err != nil {
		return nil, err
	}
	events := resp.Events
	resp.Events = func(push func(tfprotov6.InvokeActionEvent) bool) {
		s.actions.RLock()
		defer s.actions.RUnlock()
		events(push)
	}
	return resp, nil
}

// briefly makes a call whose context nobody can keep.
func briefly[Req, Resp any](ctx context.Context, call func(context.Context, Req) (Resp, error), req Req) (Resp, error) {
	brief, end := tfkit.Brief(ctx)
	defer end()
	return call(brief, req)
}

func (s server) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	return briefly(ctx, s.frameworkServer.ValidateResourceConfig, req)
}

func (s server) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	return briefly(ctx, s.frameworkServer.UpgradeResourceState, req)
}

func (s server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return briefly(ctx, s.frameworkServer.ReadResource, req)
}

func (s server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return briefly(ctx, s.frameworkServer.PlanResourceChange, req)
}

func (s server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return briefly(ctx, s.frameworkServer.ApplyResourceChange, req)
}

func (s server) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	return briefly(ctx, s.frameworkServer.ImportResourceState, req)
}

func (s server) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return briefly(ctx, s.frameworkServer.ReadDataSource, req)
}

// null is the value in the protocol's encoding.
var null = &tfprotov6.DynamicValue{MsgPack: []byte{0xc0}}

// CallFunction gives the framework the null arguments that it asks for: OpenTofu
// (seen in 1.12) sends nothing in their place, which the framework takes for an error.
func (s server) CallFunction(ctx context.Context, req *tfprotov6.CallFunctionRequest) (*tfprotov6.CallFunctionResponse, error) {
	for i, argument := range req.Arguments {
		if argument == nil || len(argument.MsgPack) == 0 && len(argument.JSON) == 0 {
			req.Arguments[i] = null
		}
	}
	return briefly(ctx, s.frameworkServer.CallFunction, req)
}
