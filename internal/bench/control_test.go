package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/provider"
)

// providerFile is the name of a provider's program.
const providerFile = "terraform-provider-gpurent"

// gcPercent is the value of the provider.
const gcPercent = 400

// control is the provider without requests. It decodes and encodes plans and states as the provider does, reads every
// resource as its state, and creates every resource as planned.
type control struct {
	tfprotov6.ProviderServer
	schema *tfprotov6.GetProviderSchemaResponse
}

// TestMain serves the control if a CLI has started the tests under the name of the provider.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != providerFile {
		os.Exit(m.Run())
	}
	if err := serveControl(); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// serveControl starts as the provider does in internal/cli: without logs that the CLI discards, and with infrequent
// garbage collection.
func serveControl() error {
	debug.SetGCPercent(gcPercent)
	if err := errors.Join(os.Setenv("TF_LOG_SDK", "OFF"), os.Setenv("TF_LOG_PROVIDER_GPURENT", "OFF")); err != nil {
		return err
	}
	plugin, err := provider.NewPlugin("control")
	if err != nil {
		return err
	}
	schema, err := plugin.GetProviderSchema(context.Background(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return err
	}
	return tf6server.Serve("registry.terraform.io/gpurent/gpurent", func() tfprotov6.ProviderServer {
		return control{plugin, schema}
	})
}

// ConfigureProvider leaves the provider without a client, so that it sends no requests.
func (control) ConfigureProvider(
	context.Context, *tfprotov6.ConfigureProviderRequest,
) (*tfprotov6.ConfigureProviderResponse, error) {
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

// ReadResource returns the state as it is. The provider warns that it did not refresh, and control drops the warning.
func (c control) ReadResource(
	ctx context.Context, req *tfprotov6.ReadResourceRequest,
) (*tfprotov6.ReadResourceResponse, error) {
	resp, err := c.ProviderServer.ReadResource(ctx, req)
	if err == nil {
		resp.Diagnostics = nil
	}
	return resp, err
}

// ApplyResourceChange returns the plan, with null in place of unknown values.
func (c control) ApplyResourceChange(
	_ context.Context, req *tfprotov6.ApplyResourceChangeRequest,
) (*tfprotov6.ApplyResourceChangeResponse, error) {
	kind := c.schema.ResourceSchemas[req.TypeName].ValueType()
	planned, err := req.PlannedState.Unmarshal(kind)
	if err != nil {
		return nil, err
	}
	var attributes map[string]tftypes.Value
	if err := planned.As(&attributes); err != nil {
		return nil, err
	}
	for name, value := range attributes {
		if !value.IsKnown() {
			attributes[name] = tftypes.NewValue(value.Type(), nil)
		}
	}
	state, err := tfprotov6.NewDynamicValue(kind, tftypes.NewValue(kind, attributes))
	return &tfprotov6.ApplyResourceChangeResponse{NewState: &state}, err
}
