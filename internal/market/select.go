package market

import (
	"slices"
	"sort"

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
	enough := false
	for _, location := range locations {
		if group := affordable(groups[location], demand); better(group, choice.Candidates, len(demand.Queries)) {
			choice.Candidates = group
		}
		enough = enough || len(groups[location]) >= demand.Count
	}
	short := len(choice.Candidates) < demand.Count
	choice.Offers.Listed, choice.Offers.Matching = true, len(offers)
	choice.Offers.Needed, choice.Offers.Found = demand.Count, len(choice.Candidates)
	choice.Offers.OverBudget = short && enough
	choice.Offers.Split = short && !enough && len(offers) > len(choice.Candidates)
	return choice
}

// affordable returns as many of the offers as the demand and its budget allow, the first ones where possible.
func affordable(offers []lifecycle.Candidate, demand Demand) []lifecycle.Candidate {
	count := min(demand.Count, len(offers))
	if demand.Budget == nil {
		return offers[:count]
	}
	cheapest := slices.Clone(offers)
	sort.SliceStable(cheapest, func(i, j int) bool { return cheapest[i].KopH < cheapest[j].KopH })
	budget, left := demand.Budget(), int64(0) // left is the sum of the cheapest ones that are still to be chosen
	for i, offer := range cheapest[:count] {
		if left+offer.KopH > budget {
			count = i
			break
		}
		left += offer.KopH
	}
	reserve := slices.Clone(cheapest[:count]) // replaced by preferred offers, the most expensive first
	var chosen []lifecycle.Candidate
	for _, offer := range offers {
		if len(reserve) == 0 {
			break
		}
		at := slices.IndexFunc(reserve, func(c lifecycle.Candidate) bool { return c.Offer.ID == offer.Offer.ID })
		if at < 0 {
			at = len(reserve) - 1
		}
		if left-reserve[at].KopH+offer.KopH > budget {
			continue
		}
		left += offer.KopH - reserve[at].KopH
		reserve = slices.Delete(reserve, at, at+1)
		chosen = append(chosen, offer)
	}
	return chosen
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
