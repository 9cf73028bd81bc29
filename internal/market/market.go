// Package market finds offers for instances: one, or several that belong together. It keeps the instances that one
// process creates from taking each other's offers, and waits for offers. It is about offers and requests of the API and
// does not depend on Terraform. All prices are kopecks per hour.
package market

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Market finds offers. It is safe for concurrent use.
type Market struct {
	cache     *rental.Cache
	lifecycle *lifecycle.Manager
	// pollInterval is the pause between two reads of the cache during a wait.
	pollInterval time.Duration

	mu    sync.Mutex
	taken map[string]claim // by the id of the offer
}

// New returns a Market.
func New(cache *rental.Cache, manager *lifecycle.Manager, pollInterval time.Duration) *Market {
	return &Market{cache: cache, lifecycle: manager, pollInterval: pollInterval, taken: map[string]claim{}}
}

// claim is why nothing else is rented from an offer.
type claim struct {
	end time.Time // zero while something is being rented from the offer
	// limited: the API refused the offer although it is available. A limit of the account may be the reason.
	limited bool
}

// ended reports whether nothing is being rented from the offer and the end has come.
func (c claim) ended(now time.Time) bool { return !c.end.IsZero() && !now.Before(c.end) }

// Demand describes the offers for instances that belong together.
type Demand struct {
	// Queries select the offers, in order of preference. Without queries, OfferID is the only offer.
	Queries []rental.OfferQuery
	OfferID string
	Count   int
	// Request is what is rented.
	Request      rental.InstanceCreate
	MaxPriceKopH int64 // of an offer. Zero means no cap.
	// SameGPU and SameCountry demand the same GPU model and the same country for all instances.
	SameGPU, SameCountry bool
	// Existing are the instances that the new ones join.
	Existing []Location
	// Except are offers not to choose.
	Except map[string]bool
	// Wait is how long to wait for offers. Zero means not to wait.
	Wait time.Duration
	// All: the instances are rented together or not at all, so none waits for an offer while others are billed.
	All bool
}

// Location is the part of an instance or offer that several instances may have to have in common.
type Location struct{ GPU, Country string }

// LocationOf returns the location of an offer.
func LocationOf(offer rental.Offer) Location {
	location := Location{GPU: offer.GPU.Slug}
	if offer.Country != nil {
		location.Country = *offer.Country
	}
	return location
}

// Choice is a choice of offers.
type Choice struct {
	// Candidates are the chosen offers, in order of preference, at most as many as demanded.
	Candidates []lifecycle.Candidate
	Counts     Counts
}

// Counts are the numbers of offers for a demand.
type Counts struct {
	// Needed is the number of instances that lack an offer, and Found the number of offers for them.
	Needed, Found int
	// Matching is the number of offers that match the queries. Taken of them are used by this process or were refused a
	// moment ago.
	Matching, Taken int
	Split           bool // there are more offers, but not with the same country or GPU
}

// Estimate returns the offers that would be chosen now. It reserves nothing.
func (m *Market) Estimate(ctx context.Context, demand Demand) (choice Choice, err error) {
	for _, read := range m.reads(demand) {
		offers, err := m.list(ctx, demand, read)
		if err != nil {
			return Choice{}, err
		}
		if choice = selectOffers(demand, offers); len(choice.Candidates) >= demand.Count {
			break
		}
	}
	return choice, nil
}

// listRead is one read of the lists of offers.
type listRead struct {
	maxAge time.Duration // of the lists
	limit  int           // offers of each query
}

const (
	// ListAge is how old a list may be, and freshAge how old one that has too few offers. The API caches its lists for a
	// minute, so a newer one would be the same.
	ListAge  = 30 * time.Second
	freshAge = 5 * time.Second
	// fewOffers is the number of offers that are read first, and manyOffers the number that is read at least if those are
	// not enough.
	fewOffers  = rental.MaxPageSize
	manyOffers = 1000
)

// referencePollInterval is the poll interval for which the times of this package are meant.
const referencePollInterval = 5 * time.Second

// scaled returns a shorter time for a shorter poll interval, which means a service that changes quickly.
func (m *Market) scaled(d time.Duration) time.Duration {
	return min(d, time.Duration(float64(d)*float64(m.pollInterval)/float64(referencePollInterval)))
}

