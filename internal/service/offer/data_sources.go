package offer

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
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
	var config types.Object
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	limit := cmp.Or(tfkit.Int64Of(config.Attributes()["max_results"]), defaultResults)
	query := tfkit.OfferQuery(config)
	var skipped []rental.Skipped
	query.Skipped = &skipped
	offers, err := d.Meta.Cache.OffersWithin(ctx, query, int(limit), 0)
	if err != nil {
		tfkit.AddAPIError(&resp.Diagnostics, "list offers", err, slices.Collect(maps.Keys(filters()))...)
		return
	}
	tfkit.WarnSkipped(&resp.Diagnostics, "offers", skipped)
	tfinstance.CheckGPUs(ctx, d.Meta, path.Root("gpu"), query.GPU, &resp.Diagnostics)
	items, ids := []item{}, []string{}
	for _, offer := range offers {
		items = append(items, fromAPI(offer))
		ids = append(ids, offer.ID)
	}
	resp.State.Raw = req.Config.Raw
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("offers"), items)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("ids"), ids)...)
}
