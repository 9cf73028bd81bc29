package market

import (
	"context"
	"slices"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Explanation counts the offers that match the filters of a query, to show which filter excludes them.
type Explanation struct {
	Query rental.OfferQuery
	// Offers is the number of available offers for the rental type and the GPU models of the query.
	Offers int
	// Cut reports that there are more, which were not read.
	Cut bool
	// Filters are the filters of the query except the GPU models.
	Filters []FilterMatches
}

// FilterMatches counts the offers that one filter excludes.
type FilterMatches struct {
	rental.OfferFilter
	Matching int // offers that match the filter
	Others   int // offers that match all other filters
	// CheapestKopH is the lowest price of Others in kopecks per hour; 0 without any.
	CheapestKopH int64
}

// Explain reads the offers that a query selects from, and counts those that match its filters.
func (m *Market) Explain(ctx context.Context, query rental.OfferQuery) (Explanation, error) {
	offers, err := m.cache.OffersWithin(ctx, rental.OfferQuery{GPU: query.GPU, Type: query.Type}, manyOffers, listAge)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Query: query, Offers: len(offers), Cut: len(offers) == manyOffers}
	filters := slices.DeleteFunc(query.Filters(), func(f rental.OfferFilter) bool { return f.Name == "gpu" })
	for _, filter := range filters {
		e.Filters = append(e.Filters, FilterMatches{OfferFilter: filter})
	}
	for _, offer := range offers {
		var failed []int
		for i, filter := range filters {
			if filter.Matches(offer) {
				e.Filters[i].Matching++
			} else {
				failed = append(failed, i)
			}
		}
		price, _ := offer.PriceKopH(query.Type)
		for i := range filters {
			if len(failed) == 0 || len(failed) == 1 && failed[0] == i {
				e.Filters[i].add(price)
			}
		}
	}
	return e, nil
}

// add counts an offer that matches all other filters.
func (f *FilterMatches) add(kopH int64) {
	if f.Others == 0 || kopH < f.CheapestKopH {
		f.CheapestKopH = kopH
	}
	f.Others++
}
