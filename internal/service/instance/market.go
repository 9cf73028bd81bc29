package instance

import (
	"context"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const (
	// maxCandidates bounds how many offers of a query are looked at.
	maxCandidates = 1000
	// singleLooks is how many offers are looked at one by one before the whole
	// list of the market is cheaper.
	singleLooks = 2
)

// market remembers what the public market said: lists by their query, and
// single offers. Its zero value is ready.
type market struct {
	mu    sync.Mutex
	lists map[string]*tfkit.Remembered[[]rental.Offer]
	looks map[string]*tfkit.Remembered[*rental.Offer]
}

// list returns the offers for a query as they were at most maxAge ago: siblings
// with the same query share one request.
func (m *market) list(ctx context.Context, client *rental.Client, query rental.OfferQuery, maxAge time.Duration) ([]rental.Offer, error) {
	m.mu.Lock()
	if m.lists == nil {
		m.lists = map[string]*tfkit.Remembered[[]rental.Offer]{}
	}
	shared := m.lists[query.Key()]
	if shared == nil {
		shared = new(tfkit.Remembered[[]rental.Offer])
		m.lists[query.Key()] = shared
	}
	m.mu.Unlock()
	query.PageSize = maxPageSize
	return shared.Get(ctx, maxAge, func(ctx context.Context) ([]rental.Offer, error) {
		var offers []rental.Offer
		for offer, err := range client.ListOffers(ctx, query) {
			if err != nil {
				return nil, err
			}
			if offers = append(offers, offer); len(offers) == maxCandidates {
				break
			}
		}
		return offers, nil
	})
}

// glimpse finds an offer for an estimate: nil when it is gone. The first few are
// looked at one by one, the others in the list of the market.
func (m *market) glimpse(ctx context.Context, client *rental.Client, id string, rentalType rental.RentalType) (*rental.Offer, error) {
	m.mu.Lock()
	if m.looks == nil {
		m.looks = map[string]*tfkit.Remembered[*rental.Offer]{}
	}
	shared := m.looks[id]
	many := shared == nil && len(m.looks) >= singleLooks
	if shared == nil {
		shared = new(tfkit.Remembered[*rental.Offer])
		m.looks[id] = shared
	}
	m.mu.Unlock()
	if many {
		offers, err := m.list(ctx, client, rental.OfferQuery{Type: rentalType}, glance)
		if err != nil {
			return nil, err
		}
		for _, offer := range offers {
			if offer.ID == id {
				return &offer, nil
			}
		}
		if len(offers) < maxCandidates {
			return nil, nil
		}
	}
	return shared.Get(ctx, glance, func(ctx context.Context) (*rental.Offer, error) {
		offer, err := client.GetOffer(ctx, id)
		if rental.IsNotFound(err) || err == nil && !offer.Available {
			return nil, nil
		}
		return &offer, err
	})
}

// priceOf is what an offer costs for a rental type, kopecks per hour without
// extra disk. It is false when the offer is not rented so.
func priceOf(offer rental.Offer, rentalType rental.RentalType) (kopH int64, ok bool) {
	if rentalType != rental.Interruptible {
		return offer.Price.OnDemandKopH, true
	}
	if offer.Price.InterruptibleKopH == nil {
		return 0, false
	}
	return *offer.Price.InterruptibleKopH, true
}
