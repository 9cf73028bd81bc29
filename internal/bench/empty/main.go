// Command empty is a provider with one resource that does nothing: the cost of the framework alone.
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

// address is the address of the provider, so that the same configuration finds both.
const address = "registry.terraform.io/gpurent/gpurent"

func main() {
	err := providerserver.Serve(context.Background(), func() provider.Provider { return emptyProvider{} },
		providerserver.ServeOpts{Address: address, ProtocolVersion: 6})
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

type emptyProvider struct{}

func (emptyProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "gpurent"
}

func (emptyProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (emptyProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}

func (emptyProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return emptyResource{} }}
}

func (emptyProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }

type emptyResource struct{}

func (emptyResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "gpurent_empty"
}

func (emptyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{"id": schema.StringAttribute{Computed: true}}}
}

func (emptyResource) Create(context.Context, resource.CreateRequest, *resource.CreateResponse) {}

func (emptyResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (emptyResource) Update(context.Context, resource.UpdateRequest, *resource.UpdateResponse) {}

func (emptyResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
