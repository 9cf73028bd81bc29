package instance

import (
	"context"
	"errors"

	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// explainNoOffer explains why no offer matches the queries of a failed creation. It returns an empty text after other
// errors.
func (r *instanceResource) explainNoOffer(ctx context.Context, queries []placement.Query, err error) tfkit.Text {
	e, ok := errors.AsType[*placement.Error](err)
	if !ok || e.Kind != placement.NoOffer && e.Waited == 0 || !e.Listed || e.Matching > 0 {
		return ""
	}
	filters := make([]rental.OfferQuery, len(queries))
	for i, query := range queries {
		filters[i] = query.OfferQuery
	}
	return r.explain(ctx, filters)
}

// explain describes for each query which filters exclude the available offers. It returns an empty text if the offers
// cannot be read.
func (r *instanceResource) explain(ctx context.Context, queries []rental.OfferQuery) tfkit.Text {
	return tfinstance.Explain(ctx, r.Meta, queries, func(i int) tfkit.Text {
		switch {
		case i > 0:
			return tfkit.Textf("fallback_queries[%d]: ", i-1)
		case len(queries) > 1:
			return "offer_query: "
		}
		return ""
	})
}
