package cost

import "github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"

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

// price is what one or several servers cost, and how certain that is. Its zero value is unknown.
type price struct {
	kopH  *int64 // nil: it cannot be determined
	basis Basis
	// diskExcluded: disk beyond the base disk of an offer, or the disk of a stopped member of a fleet, is not included.
	diskExcluded bool
	// uncapped: no price cap limits what is rented or started.
	uncapped bool
}

// knownPrice is a price that an existing server has.
func knownPrice(kopH int64) price { return price{kopH: &kopH, basis: Known} }

// cappedPrice is the highest price of servers that are rented or started; limit is the cap of each, nil for none. A cap
// does not include disk beyond the base disk.
func cappedPrice(limit *int64, count, diskGB int64) price {
	switch {
	case count == 0:
		return knownPrice(0)
	case limit == nil:
		return price{basis: None, uncapped: true}
	}
	return price{kopH: times(limit, count), basis: Cap, diskExcluded: diskGB != lifecycle.BaseDiskGB}
}

// plus is the sum of two prices, as uncertain as the less certain one.
func (p price) plus(other price) price {
	sum := price{
		kopH: sum(p.kopH, other.kopH), basis: worse(p.basis, other.basis),
		diskExcluded: p.diskExcluded || other.diskExcluded, uncapped: p.uncapped || other.uncapped,
	}
	if sum.kopH == nil {
		sum.basis = None
	}
	return sum
}

// within limits a price that is not known to the total cap of a fleet, which includes all disks. fixedKopH is the part
// that existing members cost whatever the cap is.
func (p price) within(total *int64, fixedKopH int64) price {
	if total == nil || p.basis == Known {
		return p
	}
	p.uncapped = false
	if limit := max(*total, fixedKopH); p.kopH == nil || *p.kopH >= limit {
		p.kopH, p.basis, p.diskExcluded = &limit, Cap, false
	}
	return p
}

// highest is the higher one of two prices, as uncertain as the less certain one.
func highest(p, other price) price {
	both := p.plus(other)
	if p.kopH != nil && other.kopH != nil {
		both.kopH, both.basis = new(max(*p.kopH, *other.kopH)), worse(p.basis, other.basis)
	}
	return both
}

var certainty = map[Basis]int{Known: 0, Offer: 1, Cap: 2, None: 3}

func worse(a, b Basis) Basis {
	if certainty[b] > certainty[a] {
		return b
	}
	return a
}

// sum is a + b; nil if one of them is nil, or the sum is not a possible price.
func sum(a, b *int64) *int64 {
	if a == nil || b == nil || *a+*b > maxKopH {
		return nil
	}
	return new(*a + *b)
}

// times is a * n; nil if a is nil, or the product is not a possible price.
func times(a *int64, n int64) *int64 {
	if a == nil || n > 0 && *a > maxKopH/n {
		return nil
	}
	return new(*a * n)
}

// lower is the lower one of two caps; nil for no cap.
func lower(a, b *int64) *int64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// isRaised reports whether a cap is higher than before, or gone.
func isRaised(before, after *int64) bool {
	return before != nil && (after == nil || *after > *before)
}
