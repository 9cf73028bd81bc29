package instance

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// defaultAttempts is max_attempts where it does not say.
const (
	defaultAttempts = 5
	mostAttempts    = 50
)

// queryModel is offer_query.
type queryModel struct {
	tfkit.OfferFilters
	MaxAttempts types.Int64 `tfsdk:"max_attempts"`
}

func queryAttribute() schema.SingleNestedAttribute {
	arguments := tfkit.OfferFilterArguments()
	arguments["max_attempts"] = schema.Int64Attribute{
		Optional:            true,
		MarkdownDescription: "How many offers to try to rent before giving up, when others are quicker: 5 by default, at most 50.",
		Validators:          []validator.Int64{int64validator.Between(1, mostAttempts)},
	}
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "What kind of server to rent, in the filters of `gpurent_offers`; `{}` takes any. Exactly one of `offer_id` and `offer_query` is needed. The offer is " +
			"chosen when the server is rented: the first in `order` (cheapest by default) that is still there, has room for `disk_gb`, costs at most `max_price_kop_h` and is not taken by another " +
			"server of the same run. A later change plans nothing and draws a warning, unless the server no longer meets `gpu`, `num_gpus`, `min_gpus`, `min_vram_gb` or `country`: " +
			"then it is replaced. `replace_on` can name it.",
		Attributes: arguments,
	}
}

// readQuery takes the object apart. What is unknown in it filters nothing.
func readQuery(ctx context.Context, object types.Object) (queryModel, diag.Diagnostics) {
	var m queryModel
	if object.IsNull() || object.IsUnknown() {
		return m, nil
	}
	diags := object.As(ctx, &m, basetypes.ObjectAsOptions{})
	return m, diags
}

// attempts is how many offers may be tried.
func (m queryModel) attempts() int64 {
	if m.MaxAttempts.IsNull() || m.MaxAttempts.IsUnknown() {
		return defaultAttempts
	}
	return m.MaxAttempts.ValueInt64()
}

// offerQuery is the whole search for a server: the filters, and what stands on
// the instance itself.
func offerQuery(ctx context.Context, m model) (rental.OfferQuery, diag.Diagnostics) {
	parts, diags := readQuery(ctx, m.OfferQuery)
	query, problems := parts.Query(ctx)
	diags.Append(problems...)
	query.Type = rental.RentalType(m.Type.ValueString())
	if limit := m.MaxPriceKopH.ValueInt64(); limit > 0 {
		query.MaxPriceKopH = &limit
	}
	if disk := float64(m.DiskGB.ValueInt64()); disk > 0 && (query.MinDiskGB == nil || *query.MinDiskGB < disk) {
		query.MinDiskGB = &disk
	}
	return query, diags
}

// standIn is the offer_query of a server that was imported. The service does not tell
// how it was rented, but an instance has offer_id or offer_query: a configuration that
// is written for it gets the same GPUs again when the server is ever replaced.
func standIn(ctx context.Context, h hardware) (types.Object, diag.Diagnostics) {
	count, atLeast := types.SetNull(types.Int64Type), types.Int64Null()
	if slices.Contains(tfkit.GPUCounts, h.count) {
		count = types.SetValueMust(types.Int64Type, []attr.Value{types.Int64Value(h.count)})
	} else {
		atLeast = types.Int64Value(h.count)
	}
	query := queryModel{OfferFilters: tfkit.OfferFilters{
		GPU:     types.SetValueMust(types.StringType, []attr.Value{types.StringValue(h.gpu)}),
		NumGPUs: count, MinGPUs: atLeast, Country: types.SetNull(types.StringType),
	}}
	object, _ := queryAttribute().GetType().(types.ObjectType)
	return types.ObjectValueFrom(ctx, object.AttrTypes, query)
}

// hardware is what a running server is, as far as a query has terms for it.
type hardware struct {
	gpu     string
	count   int64
	vramGB  *int64
	country *string
}

func hardwareOf(ctx context.Context, m model) (hardware, diag.Diagnostics) {
	var gpu struct {
		Slug   string `tfsdk:"slug"`
		Name   string `tfsdk:"name"`
		Count  int64  `tfsdk:"count"`
		VRAMGB *int64 `tfsdk:"vram_gb"`
	}
	diags := m.GPU.As(ctx, &gpu, basetypes.ObjectAsOptions{})
	return hardware{gpu.Slug, gpu.Count, gpu.VRAMGB, m.Country.ValueStringPointer()}, diags
}

// misses says which hardware term of a query the server does not meet; empty
// when it meets all. What the service does not tell of a server is not held
// against it.
func (h hardware) misses(query rental.OfferQuery) string {
	switch {
	case len(query.GPU) > 0 && !slices.Contains(query.GPU, h.gpu):
		return fmt.Sprintf("gpu (it has %s)", tfkit.OneLine(h.gpu))
	case len(query.NumGPUs) > 0 && !slices.Contains(query.NumGPUs, h.count):
		return fmt.Sprintf("num_gpus (it has %d)", h.count)
	case query.MinGPUs != nil && h.count < *query.MinGPUs:
		return fmt.Sprintf("min_gpus (it has %d)", h.count)
	case query.MinVRAMGB != nil && h.vramGB != nil && float64(*h.vramGB) < *query.MinVRAMGB:
		return fmt.Sprintf("min_vram_gb (it has %d)", *h.vramGB)
	case len(query.Country) > 0 && h.country != nil && !slices.Contains(query.Country, *h.country):
		return fmt.Sprintf("country (it stands in %s)", tfkit.OneLine(*h.country))
	}
	return ""
}
