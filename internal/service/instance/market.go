package instance

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const (
	// maxCandidates bounds how many offers of a query are looked at.
	maxCandidates = 1000
	// fewCandidates are mostly enough: one request.
	fewCandidates = rental.MaxPageSize
	// singleLooks is how many offers are looked at one by one before the list of the
	// market is cheaper.
	singleLooks = 2
	// gathering is how long the first who look wait for others: a CLI plans a whole
	// fleet within moments.
	gathering = 30 * time.Millisecond
)

// market remembers what the public market said: lists by their query, and
// single offers. Its zero value is ready.
type market struct {
	mu    sync.Mutex
	lists map[listKey]*tfkit.Remembered[[]rental.Offer]
	looks map[string]*tfkit.Remembered[*rental.Offer]
	shown tfkit.OffersSeen // what glimpse returned
}

// listKey is a query, and how many offers were read of it at most.
type listKey struct {
	query string
	most  int
}

// list returns the first offers for a query as they were at most maxAge ago, most of
// them at most; when there are fewer, there are no others. Siblings with the same
// query share one list.
func (m *market) list(ctx context.Context, client *rental.Client, query rental.OfferQuery, maxAge time.Duration, most int) ([]rental.Offer, error) {
	m.mu.Lock()
	if m.lists == nil {
		m.lists = map[listKey]*tfkit.Remembered[[]rental.Offer]{}
	}
	key := listKey{query.Key(), most}
	shared := m.lists[key]
	if shared == nil {
		shared = new(tfkit.Remembered[[]rental.Offer])
		m.lists[key] = shared
	}
	m.mu.Unlock()
	query.PageSize = rental.MaxPageSize
	return shared.Get(ctx, maxAge, func(ctx context.Context) ([]rental.Offer, error) {
		var offers []rental.Offer
		for offer, err := range client.ListOffers(ctx, query) {
			if err != nil {
				return nil, err
			}
			if offers = append(offers, offer); len(offers) == most {
				break
			}
		}
		return offers, nil
	})
}

// glimpse finds an offer for an estimate: nil when it is gone. One that a data source
// of this run has shown is not asked for again; a few are looked at one by one, more
// of them in the list of the market.
func (m *market) glimpse(ctx context.Context, meta *tfkit.Meta, id string, rentalType rental.RentalType) (found *rental.Offer, err error) {
	defer func() {
		if found != nil {
			m.shown.Put(*found)
		}
	}()
	if offer, ok := tfkit.Shared[tfkit.OffersSeen](meta).Get(id, meta.MaxAge(glance)); ok {
		return free(offer), nil
	}
	shared, looks := m.lookFor(id)
	if looks <= singleLooks {
		if err := poll.Pause(ctx, gathering); err != nil {
			return nil, err
		}
		shared, looks = m.lookFor(id)
	}
	if looks > singleLooks {
		for _, most := range []int{fewCandidates, maxCandidates} {
			offers, err := m.list(ctx, meta.Client, rental.OfferQuery{Type: rentalType}, meta.MaxAge(glance), most)
			if err != nil {
				return nil, err
			}
			if at := slices.IndexFunc(offers, func(o rental.Offer) bool { return o.ID == id }); at >= 0 {
				return &offers[at], nil
			}
			if len(offers) < most {
				return nil, nil
			}
		}
	}
	return shared.Get(ctx, meta.MaxAge(glance), func(ctx context.Context) (*rental.Offer, error) {
		offer, err := meta.Client.GetOffer(ctx, id)
		if rental.IsNotFound(err) {
			return nil, nil
		}
		return free(offer), err
	})
}

// free is nil for an offer that cannot be rented now.
func free(offer rental.Offer) *rental.Offer {
	if !offer.Available {
		return nil
	}
	return &offer
}

// lookFor notes that somebody looks for an offer, and tells for how many they do.
func (m *market) lookFor(id string) (look *tfkit.Remembered[*rental.Offer], looks int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.looks == nil {
		m.looks = map[string]*tfkit.Remembered[*rental.Offer]{}
	}
	if m.looks[id] == nil {
		m.looks[id] = new(tfkit.Remembered[*rental.Offer])
	}
	return m.looks[id], len(m.looks)
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
