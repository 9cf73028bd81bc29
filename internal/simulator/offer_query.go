package simulator

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

var (
	textCountry = text{"коды стран — две заглавные буквы", "country codes are two capital letters"}
	textSizes   = text{"допустимые значения: 1, 2, 4, 8", "values must be 1, 2, 4 or 8"}
)

// offerQuery is the filters and the order of GET /offers. A nil filter lets everything pass; a fact that the host does
// not report never passes a filter about it.
type offerQuery struct {
	gpu, country    []string
	sizes           []int64
	minGPUs         *int64
	rental          string
	minReliability  *float64
	minVRAMGB       *float64
	maxPriceKopH    *int64
	verified        *bool
	minCUDA         *float64
	minDiskGB       *float64
	minInetDownMbps *float64
	order           string
}

func readOfferQuery(q *query) offerQuery {
	const big = math.MaxFloat64
	f := offerQuery{
		gpu:             q.list("gpu"),
		minGPUs:         q.integer("min_gpus", 1, math.MaxInt64),
		rental:          q.enum("type", typeOnDemand, typeInterruptible),
		minReliability:  q.number("min_reliability", 0, 1),
		minVRAMGB:       q.number("min_vram_gb", 0, big),
		maxPriceKopH:    q.integer("max_price_kop_h", 0, math.MaxInt64),
		verified:        q.boolean("verified"),
		minCUDA:         q.number("min_cuda", -big, big),
		minDiskGB:       q.number("min_disk_gb", 0, big),
		minInetDownMbps: q.number("min_inet_down_mbps", 0, big),
		order:           q.enum("order", "price", "-price", "dlperf", "dlperf_per_price", "reliability", "vram", "inet_down"),
	}
	for _, size := range q.list("num_gpus") {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || !slices.Contains([]int64{1, 2, 4, 8}, n) {
			q.add("num_gpus", textSizes)
			break
		}
		f.sizes = append(f.sizes, n)
	}
	for _, country := range q.list("country") {
		if !isCountryCode(country) {
			q.add("country", textCountry)
			break
		}
		f.country = append(f.country, country)
	}
	return f
}

func isCountryCode(s string) bool {
	return len(s) == 2 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// matches tells whether an offer is listed for this query.
func (f offerQuery) matches(o *offer) bool {
	price := o.price(f.rental)
	return o.available() && price != nil &&
		(f.maxPriceKopH == nil || *price <= *f.maxPriceKopH) &&
		(len(f.gpu) == 0 || slices.Contains(f.gpu, o.model.slug)) &&
		(len(f.sizes) == 0 || slices.Contains(f.sizes, o.count)) &&
		(f.minGPUs == nil || o.count >= *f.minGPUs) &&
		(len(f.country) == 0 || o.country != nil && slices.Contains(f.country, *o.country)) &&
		(f.verified == nil || !*f.verified || o.verified) &&
		atLeast(&o.model.vramGB, f.minVRAMGB) &&
		atLeast(o.reliability, f.minReliability) &&
		atLeast(o.cudaMax, f.minCUDA) &&
		atLeast(o.diskMaxGB, f.minDiskGB) &&
		atLeast(o.downMbps, f.minInetDownMbps)
}

func atLeast[N int64 | float64](fact *N, bound *float64) bool {
	return bound == nil || fact != nil && float64(*fact) >= *bound
}

// sorted returns all offers, those not available included, in the order of the query with the prices of a past market.
func (f offerQuery) sorted(offers []*offer, market int64) []*offer {
	type ranked struct {
		offer *offer
		known bool
		key   float64
	}
	ranking := make([]ranked, 0, len(offers))
	for _, o := range offers {
		key, known := f.key(o, market)
		ranking = append(ranking, ranked{o, known, key})
	}
	slices.SortFunc(ranking, func(a, b ranked) int {
		if a.known != b.known {
			// What is not known comes last.
			if a.known {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.key, b.key), strings.Compare(a.offer.id, b.offer.id))
	})
	sorted := make([]*offer, 0, len(ranking))
	for _, r := range ranking {
		sorted = append(sorted, r.offer)
	}
	return sorted
}

// key ranks an offer, the lowest first; everything but "price" puts the most first.
func (f offerQuery) key(o *offer, market int64) (key float64, known bool) {
	price := o.priceAsOf(market, f.rental)
	switch f.order {
	case "-price":
		return most(price)
	case "dlperf":
		return most(o.dlperf)
	case "dlperf_per_price":
		if o.dlperf == nil || price == nil || *price == 0 {
			return 0, false
		}
		return -*o.dlperf / float64(*price), true
	case "reliability":
		return most(o.reliability)
	case "vram":
		return most(&o.model.vramGB)
	case "inet_down":
		return most(o.downMbps)
	}
	if price == nil {
		return 0, false
	}
	return float64(*price), true
}

func most[N int64 | float64](fact *N) (key float64, known bool) {
	if fact == nil {
		return 0, false
	}
	return -float64(*fact), true
}
