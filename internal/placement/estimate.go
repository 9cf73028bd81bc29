package placement

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Estimate returns the current price of the first offer of a query that no planned instance of this run uses. It
// ignores the offer except, from which the instance to replace is rented; empty for none. If found is false, matching
// is the number of offers that match the query.
func (p *Placer) Estimate(
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
