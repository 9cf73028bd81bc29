package placement

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Estimate returns the current price of the first offer of the queries, in order, that no planned instance of this run
// uses. It ignores the offer except, from which the instance to replace is rented; empty for none. If found is false,
// matching is the number of offers that match the queries.
func (p *Placer) Estimate(
	ctx context.Context, queries []rental.OfferQuery, except string,
) (kopH int64, found bool, matching int, err error) {
	for _, query := range queries {
		price, found, matches, err := p.estimate(ctx, query, except)
		if found || err != nil {
			return price, found, matches, err
		}
		matching += matches
	}
	return 0, false, matching, nil
}

func (p *Placer) estimate(
	ctx context.Context, query rental.OfferQuery, except string,
) (kopH int64, found bool, matching int, err error) {
	for _, limit := range []int{firstCandidates, maxCandidates} {
		offers, err := p.cache.Offers(ctx, query, limit)
		if err != nil {
			return 0, false, 0, err
		}
		matching = 0
		for _, offer := range offers {
			price, ok := offer.PriceKopH(query.Type)
			if !ok || offer.ID == except {
				continue
			}
			matching++
			if !p.single() || p.planned.reserve(offer.ID) {
				return price, true, matching, nil
			}
		}
		if len(offers) < limit {
			break
		}
	}
	return 0, false, matching, nil
}
