package tfinstance

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const (
	defaultAttempts = 5
	maxAttemptsEver = 50
)

// Query is the object of a query: offer_query, or one of fallback_queries.
type Query struct {
	tfkit.OfferFilters
	MaxAttempts types.Int64 `tfsdk:"max_attempts"`
}

// QueryArguments are the attributes of a query.
func QueryArguments() map[string]schema.Attribute {
	arguments := tfkit.OfferFilterArguments()
	arguments["max_attempts"] = schema.Int64Attribute{
		Optional: true,
		MarkdownDescription: "Maximum number of offers to try for one creation, with `wait_for_offer` for each look " +
			"at the offers. Must be between 1 and 50. Defaults to `5`.",
		Validators: []validator.Int64{int64validator.Between(1, maxAttemptsEver)},
	}
	return arguments
}

// QueryType has the types of QueryArguments.
var QueryType = AttributeTypes(schema.SingleNestedAttribute{Attributes: QueryArguments()})

// Query returns the query of an object, which has the attributes of Query, with the other arguments that restrict the
// offers. It omits unknown filters.
func (a Arguments) Query(ctx context.Context, object types.Object) (market.Query, diag.Diagnostics) {
	var parts Query
	diags := object.As(ctx, &parts, basetypes.ObjectAsOptions{})
	filters, problems := parts.Query(ctx)
	diags.Append(problems...)
	query := market.Query{OfferQuery: filters, MaxAttempts: defaultAttempts}
	if attempts := parts.MaxAttempts.ValueInt64(); attempts > 0 {
		query.MaxAttempts = int(attempts)
	}
	query.Type = rental.RentalType(a.Type.ValueString())
	if limit := a.MaxPriceKopH.ValueInt64(); limit > 0 {
		query.MaxPriceKopH = &limit
	}
	if disk := float64(a.DiskGB.ValueInt64()); disk > 0 && (query.MinDiskGB == nil || *query.MinDiskGB < disk) {
		query.MinDiskGB = &disk
	}
	return query, diags
}

// Queries returns the queries of objects. It omits unknown ones.
func (a Arguments) Queries(ctx context.Context, objects []attr.Value) (queries []market.Query, diags diag.Diagnostics) {
	for _, element := range objects {
		object, ok := element.(types.Object)
		if !ok || object.IsNull() || object.IsUnknown() {
			continue
		}
		query, problems := a.Query(ctx, object)
		diags.Append(problems...)
		queries = append(queries, query)
	}
	return queries, diags
}

// QueryForGPU returns a query that selects a GPU model and a number of GPUs.
func QueryForGPU(ctx context.Context, slug string, gpus int64) types.Object {
	count, atLeast := types.SetNull(types.Int64Type), types.Int64Null()
	if slices.Contains(tfkit.GPUCounts, gpus) {
		count = types.SetValueMust(types.Int64Type, []attr.Value{types.Int64Value(gpus)})
	} else {
		atLeast = types.Int64Value(gpus)
	}
	object, _ := types.ObjectValueFrom(ctx, QueryType, Query{OfferFilters: tfkit.OfferFilters{
		GPU:     types.SetValueMust(types.StringType, []attr.Value{types.StringValue(slug)}),
		NumGPUs: count, MinGPUs: atLeast, Country: types.SetNull(types.StringType),
		ExcludeCountries: types.SetNull(types.StringType), ExcludeOfferIDs: types.SetNull(types.StringType),
	}})
	return object
}
