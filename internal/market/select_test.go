package market

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// The best offers are chosen that belong together: as many as possible, of the first queries, then the cheapest ones.
func TestSelectOffers(t *testing.T) {
	var offers []lifecycle.Candidate
	for _, offer := range []struct {
		id    string // GPU, country and number; an offer without a country could be anywhere
		query int
		kopH  int64
	}{
		{"a de 1", 0, 90}, {"a ru 1", 0, 100}, {"a ru 2", 0, 110}, {"a de 2", 0, 200}, {"b de 1", 1, 80}, {"b de 2", 1, 85},
		{"c - 1", 1, 10}, {"c - 2", 1, 10}, {"c - 3", 1, 10}, {"c - 4", 1, 10}, {"c - 5", 1, 10},
	} {
		parts := strings.Fields(offer.id)
		candidate := lifecycle.Candidate{Query: offer.query, KopH: offer.kopH, Offer: rental.Offer{ID: offer.id}}
		if candidate.Offer.GPU.Slug = parts[0]; parts[1] != "-" {
			candidate.Offer.Country = &parts[1]
		}
		offers = append(offers, candidate)
	}
	inGermany := []Location{{"a", ""}, {"a", "de"}}
	for name, test := range map[string]struct {
		demand Demand
		want   string
		split  bool
	}{
		"the first ones":         {Demand{Count: 2}, "a de 1, a ru 1", false},
		"in one country":         {Demand{Count: 2, SameCountry: true}, "a ru 1, a ru 2", false},
		"of one model":           {Demand{Count: 3, SameGPU: true}, "a de 1, a ru 1, a ru 2", false},
		"with an existing one":   {Demand{Count: 2, SameCountry: true, Existing: inGermany}, "a de 1, a de 2", false},
		"too few in one country": {Demand{Count: 5, SameCountry: true}, "a de 1, a de 2, b de 1, b de 2", true},
		"of the first query":     {Demand{Count: 1, SameCountry: true, SameGPU: true}, "a de 1", false},
		"the second query, too":  {Demand{Count: 5}, "a de 1, a ru 1, a ru 2, a de 2, b de 1", false},
	} {
		t.Run(name, func(t *testing.T) {
			test.demand.Queries = make([]rental.OfferQuery, 2)
			choice := selectOffers(test.demand, slices.Clone(offers))
			var got []string
			for _, candidate := range choice.Candidates {
				got = append(got, candidate.Offer.ID)
			}
			if strings.Join(got, ", ") != test.want || choice.Counts.Split != test.split {
				t.Errorf("got %q, %+v", got, choice.Counts)
			}
			if choice.Counts.Needed != test.demand.Count || choice.Counts.Found != len(got) {
				t.Errorf("%d were chosen, counted %+v", len(got), choice.Counts)
			}
		})
	}
}
