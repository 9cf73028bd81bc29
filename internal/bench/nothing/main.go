// Command nothing is a provider with one resource that does nothing: what the
// framework alone costs, and so what the real one is measured against.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// address is that of the real provider, so that each can stand in for the other.
const address = "registry.terraform.io/gpurent/gpurent"

func main() {
	err := providerserver.Serve(context.Background(), func() provider.Provider { return nothing{} },
		providerserver.ServeOpts{Address: address, ProtocolVersion: 6})
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

type nothing struct{}

func (nothing) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "gpurent"
}

func (nothing) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (nothing) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}

func (nothing) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return thing{} }}
}

func (nothing) DataSources(context.Context) []func() datasource.DataSource { return nil }

type thing struct{}

func (thing) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "gpurent_thing"
}

func (thing) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{"id": schema.StringAttribute{Computed: true}}}
}

func (thing) Create(context.Context, resource.CreateRequest, *resource.CreateResponse) {}

func (thing) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (thing) Update(context.Context, resource.UpdateRequest, *resource.UpdateResponse) {}

func (thing) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
