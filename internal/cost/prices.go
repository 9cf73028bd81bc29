package cost

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// NewReportWithPrices is NewReport with the prices that offers have now, and with the account if the client has a key.
func NewReportWithPrices(ctx context.Context, client *rental.Client, plan Plan) (Report, error) {
	offers := market.New(rental.NewCache(client), nil, time.Second)
	taken := map[string]bool{} // offers that other servers of the plan count with
	report, err := newReport(plan, func(d market.Demand) ([]int64, error) { return prices(ctx, offers, d, taken) })
	if err != nil {
		return Report{}, err
	}
	if !client.Authenticated() {
		report.Notes = append(report.Notes, "There is no API key: the balance is not known.")
		return report, nil
	}
	balance, err := client.GetBalance(ctx)
	switch {
	case rental.IsForbidden(err):
		report.Notes = append(report.Notes, "The API key cannot read the balance: it needs the scope billing:read.")
		return report, nil
	case err != nil:
		return Report{}, err
	}
	report.Account = account(balance, report.Totals)
	return report, nil
}

// prices returns the prices of offers for a demand. It chooses them as the apply does, but none that is taken, and adds
// them to those.
func prices(
	ctx context.Context, offers *market.Market, demand market.Demand, taken map[string]bool,
) (found []int64, err error) {
	count := demand.Count
	if demand.SameGPU || demand.SameCountry || demand.OfferID != "" {
		except := maps.Clone(taken)
		maps.Copy(except, demand.Except)
		demand.Except = except
	} else {
		demand.Count = rounded(count + len(taken)) // the list can begin with those that are taken
	}
	choice, err := offers.Estimate(ctx, demand)
	switch failure.KindOf(err) {
	case failure.OfferRefused, failure.AboveLimit:
		return nil, nil // the configured offer cannot be rented
	case failure.OffersUnreadable:
		return nil, errors.Unwrap(err) // the error of the API
	default:
	}
	for _, candidate := range choice.Candidates {
		if len(found) < count && !taken[candidate.Offer.ID] {
			taken[candidate.Offer.ID] = true
			found = append(found, candidate.KopH)
		}
	}
	return found, nil
}

// rounded returns the next power of ten, at least 100: the cache has one list of offers for each length, and a plan of
// many servers must not read it again for each of them.
func rounded(n int) int {
	limit := 100
	for limit < n {
		limit *= 10
	}
	return limit
}

// account describes the account after the plan. The credit limit can be spent, too, as for the two hours that the API
// demands for a start.
func account(balance rental.Balance, totals Totals) *Account {
	a := &Account{
		AvailableKop: balance.AvailableKop, CreditLimitKop: balance.CreditLimitKop, BurnKopH: balance.BurnKopH,
	}
	if len(totals.Undetermined) > 0 {
		return a
	}
	burn := max(0, balance.BurnKopH+totals.ChangeKopH)
	a.BurnAfterKopH = &burn
	if burn > 0 {
		hours := max(0, balance.AvailableKop+balance.CreditLimitKop) / burn
		a.HoursAfter = &hours
	}
	return a
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
