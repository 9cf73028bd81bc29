// Package offer implements the data sources gpurent_offer and gpurent_offers.
package offer

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

var _ datasource.DataSourceWithConfigure = (*offerDataSource)(nil)

type offerDataSource struct{ tfkit.DataSource }

// NewDataSource returns the data source gpurent_offer.
func NewDataSource() datasource.DataSource {
	return &offerDataSource{tfkit.DataSource{Name: "offer", Public: true}}
}

// Schema implements datasource.DataSource.
func (d *offerDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := offerAttributes()
	attributes["id"] = schema.StringAttribute{
		Required: true, MarkdownDescription: "Id of the offer, as in `gpurent_offers`. Must not be empty.",
		Validators: []validator.String{tfkit.NotEmpty()},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reads an offer by its id. An offer that the API no longer returns is an error. Works " +
			"without an API key.\n\nThe API refreshes the availability about every minute. To choose an offer at the " +
			"time of the apply, use `offer_query` of `gpurent_instance`.",
		Attributes: attributes,
	}
}

// Read implements datasource.DataSource.
func (d *offerDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var id types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("id"), &id)...)
	if d.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	offer, err := d.Meta.Client.GetOffer(ctx, id.ValueString())
	if err != nil {
		var advice tfkit.Text
		if rental.IsNotFound(err) {
			advice = "An offer is no longer listed when it is rented or its host withdraws it. Find another one with the " +
				"data source gpurent_offers, or use offer_query of gpurent_instance, which chooses an offer at the creation."
		}
		tfkit.AddAPIErrorAdvising(&resp.Diagnostics, tfkit.Textf("Cannot read offer %s", id.ValueString()), advice, err)
		return
	}
	d.Meta.Cache.KeepOffer(offer)
	resp.Diagnostics.Append(resp.State.Set(ctx, fromAPI(offer))...)
}
