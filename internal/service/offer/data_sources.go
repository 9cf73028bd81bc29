package offer

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*offersDataSource)(nil)

// defaultResults is the default of max_results.
const defaultResults = 50

type offersDataSource struct{ tfkit.DataSource }

// NewDataSources returns the data source gpurent_offers.
func NewDataSources() datasource.DataSource {
	return &offersDataSource{tfkit.DataSource{Name: "offers", Public: true}}
}

// Read implements datasource.DataSource.
func (d *offersDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config offersModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || !d.CanRead(&resp.Diagnostics) {
		return
	}
	limit := int64(defaultResults)
	if !config.MaxResults.IsNull() {
		limit = config.MaxResults.ValueInt64()
	}
	query, diags := toQuery(ctx, config)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, skipped := tfkit.CollectSkipped(ctx)
	offers, err := d.Meta.Cache.OffersWithin(ctx, query, int(limit), 0)
	if err != nil {
		tfkit.AddAPIError(&resp.Diagnostics, "list offers", err, slices.Collect(maps.Keys(filters()))...)
		return
	}
	tfkit.WarnSkipped(&resp.Diagnostics, "offers", *skipped)
	tfinstance.CheckGPUs(ctx, d.Meta, path.Root("gpu"), config.GPU, &resp.Diagnostics)
	config.Offers, config.IDs = []item{}, []string{}
	for _, offer := range offers {
		config.Offers = append(config.Offers, fromAPI(offer))
		config.IDs = append(config.IDs, offer.ID)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, config)...)
}
