package instance

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

func queryAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Filters for the offer to rent, as in `gpurent_offers`. `{}` accepts any offer. Exactly " +
			"one of `offer_id` and `offer_query` is required. The provider rents the first available offer in `order` " +
			"that has room for `disk_gb` and costs at most `max_price_kop_h`. Instances of the same run get different " +
			"offers. Applies at creation only: a later change plans nothing and causes a warning, unless `replace_on` " +
			"contains `offer_query`. A change to a `gpu`, `num_gpus`, `min_gpus`, `min_vram_gb` or `country` that the " +
			"instance does not meet forces a new resource to be created, unless the instance meets one of " +
			"`fallback_queries`.",
		Attributes: tfinstance.QueryArguments(),
	}
}

func fallbackQueriesAttribute() schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Optional: true,
		MarkdownDescription: "Further queries in order of preference, each with its own filters. The provider tries them " +
			"when no offer of `offer_query` can be rented. Must not be empty. Requires `offer_query`. Applies at creation " +
			"only. `max_price_kop_h` and `disk_gb` apply to each query. Changed in place.",
		NestedObject: schema.NestedAttributeObject{Attributes: tfinstance.QueryArguments()},
		Validators:   []validator.List{listvalidator.SizeAtLeast(1)},
	}
}

// importedQuery returns an offer_query for an imported instance. The API does not return how an instance was rented,
// but exactly one of offer_id and offer_query is required. With this query, a generated configuration selects the same
// GPUs when the instance is replaced.
func importedQuery(ctx context.Context, h hardware) types.Object {
	object, _ := queryAttribute().GetType().(types.ObjectType)
	return tfinstance.QueryForGPU(ctx, h.gpu, h.count, object.AttrTypes)
}

// hardware is the hardware of an instance for which a query has terms.
type hardware struct {
	gpu     string
	count   int64
	vramGB  *int64
	country *string
}

// missedTerm returns the first hardware term of a query that the instance does not meet, empty if it meets all. Terms
// for fields that the API omits count as met.
func (h hardware) missedTerm(query rental.OfferQuery) tfkit.Text {
	switch {
	case len(query.GPU) > 0 && !slices.Contains(query.GPU, h.gpu):
		return tfkit.Textf("gpu (it has %s)", h.gpu)
	case len(query.NumGPUs) > 0 && !slices.Contains(query.NumGPUs, h.count):
		return tfkit.Textf("num_gpus (it has %d)", h.count)
	case query.MinGPUs != nil && h.count < *query.MinGPUs:
		return tfkit.Textf("min_gpus (it has %d)", h.count)
	case query.MinVRAMGB != nil && h.vramGB != nil && float64(*h.vramGB) < *query.MinVRAMGB:
		return tfkit.Textf("min_vram_gb (it has %d)", *h.vramGB)
	case len(query.Country) > 0 && h.country != nil && !slices.Contains(query.Country, *h.country):
		return tfkit.Textf("country (it is in %s)", *h.country)
	}
	return ""
}
