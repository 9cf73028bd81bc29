package rental

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Offer is a server that can be rented, with its price. Nil fields are unknown.
type Offer struct {
	ID              string       `json:"id"` // for InstanceCreate.OfferID
	Available       bool         `json:"available"`
	Verified        bool         `json:"verified"` // verified datacenter
	Country         *string      `json:"country"`  // ISO-2
	Region          *string      `json:"region"`
	GPU             OfferGPU     `json:"gpu"`
	CPU             OfferCPU     `json:"cpu"`
	RAMGB           *int64       `json:"ram_gb"`
	Disk            OfferDisk    `json:"disk"`
	Network         OfferNetwork `json:"network"`
	PCIe            OfferPCIe    `json:"pcie"`
	CUDAMax         *float64     `json:"cuda_max"` // highest CUDA version
	Driver          *string      `json:"driver"`
	Reliability     *float64     `json:"reliability"`       // 0 to 1
	MaxDurationDays *int64       `json:"max_duration_days"` // days left in the host's contract
	DLPerf          *float64     `json:"dlperf"`            // deep-learning performance index
	Price           OfferPrice   `json:"price"`
}

// OfferGPU describes the GPUs of an offer.
type OfferGPU struct {
	Slug        string   `json:"slug"`
	Name        string   `json:"name"`
	Count       int64    `json:"count"`        // GPUs in the server
	VRAMGB      int64    `json:"vram_gb"`      // per GPU
	TotalTFLOPS *float64 `json:"total_tflops"` // of the whole server
	MemBWGBs    *int64   `json:"mem_bw_gbs"`   // memory bandwidth, GB/s
}

// OfferCPU describes the CPU of an offer.
type OfferCPU struct {
	Name  *string `json:"name"`
	Cores *int64  `json:"cores"`
}

// OfferDisk describes the disk of an offer.
type OfferDisk struct {
	MaxGB  *int64  `json:"max_gb"`
	BWMBps *int64  `json:"bw_mbps"` // MB/s
	Name   *string `json:"name"`    // reserved: always nil
}

// OfferNetwork describes the network connection of an offer.
type OfferNetwork struct {
	UpMbps   *int64 `json:"up_mbps"`
	DownMbps *int64 `json:"down_mbps"`
	Ports    *int64 `json:"ports"` // directly reachable
}

// OfferPCIe describes the PCIe link of an offer.
type OfferPCIe struct {
	Gen   *int64   `json:"gen"`
	BWGBs *float64 `json:"bw_gbs"` // GB/s
}

// OfferPrice is the price of the whole server.
type OfferPrice struct {
	OnDemandKopH      int64  `json:"on_demand_kop_h"`      // kopecks per hour, base disk included
	InterruptibleKopH *int64 `json:"interruptible_kop_h"`  // kopecks per hour; nil if not available
	StorageKopGBMonth int64  `json:"storage_kop_gb_month"` // extra disk, kopecks per GB-month
	TrafficKopGB      int64  `json:"traffic_kop_gb"`       // kopecks per GB
}

func (o Offer) identity() string { return o.ID }

// UnmarshalJSON implements json.Unmarshaler. It sets an invalid price for an offer without one, so that validate
// rejects it: with price 0 it would look free.
func (o *Offer) UnmarshalJSON(data []byte) error {
	type plainOffer Offer
	o.Price.OnDemandKopH = -1
	return json.Unmarshal(data, (*plainOffer)(o))
}

func (o Offer) validate() error {
	p := o.Price
	return checkPrices(&p.OnDemandKopH, p.InterruptibleKopH, &p.StorageKopGBMonth, &p.TrafficKopGB)
}

// OfferOrders returns the values of OfferQuery.Order. The API's default is the first one.
func OfferOrders() []string {
	return []string{"price", "-price", "dlperf", "dlperf_per_price", "reliability", "vram", "inet_down"}
}

// OfferQuery filters offers. A nil or zero field does not filter. The names in JSON are those of the API and of the
// configuration.
type OfferQuery struct {
	GPU             []string   `json:"gpu"`                // any of these model slugs
	NumGPUs         []int64    `json:"num_gpus"`           // any of these GPU counts: 1, 2, 4, 8
	MinGPUs         *int64     `json:"min_gpus"`           // GPUs per server
	Type            RentalType `json:"type"`               // the API's default is OnDemand
	Country         []string   `json:"country"`            // any of these ISO-2 codes
	MinReliability  *float64   `json:"min_reliability"`    // 0 to 1
	MinVRAMGB       *float64   `json:"min_vram_gb"`        // per GPU
	MaxPriceKopH    *int64     `json:"max_price_kop_h"`    // whole server, for the chosen type, kopecks per hour
	Verified        *bool      `json:"verified"`           // true for verified datacenters only
	MinCUDA         *float64   `json:"min_cuda"`           // CUDA version
	MinDiskGB       *float64   `json:"min_disk_gb"`        // GB
	MinInetDownMbps *float64   `json:"min_inet_down_mbps"` // download, Mbit/s
	Order           string     `json:"order"`              // one of OfferOrders

	// The API does not have the following filters. The client applies them to the offers that the API returns. An offer
	// that omits the value does not match.

	MinRAMGB         *float64 `json:"min_ram_gb"` // GB
	MinCPUCores      *int64   `json:"min_cpu_cores"`
	MinInetUpMbps    *float64 `json:"min_inet_up_mbps"`  // upload, Mbit/s
	MinDurationDays  *int64   `json:"min_duration_days"` // days left in the host's contract
	MinPorts         *int64   `json:"min_ports"`         // directly reachable ports
	MinDiskBWMBps    *float64 `json:"min_disk_bw_mbps"`  // disk bandwidth, MB/s
	ExcludeCountries []string `json:"exclude_countries"` // ISO-2 codes
	ExcludeOfferIDs  []string `json:"exclude_offer_ids"`

	ListOptions `json:"-"`
}

func (q OfferQuery) values() url.Values {
	values := url.Values{}
	if q.Type != "" {
		values.Set("type", string(q.Type))
	}
	if q.Order != "" {
		values.Set("order", q.Order)
	}
	for _, filter := range q.apiFilters() {
		values.Set(filter.Name, strings.ReplaceAll(filter.Value, listSeparator, ","))
	}
	return values
}

// ListOffers lists the available offers that match all filters. Public; the API caches responses for 60 seconds.
func (c *Client) ListOffers(ctx context.Context, query OfferQuery) iter.Seq2[Offer, error] {
	req := request{path: []string{"offers"}, query: query.values(), auth: authNone}
	filters := query.clientFilters()
	return func(yield func(Offer, error) bool) {
		for offer, err := range list[Offer](ctx, c, req, query.ListOptions) {
			excluded := slices.ContainsFunc(filters, func(f OfferFilter) bool { return !f.Matches(offer) })
			if err == nil && excluded {
				continue
			}
			if !yield(offer, err) {
				return
			}
		}
	}
}

// GetOffer returns one offer, or an error IsNotFound if it does not exist anymore. Public.
func (c *Client) GetOffer(ctx context.Context, id string) (Offer, error) {
	return fetch[Offer](ctx, c, request{
		method: http.MethodGet, path: []string{"offers", id}, auth: authNone, wantID: id,
	})
}
