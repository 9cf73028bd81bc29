package tfinstance

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// QueryArguments are the attributes of a query.
func QueryArguments() map[string]schema.Attribute {
	return tfkit.ForResource(tfkit.OfferFilterAttributes())
}

// QueryType has the types of QueryArguments.
var QueryType = AttributeTypes(schema.SingleNestedAttribute{Attributes: QueryArguments()})

// Query returns the query of an object with QueryArguments and with the other arguments that restrict the offers. It
// omits unknown filters.
func (a Arguments) Query(object types.Object) rental.OfferQuery {
	query := tfkit.OfferQuery(object)
	query.Type = rental.RentalType(a.Type.ValueString())
	if limit := a.MaxPriceKopH.ValueInt64(); limit > 0 {
		query.MaxPriceKopH = &limit
	}
	if disk := float64(a.DiskGB.ValueInt64()); disk > 0 && (query.MinDiskGB == nil || *query.MinDiskGB < disk) {
		query.MinDiskGB = &disk
	}
	return query
}

// Queries returns the queries of objects. It omits unknown ones.
func (a Arguments) Queries(objects []attr.Value) (queries []rental.OfferQuery) {
	for _, element := range objects {
		if object, ok := element.(types.Object); ok && !object.IsNull() && !object.IsUnknown() {
			queries = append(queries, a.Query(object))
		}
	}
	return queries
}

// QueryForGPU returns a query that selects a GPU model and a number of GPUs.
func QueryForGPU(ctx context.Context, slug string, gpus int64) types.Object {
	filters := tfkit.NullAttributes(ctx, QueryType).Attributes()
	filters["gpu"] = types.SetValueMust(types.StringType, []attr.Value{types.StringValue(slug)})
	if slices.Contains(tfkit.GPUCounts, gpus) {
		filters["num_gpus"] = types.SetValueMust(types.Int64Type, []attr.Value{types.Int64Value(gpus)})
	} else {
		filters["min_gpus"] = types.Int64Value(gpus)
	}
	return types.ObjectValueMust(QueryType, filters)
}
