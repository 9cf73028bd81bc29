package simulator

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

var (
	textNoOffer   = text{"Предложение не найдено", "Offer not found"}
	textCountry   = text{"коды стран — две заглавные буквы", "country codes are two capital letters"}
	textGPUCounts = text{"допустимые значения: 1, 2, 4, 8", "values must be 1, 2, 4 or 8"}
)

// offerQuery are the filters and the order of GET /offers. A nil filter accepts all offers. An offer with an unknown
// value does not match a filter on it.
type offerQuery struct {
	gpu, country    []string
	gpuCounts       []int64
	minGPUs         *int64
	rentalType      string
	minReliability  *float64
	minVRAMGB       *float64
	maxPriceKopH    *int64
	verified        *bool
	minCUDA         *float64
	minDiskGB       *float64
	minInetDownMbps *float64
	order           string
	unavailable     bool // offers that are not available match, too
}

func readOfferQuery(q *query) offerQuery {
	const big = math.MaxFloat64
	f := offerQuery{
		gpu:             q.list("gpu"),
		minGPUs:         q.integer("min_gpus", 1, math.MaxInt64),
		rentalType:      q.enum("type", typeOnDemand, typeInterruptible),
		minReliability:  q.number("min_reliability", 0, 1),
		minVRAMGB:       q.number("min_vram_gb", 0, big),
		maxPriceKopH:    q.integer("max_price_kop_h", 0, math.MaxInt64),
		verified:        q.boolean("verified"),
		minCUDA:         q.number("min_cuda", -big, big),
		minDiskGB:       q.number("min_disk_gb", 0, big),
		minInetDownMbps: q.number("min_inet_down_mbps", 0, big),
		order: q.enum("order", "price", "-price", "dlperf", "dlperf_per_price", "reliability", "vram",
			"inet_down"),
	}
	for _, size := range q.list("num_gpus") {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || !slices.Contains([]int64{1, 2, 4, 8}, n) {
			q.add("num_gpus", textGPUCounts)
			break
		}
		f.gpuCounts = append(f.gpuCounts, n)
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

// matches reports whether an offer is listed.
func (f offerQuery) matches(o *offer) bool {
	price := o.price(f.rentalType)
	return (f.unavailable || o.available()) && price != nil &&
		(f.maxPriceKopH == nil || *price <= *f.maxPriceKopH) &&
		(len(f.gpu) == 0 || slices.Contains(f.gpu, o.model.slug)) &&
		(len(f.gpuCounts) == 0 || slices.Contains(f.gpuCounts, o.GPU.Count)) &&
		(f.minGPUs == nil || o.GPU.Count >= *f.minGPUs) &&
		(len(f.country) == 0 || o.Country != nil && slices.Contains(f.country, *o.Country)) &&
		(f.verified == nil || !*f.verified || o.Verified) &&
		atLeast(&o.model.vramGB, f.minVRAMGB) &&
		atLeast(o.Reliability, f.minReliability) &&
		atLeast(o.CUDAMax, f.minCUDA) &&
		atLeast(o.Disk.MaxGB, f.minDiskGB) &&
		atLeast(o.Network.DownMbps, f.minInetDownMbps)
}

func atLeast[N int64 | float64](fact *N, bound *float64) bool {
	return bound == nil || fact != nil && float64(*fact) >= *bound
}

// sorted returns all offers, also unavailable ones, in the order of the query with past prices.
func (f offerQuery) sorted(offers []*offer, market int64) []*offer {
	type ranked struct {
		offer *offer
		known bool
		key   float64
	}
	ranking := make([]ranked, 0, len(offers))
	for _, o := range offers {
		key, known := f.sortKey(o, market)
		ranking = append(ranking, ranked{o, known, key})
	}
	slices.SortFunc(ranking, func(a, b ranked) int {
		switch {
		case a.known && !b.known: // offers with an unknown value come last
			return -1
		case !a.known && b.known:
			return 1
		}
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.offer.ID, b.offer.ID))
	})
	sorted := make([]*offer, 0, len(ranking))
	for _, r := range ranking {
		sorted = append(sorted, r.offer)
	}
	return sorted
}

// sortKey returns the key of an offer for sorting in ascending order. All orders but "price" are descending.
func (f offerQuery) sortKey(o *offer, market int64) (key float64, known bool) {
	price := o.priceAsOf(market, f.rentalType)
	switch f.order {
	case "-price":
		return descending(price)
	case "dlperf":
		return descending(o.DLPerf)
	case "dlperf_per_price":
		if o.DLPerf == nil || price == nil || *price == 0 {
			return 0, false
		}
		return -*o.DLPerf / float64(*price), true
	case "reliability":
		return descending(o.Reliability)
	case "vram":
		return descending(&o.model.vramGB)
	case "inet_down":
		return descending(o.Network.DownMbps)
	}
	if price == nil {
		return 0, false
	}
	return float64(*price), true
}

func descending[N int64 | float64](fact *N) (key float64, known bool) {
	if fact == nil {
		return 0, false
	}
	return -float64(*fact), true
}
