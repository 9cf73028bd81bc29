package tfinstance

import (
	"context"
	"strconv"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// explainTimeout bounds the requests for an explanation, because an interrupted run must end soon.
const explainTimeout = 3 * time.Second

// Explain describes for each query which filters exclude the available offers, as paragraphs. It returns an empty text
// if the offers cannot be read.
func Explain(ctx context.Context, meta *tfkit.Meta, queries []market.Query) (text tfkit.Text) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), explainTimeout)
	defer cancel()
	for i, query := range queries {
		explanation, err := meta.Market.Explain(ctx, query.OfferQuery)
		if err != nil {
			return ""
		}
		text += "\n\n"
		if len(queries) > 1 {
			text += tfkit.Textf("Query %d: ", i+1)
		}
		text += explanationText(explanation)
	}
	return text
}

// explanationText describes which filters of a query exclude the available offers.
func explanationText(e market.Explanation) tfkit.Text {
	kind := tfkit.Textf("%s offers", e.Query.Type)
	if len(e.Query.GPU) > 0 {
		kind += " with this gpu"
	}
	if e.Offers == 0 {
		return "No " + kind + " are available now. The data source gpurent_gpus lists all GPU models."
	}
	count := tfkit.Textf("%d", e.Offers)
	if e.Cut {
		count = "more than " + count
	}
	text := "Available " + kind + ": " + count + ". Matches of each filter:"
	var without tfkit.Text
	for _, filter := range e.Filters {
		text += tfkit.Textf("\n  %s: %d", filterText(filter), filter.Matching)
		if filter.Others > 0 {
			without += tfkit.Textf("\nWithout %s, %s: the cheapest costs %s.",
				filter.Name, matchText(filter.Others), tfkit.HourlyRubles(filter.CheapestKopH))
		}
	}
	if without == "" {
		without = "\nTo find an offer, change at least two of these filters."
	}
	return text + without
}

func matchText(offers int) tfkit.Text {
	if offers == 1 {
		return "1 offer matches"
	}
	return tfkit.Textf("%d offers match", offers)
}

// filterText names a filter, with its value if that is a number or a Boolean. A text may be sensitive.
func filterText(filter market.FilterMatches) tfkit.Text {
	if kopH, err := strconv.ParseInt(filter.Value, 10, 64); err == nil && filter.Name == "max_price_kop_h" {
		return tfkit.Textf("%s = %s", filter.Name, tfkit.HourlyRubles(kopH))
	}
	_, notNumber := strconv.ParseFloat(filter.Value, 64)
	_, notBool := strconv.ParseBool(filter.Value)
	if notNumber != nil && notBool != nil {
		return tfkit.Textf("%s", filter.Name)
	}
	return tfkit.Textf("%s = %s", filter.Name, filter.Value)
}
