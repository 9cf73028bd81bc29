// Package gpu implements the data sources gpurent_gpu and gpurent_gpus, the GPU models.
package gpu

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*gpuDataSource)(nil)

type gpuDataSource struct{ tfkit.DataSource }

// NewDataSource returns the data source gpurent_gpu.
func NewDataSource() datasource.DataSource {
	return &gpuDataSource{tfkit.DataSource{Name: "gpu", Public: true}}
}

var lookup = tfkit.Lookup[rental.GPUModel]{
	Kind: "GPU model", Key: "slug", List: "gpurent_gpus or the command \"terraform-provider-gpurent gpus\"",
	Describe: func(m rental.GPUModel) tfkit.Named { return tfkit.Named{Key: m.Slug, Name: m.Name} },
}

// Schema implements datasource.DataSource.
func (d *gpuDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := modelAttributes()
	attributes["slug"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "Slug of the model, as in the `gpu` filter of `gpurent_offers`. Must not be empty.",
		Validators:          []validator.String{tfkit.NotEmpty()},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads a GPU model by its slug, with its prices and the number of available GPUs. A slug " +
			"that does not exist is an error. Works without an API key.",
		Attributes: attributes,
	}
}

// Read implements datasource.DataSource.
func (d *gpuDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var slug types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("slug"), &slug)...)
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	listing := tfkit.ReadList(ctx, d.Meta.Cache.GPUs, "GPU models", &resp.Diagnostics)
	if listing == nil {
		return
	}
	if model, ok := lookup.Find(&resp.Diagnostics, slug.ValueString(), "", "", listing.Items); ok {
		resp.Diagnostics.Append(resp.State.Set(ctx, itemFromAPI(model))...)
	}
}
