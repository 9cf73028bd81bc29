package instance

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
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
		MarkdownDescription: "Filters for the offer to rent: the first available one in `order` that has room for " +
			"`disk_gb` and costs at most `max_price_kop_h`. `{}` accepts [any offer](../guides/picking-offers.md). Exactly " +
			"one of `offer_id` and `offer_query` is required. A later change forces a new resource to be created if " +
			"`replace_on` contains `offer_query`, or if the instance does not meet the changed `gpu`, `num_gpus`, `min_gpus`, " +
			"`min_vram_gb` or `country`, nor one of `fallback_queries`. Any other change has no effect and causes a warning.",
		Attributes: tfinstance.QueryArguments(),
	}
}

func fallbackQueriesAttribute() schema.ListNestedAttribute {
	return schema.ListNestedAttribute{
		Optional: true,
		MarkdownDescription: "Queries to try, in this order, when no offer of `offer_query` can be rented. Must not be " +
			"empty. Requires `offer_query`. A later change only updates the state.",
		NestedObject: schema.NestedAttributeObject{Attributes: tfinstance.QueryArguments()},
		Validators: []validator.List{
			listvalidator.SizeAtLeast(1), listvalidator.AlsoRequires(path.MatchRoot(argOfferQuery)),
		},
	}
}

// importedQuery returns an offer_query for an imported instance. The API does not return how an instance was rented,
// but exactly one of offer_id and offer_query is required. With this query, a generated configuration selects the same
// GPUs when the instance is replaced.
func (m model) importedQuery(ctx context.Context) types.Object {
	gpu := m.instance().GPU
	return tfinstance.QueryForGPU(ctx, gpu.Slug, gpu.Count)
}

// hardwareTerms are the filters of a query that an instance meets or not, whatever happens to the market.
var hardwareTerms = []string{"gpu", "num_gpus", "min_gpus", "min_vram_gb", "country"}

// changedTerms returns a query without the hardware terms of the prior one, which can be null. The instance was rented
// with those, so that a difference is another spelling.
func changedTerms(ctx context.Context, query, prior types.Object) types.Object {
	kinds, terms, before := query.AttributeTypes(ctx), query.Attributes(), prior.Attributes()
	null := tfkit.NullAttributes(ctx, kinds).Attributes()
	for _, name := range hardwareTerms {
		if before[name] != nil && before[name].Equal(terms[name]) {
			terms[name] = null[name]
		}
	}
	return types.ObjectValueMust(kinds, terms)
}

// missedByInstance returns the first hardware term of a query that an instance does not meet, empty if it meets all.
// Terms for fields that the API omits count as met.
func missedByInstance(inst rental.Instance, query rental.OfferQuery) tfkit.Text {
	gpu := inst.GPU
	switch {
	case len(query.GPU) > 0 && !slices.Contains(query.GPU, gpu.Slug):
		return tfkit.Textf("gpu (it has %s)", gpu.Slug)
	case len(query.NumGPUs) > 0 && !slices.Contains(query.NumGPUs, gpu.Count):
		return tfkit.Textf("num_gpus (it has %d)", gpu.Count)
	case query.MinGPUs != nil && gpu.Count < *query.MinGPUs:
		return tfkit.Textf("min_gpus (it has %d)", gpu.Count)
	case query.MinVRAMGB != nil && gpu.VRAMGB != nil && float64(*gpu.VRAMGB) < *query.MinVRAMGB:
		return tfkit.Textf("min_vram_gb (it has %d)", *gpu.VRAMGB)
	case len(query.Country) > 0 && inst.Country != nil && !containsFold(query.Country, *inst.Country):
		return tfkit.Textf("country (it is in %s)", *inst.Country)
	}
	return ""
}

func containsFold(texts []string, text string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.EqualFold(t, text) })
}
