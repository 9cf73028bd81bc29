package placement

import (
	"cmp"
	"context"
	"slices"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Demand describes the offers for several instances that belong together.
type Demand struct {
	// Queries select the offers, in order of preference.
	Queries []Query
	Count   int
	// DiskGB is the disk size of each instance.
	DiskGB int64
	// SameGPU and SameCountry demand the same GPU model and the same country for all instances.
	SameGPU, SameCountry bool
	// Existing are the instances that the new ones join.
	Existing []Location
	// BudgetKopH limits the sum of the prices, with the disks; nil for no limit.
	BudgetKopH *int64
	// Except are offers not to choose.
	Except map[string]bool
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

// Candidate is an offer that was chosen for one instance.
type Candidate struct {
	Offer rental.Offer
	Query int   // index of the query that selected it
	KopH  int64 // price with the disk
}

// Choice is the result of Choose.
type Choice struct {
	// Candidates are the chosen offers, in order of preference, at most as many as demanded.
	Candidates []Candidate
	// Matching is the number of offers that match the queries, and Reserved how many of them other instances of this run
	// use.
	Matching, Reserved int
	// OverBudget: the budget is the reason why there are fewer candidates than demanded.
	OverBudget bool
	// Split: the offers of no single location are enough, and there are more of them in other locations.
	Split bool
}

// BaseDiskGB is the disk size that the price of an offer includes at least: no instance has a smaller disk.
const BaseDiskGB = 10

// PriceWithDisk returns the highest price of an instance from an offer. It is false if the offer has no price for the
// rental type.
func PriceWithDisk(offer rental.Offer, kind rental.RentalType, diskGB int64) (kopH int64, ok bool) {
	price, ok := offer.PriceKopH(kind)
	return price + offer.DiskKopH(max(0, diskGB-BaseDiskGB)), ok
}

// Choose reserves offers for instances that are about to be created: as many as possible, those of the first query
// first. A creation with Request.Candidate uses or releases each one.
func (p *Placer) Choose(ctx context.Context, demand Demand, fresh bool) (Choice, error) {
	return p.choose(ctx, demand, fresh, &p.offers)
}

// EstimateAll is Choose for instances that are planned. It reserves nothing.
func (p *Placer) EstimateAll(ctx context.Context, demand Demand) (Choice, error) {
	return p.choose(ctx, demand, false, &reservations{})
}

func (p *Placer) choose(ctx context.Context, demand Demand, fresh bool, reserved *reservations) (Choice, error) {
	offers, err := p.listAll(ctx, demand, fresh)
	if err != nil {
		return Choice{}, &Error{Kind: OffersUnreadable, Err: err}
	}
	for {
		choice := Choice{Matching: len(offers)}
		free := slices.DeleteFunc(slices.Clone(offers), func(c Candidate) bool { return reserved.has(c.Offer.ID) })
		choice.Reserved = len(offers) - len(free)
		choice.pick(demand, free)
		if reserved.reserveAll(choice.Candidates) {
			return choice, nil
		}
	}
}

// listAll returns the offers of all queries, in order of preference, each one once.
func (p *Placer) listAll(ctx context.Context, demand Demand, fresh bool) ([]Candidate, error) {
	limit := firstCandidates + demand.Count
	if demand.SameGPU || demand.SameCountry || demand.BudgetKopH != nil {
		limit = max(maxCandidates, 2*demand.Count) // the best ones need not be the first ones
	}
	read := p.cache.Offers
	if fresh {
		read = p.cache.FreshOffers
	}
	var all []Candidate
	seen := map[string]bool{}
	for i, query := range demand.Queries {
		offers, err := read(ctx, query.OfferQuery, limit)
		if err != nil {
			return nil, err
		}
		for _, offer := range offers {
			price, rentable := PriceWithDisk(offer, query.Type, demand.DiskGB)
			base, _ := offer.PriceKopH(query.Type)
			aboveCap := query.MaxPriceKopH != nil && base > *query.MaxPriceKopH
			if seen[offer.ID] || demand.Except[offer.ID] || !rentable || aboveCap || !offer.Available {
				continue
			}
			seen[offer.ID] = true
			all = append(all, Candidate{Offer: offer, Query: i, KopH: price})
		}
	}
	return all, nil
}

// pick sets the candidates to the best ones of the offers.
func (c *Choice) pick(demand Demand, offers []Candidate) {
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
	groups := map[Location][]Candidate{}
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
		if group := affordable(groups[location], demand); better(group, c.Candidates, len(demand.Queries)) {
			c.Candidates = group
		}
		c.OverBudget = c.OverBudget || len(groups[location]) >= demand.Count
	}
	short := len(c.Candidates) < demand.Count
	c.OverBudget = short && c.OverBudget
	c.Split = short && !c.OverBudget && len(offers) > len(c.Candidates)
}

// affordable returns as many of the offers as the demand and its budget allow, the first ones where possible.
func affordable(offers []Candidate, demand Demand) []Candidate {
	count := min(demand.Count, len(offers))
	if demand.BudgetKopH == nil {
		return offers[:count]
	}
	byPrice := func(a, b Candidate) int { return cmp.Compare(a.KopH, b.KopH) }
	cheapest := slices.SortedStableFunc(slices.Values(offers), byPrice)
	budget, left := *demand.BudgetKopH, int64(0) // left is the sum of the cheapest ones that are still to be chosen
	for i, offer := range cheapest[:count] {
		if left+offer.KopH > budget {
			count = i
			break
		}
		left += offer.KopH
	}
	reserve := slices.Clone(cheapest[:count]) // replaced by preferred offers, the most expensive first
	var chosen []Candidate
	for _, offer := range offers {
		if len(reserve) == 0 {
			break
		}
		at := slices.IndexFunc(reserve, func(c Candidate) bool { return c.Offer.ID == offer.Offer.ID })
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
func better(one, other []Candidate, queries int) bool {
	if len(one) != len(other) {
		return len(one) > len(other)
	}
	matches := func(candidates []Candidate) (counts []int, total int64) {
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

// Release ends the reservation of a candidate that no creation uses.
func (p *Placer) Release(candidate Candidate) { p.offers.releaseAfter(candidate.Offer.ID, 0) }

// fromCandidate rents from the candidate, whose price was just read. Without one it only returns the instance that an
// earlier run rented under the key.
func (c *creation) fromCandidate(ctx context.Context) (Placed, error) {
	if c.Candidate == nil {
		return c.recover(ctx, &Error{Kind: NoOffer})
	}
	offer := c.Candidate.Offer
	c.offers[offer.ID], c.reserved = offer, []string{offer.ID}
	if ctx.Err() != nil {
		c.release(offer.ID, Available, Placed{}, nil)
		return Placed{}, &Error{Kind: Interrupted, Err: ctx.Err()}
	}
	limit, _ := offer.PriceKopH(c.Order.Type)
	placed, state, err := c.rentFrom(ctx, offer.ID, limit)
	if isRejected(err) {
		err = &Error{Kind: OfferRefused, OfferID: offer.ID, Available: state, Err: err}
	}
	c.release(offer.ID, state, placed, err)
	return placed.from(c.Candidate.Query), err
}
