package cost

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// NewReportWithPrices is NewReport with the prices that offers have now.
func NewReportWithPrices(ctx context.Context, client *rental.Client, plan Plan) (Report, error) {
	offers := market.New(rental.NewCache(client), nil, time.Second)
	taken := map[string]bool{} // offers that other servers of the plan count with
	return newReport(plan, func(d market.Demand) ([]int64, error) { return prices(ctx, offers, d, taken) })
}

// prices returns the prices of offers for a demand. It chooses them as the apply does, but none that is taken, and adds
// them to those.
func prices(
	ctx context.Context, offers *market.Market, demand market.Demand, taken map[string]bool,
) (found []int64, err error) {
	except := maps.Clone(taken)
	maps.Copy(except, demand.Except)
	demand.Except = except
	choice, err := offers.Estimate(ctx, demand)
	if offers, ok := errors.AsType[market.OffersUnreadable](err); ok {
		return nil, offers.Err
	}
	if err != nil {
		return nil, nil //nolint:nilerr // the configured offer cannot be rented
	}
	for _, candidate := range choice.Candidates {
		if !taken[candidate.Offer.ID] { // a fixed offer can be
			taken[candidate.Offer.ID] = true
			found = append(found, candidate.KopH)
		}
	}
	return found, nil
}

// queries returns the queries of an instance or a fleet in order of preference, with the terms of the server.
func (v values) queries(order rental.InstanceCreate, limit *int64) (queries []rental.OfferQuery) {
	var arguments struct {
		OfferQuery      *rental.OfferQuery   `json:"offer_query"`
		FallbackQueries []*rental.OfferQuery `json:"fallback_queries"`
		OfferQueries    []*rental.OfferQuery `json:"offer_queries"`
	}
	if json.Unmarshal(v.raw, &arguments) != nil {
		v.report("the filters of its queries")
	}
	all := slices.Concat([]*rental.OfferQuery{arguments.OfferQuery}, arguments.FallbackQueries, arguments.OfferQueries)
	for _, q := range all {
		if q == nil {
			continue
		}
		q.Type, q.MaxPriceKopH = order.Type, limit
		if disk := float64(order.DiskGB); q.MinDiskGB == nil || *q.MinDiskGB < disk {
			q.MinDiskGB = &disk
		}
		queries = append(queries, *q)
	}
	return queries
}
