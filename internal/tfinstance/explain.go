package tfinstance

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// explainTimeout bounds the requests for an explanation.
const explainTimeout = 3 * time.Second

// explainedQueries is the number of queries that a message explains at most.
const explainedQueries = 3

// explainedOffers is the number of offers that an explanation counts at most.
const explainedOffers = 1000

// Explain describes for each query which filters exclude the available offers, as paragraphs. It returns an empty text
// if the offers cannot be read.
func Explain(ctx context.Context, meta *tfkit.Meta, queries []rental.OfferQuery) (text tfkit.Text) {
	ctx, cancel := context.WithTimeout(ctx, explainTimeout)
	defer cancel()
	for i, query := range queries[:min(len(queries), explainedQueries)] {
		selection := rental.OfferQuery{GPU: query.GPU, Type: query.Type}
		offers, err := meta.Cache.OffersWithin(ctx, selection, explainedOffers, market.ListAge)
		if err != nil {
			return ""
		}
		text += "\n\n"
		if len(queries) > 1 {
			text += tfkit.Textf("Query %d: ", i+1)
		}
		text += explanationText(query, offers)
	}
	if more := len(queries) - explainedQueries; more > 0 {
		text += tfkit.Textf("\n\n… and %d more queries", more)
	}
	return text
}

// explanationText describes which filters of a query exclude the available offers for its type and GPU models. For each
// filter it counts the offers that match it, and those that match all other filters.
func explanationText(query rental.OfferQuery, offers []rental.Offer) tfkit.Text {
	kind := tfkit.Textf("%s offers", query.Type)
	if len(query.GPU) > 0 {
		kind += " with this gpu"
	}
	if len(offers) == 0 {
		return "No " + kind + " are available now. To list all GPU models, run \"terraform-provider-gpurent gpus\"."
	}
	count := tfkit.Textf("%d", len(offers))
	if len(offers) == explainedOffers {
		count = "more than " + count
	}
	text := "Available " + kind + ": " + count
	var counts []string
	var without tfkit.Text
	filters := slices.DeleteFunc(query.Filters(), func(f rental.OfferFilter) bool { return f.Name == "gpu" })
	for i, filter := range filters {
		others := slices.Delete(slices.Clone(filters), i, i+1)
		matching := 0
		var prices []int64 // of offers that match all other filters
		for _, offer := range offers {
			if filter.Matches(offer) {
				matching++
			}
			if !slices.ContainsFunc(others, func(other rental.OfferFilter) bool { return !other.Matches(offer) }) {
				price, _ := offer.PriceKopH(query.Type)
				prices = append(prices, price)
			}
		}
		if matching < len(offers) {
			counts = append(counts, string(tfkit.Textf("%d match %s", matching, filterText(filter))))
		}
		if len(prices) > 0 {
			without += tfkit.Textf(" Without %s, %s, from %s.", filter.Name, matchText(len(prices)),
				tfkit.PerHour(slices.Min(prices)))
		}
	}
	if without == "" {
		without = " To find an offer, change at least two of these filters."
	}
	if len(counts) > 0 {
		text += ", of which " + tfkit.List(counts)
	}
	return text + "." + without
}

func matchText(offers int) tfkit.Text {
	if offers == 1 {
		return "1 offer matches"
	}
	return tfkit.Textf("%d offers match", offers)
}

// filterText names a filter, with its value if that is a number or a Boolean. A text may be sensitive.
func filterText(filter rental.OfferFilter) tfkit.Text {
	if kopH, err := strconv.ParseInt(filter.Value, 10, 64); err == nil && filter.Name == "max_price_kop_h" {
		return tfkit.Textf("%s = %s", filter.Name, tfkit.PerHour(kopH))
	}
	_, notNumber := strconv.ParseFloat(filter.Value, 64)
	_, notBool := strconv.ParseBool(filter.Value)
	if notNumber != nil && notBool != nil {
		return tfkit.Textf("%s", filter.Name)
	}
	return tfkit.Textf("%s = %s", filter.Name, filter.Value)
}