// reads returns the reads of the lists before a search gives up, or waits.
func (m *Market) reads(demand Demand) []listRead {
	few, many := fewOffers, max(manyOffers, 2*demand.Count)
	if 2*demand.Count > few || demand.SameGPU || demand.SameCountry {
		few = many // the best offers need not be the first ones
	}
	return []listRead{{ListAge, few}, {ListAge, many}, {m.scaled(freshAge), many}}
}

// list returns the offers of all queries that can be rented, in order of preference, each one once. It is an error if
// the API returns offers and none can be read, because that does not mean that there is none.
func (m *Market) list(ctx context.Context, demand Demand, read listRead) (all []lifecycle.Candidate, err error) {
	if len(demand.Queries) == 0 {
		return m.fixedOffer(ctx, demand)
	}
	seen := maps.Clone(demand.Except)
	if seen == nil {
		seen = map[string]bool{}
	}
	var skipped []rental.Skipped
	readable := 0
	for i, query := range demand.Queries {
		query.Skipped = &skipped
		offers, err := m.cache.OffersWithin(ctx, query, read.limit, read.maxAge)
		if err != nil {
			return nil, OffersUnreadable{err}
		}
		readable += len(offers)
		for _, offer := range offers {
			candidate, err := lifecycle.NewCandidate(offer, demand.Request, demand.MaxPriceKopH)
			if !seen[offer.ID] && err == nil {
				candidate.Query = i
				all = append(all, candidate)
			}
			seen[offer.ID] = true
		}
	}
	if readable == 0 && len(skipped) > 0 {
		return nil, OffersUnreadable{unreadableEntries{len(skipped), skipped[0]}}
	}
	return all, nil
}

// fixedOffer returns the offer of the demand. Without a limit its price need not be known.
func (m *Market) fixedOffer(ctx context.Context, demand Demand) ([]lifecycle.Candidate, error) {
	id, limited := demand.OfferID, m.lifecycle != nil && m.lifecycle.Account.Limited() || demand.MaxPriceKopH > 0
	offer, seen := m.cache.SeenOffer(id)
	if !seen || !offer.Available || limited {
		var found bool
		var err error
		offer, found, err = m.cache.ReadOffer(ctx, id)
		switch {
		case err != nil && limited:
			return nil, OffersUnreadable{err}
		case err != nil: // the request decides
			return []lifecycle.Candidate{{Offer: rental.Offer{ID: id}}}, nil //nolint:nilerr // see above
		case !found:
			return nil, lifecycle.OfferUnavailable{OfferID: id}
		}
	}
	candidate, err := lifecycle.NewCandidate(offer, demand.Request, demand.MaxPriceKopH)
	if err != nil {
		return nil, err
	}
	return []lifecycle.Candidate{candidate}, nil
}

// take takes the offers that selectOffers chooses among those that are not taken and not excluded, unless there are
// fewer than need.
func (m *Market) take(
	demand Demand, need int, offers []lifecycle.Candidate, excluded func(id string) bool,
) Choice {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(m.taken, func(_ string, c claim) bool { return c.ended(now) })
	var free []lifecycle.Candidate
	for _, offer := range offers {
		_, taken := m.taken[offer.Offer.ID]
		fixed := len(demand.Queries) == 0
		if fixed || !taken && !excluded(offer.Offer.ID) {
			free = append(free, offer)
		}
	}
	choice := selectOffers(demand, free)
	choice.Counts.Matching, choice.Counts.Taken = len(offers), len(offers)-len(free)
	if len(choice.Candidates) < need {
		choice.Candidates = nil
	}
	for _, candidate := range choice.Candidates {
		m.taken[candidate.Offer.ID] = claim{}
	}
	return choice
}

// release ends the claim of an offer after a time. See claim for limited.
func (m *Market) release(offerID string, after time.Duration, limited bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken[offerID] = claim{end: time.Now().Add(after), limited: limited}
}

// Destroyed ends the claims that the destruction of an instance from an offer can make obsolete: of this offer, and of
// those that were refused, perhaps because of a limit of the account.
func (m *Market) Destroyed(offerID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.taken, func(id string, c claim) bool {
		return !c.end.IsZero() && (c.limited || id == offerID)
	})
}
