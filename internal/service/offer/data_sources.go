package offer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*offersDataSource)(nil)

// defaultResults is max_results where it does not say.
const defaultResults = 50

type offersDataSource struct{ tfkit.DataSource }

func newDataSources() datasource.DataSource {
	return &offersDataSource{tfkit.DataSource{Name: "offers", Public: true}}
}

// Read implements datasource.DataSource.
func (d *offersDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var config offersModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || !d.CanRead(&resp.Diagnostics) {
		return
	}
	wanted := int64(defaultResults)
	if !config.MaxResults.IsNull() {
		wanted = config.MaxResults.ValueInt64()
	}
	query, diags := toQuery(ctx, config, wanted)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, skipped := tfkit.CollectSkipped(ctx)
	config.Offers, config.IDs = []item{}, []string{}
	seen := tfkit.Shared[tfkit.OffersSeen](d.Meta)
	for offer, err := range d.Meta.Client.ListOffers(ctx, query) {
		if err != nil {
			tfkit.AddError(&resp.Diagnostics, "list offers", err, append([]string{"type", "max_price_kop_h"}, tfkit.OfferFilterNames...)...)
			return
		}
		seen.Put(offer)
		config.Offers = append(config.Offers, fromAPI(offer))
		config.IDs = append(config.IDs, offer.ID)
		if int64(len(config.IDs)) == wanted {
			break
		}
	}
	skipped.Warn(&resp.Diagnostics, "offers")
	resp.Diagnostics.Append(resp.State.Set(ctx, config)...)
}
