package placement

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Estimate returns the offer that the next instance of a query would be rented from now, with its price for the type of
// the query. In a single plan each call returns another offer. except is an offer that is not available to the
// instance, because the one that it replaces is rented from it; empty for none. Found is false if there is none;
// matching is then how many offers match the query.
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
