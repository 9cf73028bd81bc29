package rental

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// OfferFilter is one filter of a query.
type OfferFilter struct {
	// Name is the name of the parameter of the API, or of the field of OfferQuery in the same style.
	Name string
	// Value is the value of the filter as a text without a unit. A list has listSeparator between its values.
	Value string
	// Matches reports whether an offer matches. An offer that omits the value does not match.
	Matches func(Offer) bool
}

const listSeparator = ", "

// Filters returns the filters of the query in a fixed order, those of the API first.
func (q OfferQuery) Filters() []OfferFilter { return append(q.apiFilters(), q.clientFilters()...) }

// apiFilters are the filters that the API applies.
func (q OfferQuery) apiFilters() []OfferFilter {
	var filters filterList
	if len(q.GPU) > 0 {
		filters.add("gpu", strings.Join(q.GPU, listSeparator), func(o Offer) bool {
			return slices.Contains(q.GPU, o.GPU.Slug)
		})
	}
	if len(q.NumGPUs) > 0 {
		value := strings.Trim(strings.ReplaceAll(fmt.Sprint(q.NumGPUs), " ", listSeparator), "[]")
		filters.add("num_gpus", value, func(o Offer) bool { return slices.Contains(q.NumGPUs, o.GPU.Count) })
	}
	addAtLeast(&filters, "min_gpus", q.MinGPUs, func(o Offer) *int64 { return &o.GPU.Count })
	if len(q.Country) > 0 {
		filters.add("country", strings.Join(q.Country, listSeparator), func(o Offer) bool {
			return o.Country != nil && slices.Contains(q.Country, *o.Country)
		})
	}
	if q.Verified != nil {
		filters.add("verified", strconv.FormatBool(*q.Verified), func(o Offer) bool { return o.Verified || !*q.Verified })
	}
	addAtLeast(&filters, "min_reliability", q.MinReliability, func(o Offer) *float64 { return o.Reliability })
	addAtLeast(&filters, "min_cuda", q.MinCUDA, func(o Offer) *float64 { return o.CUDAMax })
	addAtLeast(&filters, "min_vram_gb", q.MinVRAMGB, func(o Offer) *int64 { return &o.GPU.VRAMGB })
	addAtLeast(&filters, "min_disk_gb", q.MinDiskGB, func(o Offer) *int64 { return o.Disk.MaxGB })
	addAtLeast(&filters, "min_inet_down_mbps", q.MinInetDownMbps, func(o Offer) *int64 { return o.Network.DownMbps })
	if q.MaxPriceKopH != nil {
		filters.add("max_price_kop_h", strconv.FormatInt(*q.MaxPriceKopH, 10), func(o Offer) bool {
			price, ok := o.PriceKopH(q.Type)
			return ok && price <= *q.MaxPriceKopH
		})
	}
	return filters
}

// clientFilters are the filters that the API does not have. The client applies them.
func (q OfferQuery) clientFilters() []OfferFilter {
	var filters filterList
	addAtLeast(&filters, "min_ram_gb", q.MinRAMGB, func(o Offer) *int64 { return o.RAMGB })
	addAtLeast(&filters, "min_cpu_cores", q.MinCPUCores, func(o Offer) *int64 { return o.CPU.Cores })
	addAtLeast(&filters, "min_inet_up_mbps", q.MinInetUpMbps, func(o Offer) *int64 { return o.Network.UpMbps })
	addAtLeast(&filters, "min_duration_days", q.MinDurationDays, func(o Offer) *int64 { return o.MaxDurationDays })
	addAtLeast(&filters, "min_ports", q.MinPorts, func(o Offer) *int64 { return o.Network.Ports })
	addAtLeast(&filters, "min_disk_bw_mbps", q.MinDiskBWMBps, func(o Offer) *int64 { return o.Disk.BWMBps })
	if len(q.ExcludeCountries) > 0 {
		filters.add("exclude_countries", strings.Join(q.ExcludeCountries, listSeparator), func(o Offer) bool {
			return o.Country != nil && !slices.Contains(q.ExcludeCountries, *o.Country)
		})
	}
	if len(q.ExcludeOfferIDs) > 0 {
		filters.add("exclude_offer_ids", strings.Join(q.ExcludeOfferIDs, listSeparator), func(o Offer) bool {
			return !slices.Contains(q.ExcludeOfferIDs, o.ID)
		})
	}
	return filters
}

type filterList []OfferFilter

func (l *filterList) add(name, value string, matches func(Offer) bool) {
	*l = append(*l, OfferFilter{Name: name, Value: value, Matches: matches})
}

// addAtLeast adds a filter for a minimum; nil adds none.
func addAtLeast[M, T int64 | float64](l *filterList, name string, minimum *M, field func(Offer) *T) {
	if minimum == nil {
		return
	}
	l.add(name, strconv.FormatFloat(float64(*minimum), 'f', -1, 64), func(o Offer) bool {
		value := field(o)
		return value != nil && float64(*value) >= float64(*minimum)
	})
}
