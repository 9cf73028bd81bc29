package cost

import (
	"slices"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
)

// maxKopH is the highest amount that counts as a price: 10 billion rubles per hour. Its price per month fits in int64.
const maxKopH = 1e12

// Basis is how certain a price is.
type Basis string

// The values of Basis, from the most to the least certain.
const (
	Known Basis = "known" // the price of an existing server
	Offer Basis = "offer" // the price that an offer has now; it can change until the apply
	Cap   Basis = "cap"   // the highest price that the price caps allow
	None  Basis = "none"  // the price cannot be determined
)

// Price is what one or several servers cost, and how certain that is.
type Price struct {
	// KopH is in kopecks per hour. Null if it cannot be determined.
	KopH *int64 `json:"after_kop_h"`
	// Basis is "known", "offer", "cap" or "none".
	Basis Basis `json:"basis"`
	// DiskExcluded: the price of disk beyond the base disk of an offer, or of the disks of stopped members of a fleet,
	// comes in addition.
	DiskExcluded bool `json:"disk_excluded"`
	// Uncapped: no price cap limits what is rented or started.
	Uncapped bool `json:"uncapped"`
}

// knownPrice is a price that an existing server has.
func knownPrice(kopH int64) Price { return Price{KopH: &kopH, Basis: Known} }

// existingPrice is the price of an existing server; nil if the plan does not contain it.
func existingPrice(kopH *int64) Price {
	if kopH == nil {
		return Price{Basis: None}
	}
	return knownPrice(*kopH)
}

// cappedPrice is the highest price of servers that are rented or started; limit is the cap of each, nil for none. A cap
// does not include disk beyond the base disk.
func cappedPrice(limit *int64, count, diskGB int64) Price {
	switch {
	case count == 0:
		return knownPrice(0)
	case limit == nil:
		return Price{Basis: None, Uncapped: true}
	}
	return Price{KopH: times(limit, count), Basis: Cap, DiskExcluded: diskGB != lifecycle.BaseDiskGB}
}

// plus is the sum of two prices, as uncertain as the less certain one. An impossible sum cannot be determined.
func (p Price) plus(other Price) Price {
	sum := Price{
		Basis: None, DiskExcluded: p.DiskExcluded || other.DiskExcluded, Uncapped: p.Uncapped || other.Uncapped,
	}
	if p.KopH != nil && other.KopH != nil && *p.KopH+*other.KopH <= maxKopH {
		sum.KopH, sum.Basis = new(*p.KopH+*other.KopH), leastCertain(p.Basis, other.Basis)
	}
	return sum
}

// highest is the higher one of two prices, as uncertain as the less certain one.
func highest(p, other Price) Price {
	both := p.plus(other)
	if p.KopH != nil && other.KopH != nil {
		both.KopH, both.Basis = new(max(*p.KopH, *other.KopH)), leastCertain(p.Basis, other.Basis)
	}
	return both
}

func leastCertain(a, b Basis) Basis {
	order := []Basis{Known, Offer, Cap, None}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// times is a * n; nil if a is nil, or the product is not a possible price.
func times(a *int64, n int64) *int64 {
	if a == nil || n > 0 && *a > maxKopH/n {
		return nil
	}
	return new(*a * n)
}
