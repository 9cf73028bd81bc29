package offer

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
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
	if len(query.GPU) > 0 {
		d.warnUnknownGPUs(ctx, query.GPU, &resp.Diagnostics)
	}
	items, ids := []item{}, []string{}
	for _, offer := range offers {
		items = append(items, fromAPI(offer))
		ids = append(ids, offer.ID)
	}
	resp.State.Raw = req.Config.Raw
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("offers"), items)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("ids"), ids)...)
}

// warnUnknownGPUs warns of slugs that no GPU model has. It does not print them: a message contains no value of an
// argument, because that may be sensitive. A list that cannot be read, or not completely, is ignored.
func (d *offersDataSource) warnUnknownGPUs(ctx context.Context, slugs []string, diags *diag.Diagnostics) {
	models, err := d.Meta.Cache.GPUs.List(ctx)
	if err != nil || len(models.Skipped) > 0 {
		return
	}
	unknown := slices.DeleteFunc(slices.Clone(slugs), func(slug string) bool {
		_, found := models.Find(slug)
		return found
	})
	if len(unknown) > 0 {
		tfkit.AddAttributeWarning(diags, path.Root("gpu"), "No such GPU model", tfkit.Textf("Slugs in gpu that are no GPU "+
			"model: %d of %d. To list all models, run \"terraform-provider-gpurent gpus\".",
			len(unknown), len(slugs)))
	}
}
