package offer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ datasource.DataSourceWithConfigure = (*offerDataSource)(nil)

type offerDataSource struct{ tfkit.DataSource }

func newDataSource() datasource.DataSource {
	return &offerDataSource{tfkit.DataSource{Name: "offer", Public: true}}
}

// Schema implements datasource.DataSource.
func (d *offerDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := offerAttributes()
	attributes["id"] = schema.StringAttribute{
		Required: true, MarkdownDescription: "Id, as in `gpurent_offers`.",
		Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "One server of the market, by its id. Where it cannot be rented now and the service still tells of it, `available` is false; an offer that is gone is an error. " +
			"Works without an API key.\n\n" +
			"It changes all the time: availability within a minute, and prices with the market. To rent whatever suits best when it is applied, give the instance an `offer_query`.",
		Attributes: attributes,
	}
}

// Read implements datasource.DataSource.
func (d *offerDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	defer tfkit.MakePlain(&resp.Diagnostics)
	var id types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("id"), &id)...)
	if resp.Diagnostics.HasError() || !d.CanRead(&resp.Diagnostics) {
		return
	}
	offer, err := d.Meta.Client.GetOffer(ctx, id.ValueString())
	if err != nil {
		advice := ""
		if rental.IsNotFound(err) {
			advice = "Offers come and go: one leaves the market when it is rented or its host withdraws it, and availability is refreshed about every minute. " +
				"Look for another with the data source gpurent_offers, or let the instance choose when it is rented, with offer_query."
		}
		tfkit.AddErrorAdvising(&resp.Diagnostics, "read offer "+id.ValueString(), advice, err)
		return
	}
	tfkit.Shared[tfkit.OffersSeen](d.Meta).Put(offer)
	resp.Diagnostics.Append(resp.State.Set(ctx, fromAPI(offer))...)
}
