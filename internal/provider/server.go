package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Server returns what makes the provider's side of the plugin protocol: the
// framework's, with calls whose contexts end with them.
func Server(version string) func() (tfprotov6.ProviderServer, error) {
	made := New(version)
	return func() (tfprotov6.ProviderServer, error) {
		framework, ok := providerserver.NewProtocol6(made())().(frameworkServer)
		if !ok {
			return nil, fmt.Errorf("the framework's server is a %T, which lacks a part of the protocol", framework)
		}
		return server{framework}, nil
	}
}

// frameworkServer is all of the protocol that is used.
type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ListResourceServer
	tfprotov6.ActionServer
}

// server is the framework's server. It hands brief contexts to the calls that are
// made once for every resource.
type server struct{ frameworkServer }

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
