package placement

import (
	"context"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// estimateAge is how old a list may be that shows no offer. Others may have released some since an older one.
const estimateAge = 5 * time.Second

// Estimate returns the price of the first offer of the queries, in order, with a disk of this size. It ignores the
// offer except, from which the instance to replace is rented; empty for none. It is false if there is no such offer.
func (p *Placer) Estimate(
	ctx context.Context, queries []rental.OfferQuery, except string, diskGB int64,
) (kopH int64, found bool, err error) {
	for _, query := range queries {
		for _, list := range []func() ([]rental.Offer, error){
			func() ([]rental.Offer, error) { return p.cache.Offers(ctx, query, firstCandidates) },
			func() ([]rental.Offer, error) { return p.cache.OffersWithin(ctx, query, firstCandidates, estimateAge) },
		} {
			offers, err := list()
			if err != nil {
				return 0, false, err
			}
			for _, offer := range offers {
				if kopH, ok := PriceWithDisk(offer, query.Type, diskGB); ok && offer.ID != except {
					return kopH, true, nil
				}
			}
		}
	}
	return 0, false, nil
}
