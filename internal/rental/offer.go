package rental

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Offer is a server configuration with its price, as it can be rented now. Nil fields are unknown to the service.
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

// OfferGPU is the GPU side of an offer.
type OfferGPU struct {
	Slug        string   `json:"slug"`
	Name        string   `json:"name"`
	Count       int64    `json:"count"`        // GPUs in the server
	VRAMGB      int64    `json:"vram_gb"`      // per GPU
	TotalTFLOPS *float64 `json:"total_tflops"` // of the whole server
	MemBWGBs    *int64   `json:"mem_bw_gbs"`   // memory bandwidth, GB/s
}

// OfferCPU is the CPU side of an offer.
type OfferCPU struct {
	Name  *string `json:"name"`
	Cores *int64  `json:"cores"`
}

// OfferDisk is the disk side of an offer.
type OfferDisk struct {
	MaxGB  *int64  `json:"max_gb"`
	BWMBps *int64  `json:"bw_mbps"` // MB/s
	Name   *string `json:"name"`    // reserved by the service: always nil today
}

// OfferNetwork is the network side of an offer.
type OfferNetwork struct {
	UpMbps   *int64 `json:"up_mbps"`
	DownMbps *int64 `json:"down_mbps"`
	Ports    *int64 `json:"ports"` // directly reachable
}

// OfferPCIe is the PCIe link of an offer.
type OfferPCIe struct {
	Gen   *int64   `json:"gen"`
	BWGBs *float64 `json:"bw_gbs"` // GB/s
}

// OfferPrice is what the whole server costs.
type OfferPrice struct {
	OnDemandKopH      int64  `json:"on_demand_kop_h"`      // kopecks per hour, base disk included
	InterruptibleKopH *int64 `json:"interruptible_kop_h"`  // kopecks per hour; nil when not rented so
	StorageKopGBMonth int64  `json:"storage_kop_gb_month"` // extra disk, kopecks per GB-month
	TrafficKopGB      int64  `json:"traffic_kop_gb"`       // kopecks per GB
}

func (o Offer) identity() string { return o.ID }

// UnmarshalJSON reads an offer. One without a price must not look like a free one: it does not pass validate.
func (o *Offer) UnmarshalJSON(data []byte) error {
	type plainOffer Offer
	o.Price.OnDemandKopH = -1
	return json.Unmarshal(data, (*plainOffer)(o))
}

func (o Offer) validate() error {
	bid := int64(0)
	if o.Price.InterruptibleKopH != nil {
		bid = *o.Price.InterruptibleKopH
	}
	return checkPrices(o.Price.OnDemandKopH, bid, o.Price.StorageKopGBMonth, o.Price.TrafficKopGB)
}

// The orders of OfferQuery.Order; the service's default is OrderPrice.
const (
	OrderPrice          = "price"
	OrderPriceDesc      = "-price"
	OrderDLPerf         = "dlperf"
	OrderDLPerfPerPrice = "dlperf_per_price"
	OrderReliability    = "reliability"
	OrderVRAM           = "vram"
	OrderInetDown       = "inet_down"
)

// OfferQuery filters offers. A nil or zero field is not sent and filters nothing.
type OfferQuery struct {
	GPU             []string   // model slugs, any of them
	NumGPUs         []int64    // GPUs per server, any of 1, 2, 4, 8
	MinGPUs         *int64     // per server
	Type            RentalType // the service's default is OnDemand
	Country         []string   // ISO-2 codes, any of them
	MinReliability  *float64   // 0 to 1
	MinVRAMGB       *float64   // per GPU
	MaxPriceKopH    *int64     // whole server, for the chosen type, kopecks per hour
	Verified        *bool      // true: verified datacenters only
	MinCUDA         *float64   // CUDA version
	MinDiskGB       *float64   // GB
	MinInetDownMbps *float64   // download, Mbit/s
	Order           string     // one of the Order constants
	ListOptions
}

func (q OfferQuery) values() url.Values {
	values := url.Values{}
	numbers := make([]string, len(q.NumGPUs))
	for i, n := range q.NumGPUs {
		numbers[i] = strconv.FormatInt(n, 10)
	}
	for name, value := range map[string]string{
		"gpu":                strings.Join(q.GPU, ","),
		"num_gpus":           strings.Join(numbers, ","),
		"type":               string(q.Type),
		"country":            strings.Join(q.Country, ","),
		"order":              q.Order,
		"min_gpus":           formatInt(q.MinGPUs),
		"min_cuda":           formatFloat(q.MinCUDA),
		"min_vram_gb":        formatFloat(q.MinVRAMGB),
		"min_disk_gb":        formatFloat(q.MinDiskGB),
		"min_reliability":    formatFloat(q.MinReliability),
		"max_price_kop_h":    formatInt(q.MaxPriceKopH),
		"min_inet_down_mbps": formatFloat(q.MinInetDownMbps),
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if q.Verified != nil {
		values.Set("verified", strconv.FormatBool(*q.Verified))
	}
	return values
}

func formatInt(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func formatFloat(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

// ListOffers lists the offers that can be rented now. Public; the service caches answers for 60 seconds.
func (c *Client) ListOffers(ctx context.Context, query OfferQuery) iter.Seq2[Offer, error] {
	return list[Offer](ctx, c, request{path: []string{"offers"}, query: query.values(), access: public}, query.ListOptions)
}

// GetOffer returns one offer; IsNotFound when it is gone. Public.
func (c *Client) GetOffer(ctx context.Context, id string) (Offer, error) {
	return fetch[Offer](ctx, c, request{method: http.MethodGet, path: []string{"offers", id}, access: public, about: id})
}

// Key is the same for two queries that ask for the same offers, page size aside.
func (q OfferQuery) Key() string { return q.values().Encode() }
