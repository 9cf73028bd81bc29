package market

import (
	"slices"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
)

// selectOffers chooses the best offers for a demand.
func selectOffers(demand Demand, offers []lifecycle.Candidate) (choice Choice) {
	common := func(location Location) Location {
		if !demand.SameGPU {
			location.GPU = ""
		}
		if !demand.SameCountry {
			location.Country = ""
		}
		return location
	}
	var locations []Location
	groups := map[Location][]lifecycle.Candidate{}
	for _, offer := range offers {
		location := common(LocationOf(offer.Offer))
		if demand.SameCountry && location.Country == "" {
			continue // it could be anywhere
		}
		if groups[location] == nil {
			locations = append(locations, location)
		}
		groups[location] = append(groups[location], offer)
	}
	if len(demand.Existing) > 0 {
		at := slices.IndexFunc(demand.Existing, func(l Location) bool { // others have fields that the API omits
			return (!demand.SameGPU || l.GPU != "") && (!demand.SameCountry || l.Country != "")
		})
		locations = []Location{common(demand.Existing[max(0, at)])}
	}
	for _, location := range locations {
		group := groups[location][:min(demand.Count, len(groups[location]))]
		if better(group, choice.Candidates, len(demand.Queries)) {
			choice.Candidates = group
		}
	}
	short := len(choice.Candidates) < demand.Count
	choice.Counts.Matching = len(offers)
	choice.Counts.Needed, choice.Counts.Found = demand.Count, len(choice.Candidates)
	choice.Counts.Split = short && len(offers) > len(choice.Candidates)
	return choice
}

// better reports whether one choice is better than another: it has more offers, else more of the first queries, else
// the lower price.
func better(one, other []lifecycle.Candidate, queries int) bool {
	if len(one) != len(other) {
		return len(one) > len(other)
	}
	matches := func(candidates []lifecycle.Candidate) (counts []int, total int64) {
		counts = make([]int, queries)
		for _, c := range candidates {
			counts[c.Query]++
			total += c.KopH
		}
		return counts, total
	}
	counts, total := matches(one)
	otherCounts, otherTotal := matches(other)
	if order := slices.Compare(counts, otherCounts); order != 0 {
		return order > 0
	}
	return total < otherTotal
}
