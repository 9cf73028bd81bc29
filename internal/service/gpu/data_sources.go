package gpu

import (
	"cmp"
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*gpusDataSource)(nil)

type gpusDataSource struct{ tfkit.DataSource }

// NewDataSources returns the data source gpurent_gpus.
func NewDataSources() datasource.DataSource {
	return &gpusDataSource{tfkit.DataSource{Name: "gpus", Public: true}}
}

// gpusModel is the model of gpurent_gpus.
type gpusModel struct {
	GPUs []item `tfsdk:"gpus"`
}

// item is a GPU model in gpurent_gpu and gpurent_gpus. Prices are in kopecks per hour.
type item struct {
	Slug                  string `tfsdk:"slug"`
	Name                  string `tfsdk:"name"`
	VRAMGB                int64  `tfsdk:"vram_gb"`
	Tier                  string `tfsdk:"tier"`
	AvailableGPUs         int64  `tfsdk:"available_gpus"`
	FromKopH              *int64 `tfsdk:"from_kop_h"`
	FromInterruptibleKopH *int64 `tfsdk:"from_interruptible_kop_h"`
}

// Schema implements datasource.DataSource.
func (d *gpusDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads the GPU models, with their prices and the number of available GPUs. Works without " +
			"an API key.",
		Attributes: map[string]schema.Attribute{
			"gpus": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "GPU models, sorted by `slug`.",
				NestedObject:        schema.NestedAttributeObject{Attributes: modelAttributes()},
			},
		},
	}
}

func modelAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"slug":           tfkit.ComputedString("Slug of the model, as in the `gpu` filter of `gpurent_offers`."),
		"name":           tfkit.ComputedString("Name of the model."),
		"vram_gb":        tfkit.ComputedInt64("VRAM of each GPU in GB."),
		"tier":           tfkit.ComputedString("Class of the model: `consumer`, `workstation`, `datacenter` or `legacy`."),
		"available_gpus": tfkit.ComputedInt64("Number of GPUs that are available now."),
		"from_kop_h": tfkit.ComputedInt64("Lowest on-demand price of one GPU in kopecks per hour. Null if the API " +
			"returns none."),
		"from_interruptible_kop_h": tfkit.ComputedInt64("Lowest interruptible price of one GPU in kopecks per hour. Null " +
			"if the API returns none."),
	}
}

// itemFromAPI returns the model of a GPU model.
func itemFromAPI(m rental.GPUModel) item {
	return item{
		Slug: m.Slug, Name: m.Name, VRAMGB: m.VRAMGB, Tier: m.Tier, AvailableGPUs: m.AvailableGPUs,
		FromKopH: m.FromKopH, FromInterruptibleKopH: m.FromInterruptibleKopH,
	}
}

// Read implements datasource.DataSource.
func (d *gpusDataSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	listing := tfkit.ReadList(ctx, d.Meta.Cache.GPUs, "GPU models", &resp.Diagnostics)
	if listing == nil {
		return
	}
	models := slices.SortedFunc(slices.Values(listing.Items), func(a, b rental.GPUModel) int {
		return cmp.Compare(a.Slug, b.Slug)
	})
	state := gpusModel{GPUs: make([]item, len(models))}
	for i, m := range models {
		state.GPUs[i] = itemFromAPI(m)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}
