package simulator

import (
	"slices"
	"time"
)

// offer is an offer: one server on the market.
type offer struct {
	// offerView are the properties of the server. Available and the prices per hour are in offerState.
	offerView
	model gpuModel
	*offerState
	// rentedBy is the current instance, nil if the server is not rented.
	rentedBy *instance
	// basePrice is the initial price, which market moves return to. A stable offer is not rented by others.
	basePrice prices
	stable    bool
	// index is the position in the market, for random numbers.
	index     uint64
	moveEvent event
}

// offerState is the variable part of an offer. The seed determines the rest.
type offerState struct {
	// Listed is false while another customer rents the server.
	Listed bool
	prices
	// Past are the prices before each change, oldest first.
	Past []pastPrice
	// Moves is the number of market moves. MoveAt is the next one; zero means never, after SetOffer.
	Moves  uint64
	MoveAt time.Time
}

// prices are the prices of an offer in kopecks per hour. InterruptibleKopH is nil if it is not available.
type prices struct {
	OnDemandKopH      int64
	InterruptibleKopH *int64
}

// price returns the price for a rental type, nil if the offer does not have that type.
func (p *prices) price(rentalType string) *int64 {
	if rentalType == typeInterruptible {
		return p.InterruptibleKopH
	}
	return &p.OnDemandKopH
}

// pastPrice are the prices before a price change.
type pastPrice struct {
	Until int64
	At    time.Time
	prices
}

// Limits of past prices. A cursor that is older uses the oldest one.
const (
	maxPastPrices = 1000
	pastPriceLife = time.Hour
)

// available reports whether the offer can be rented now.
func (o *offer) available() bool { return o.Listed && o.rentedBy == nil }

// priceAsOf returns the price after a number of price changes of the market.
func (o *offer) priceAsOf(market int64, rentalType string) *int64 {
	for n := range o.Past {
		if p := &o.Past[n]; p.Until > market {
			return p.price(rentalType)
		}
	}
	return o.price(rentalType)
}

type offerView struct {
	ID              string       `json:"id"`
	Available       bool         `json:"available"`
	Verified        bool         `json:"verified"`
	Country         *string      `json:"country"`
	Region          *string      `json:"region"`
	GPU             offerGPU     `json:"gpu"`
	CPU             offerCPU     `json:"cpu"`
	RAMGB           *int64       `json:"ram_gb"`
	Disk            offerDisk    `json:"disk"`
	Network         offerNetwork `json:"network"`
	PCIe            offerPCIe    `json:"pcie"`
	CUDAMax         *float64     `json:"cuda_max"`
	Driver          *string      `json:"driver"`
	Reliability     *float64     `json:"reliability"`
	MaxDurationDays *int64       `json:"max_duration_days"`
	DLPerf          *float64     `json:"dlperf"`
	Price           offerPrice   `json:"price"`
}

type offerGPU struct {
	Slug        string   `json:"slug"`
	Name        string   `json:"name"`
	Count       int64    `json:"count"`
	VRAMGB      int64    `json:"vram_gb"`
	TotalTFLOPS *float64 `json:"total_tflops"`
	MemBWGBs    *int64   `json:"mem_bw_gbs"`
}

type offerCPU struct {
	Name  *string `json:"name"`
	Cores *int64  `json:"cores"`
}

type offerDisk struct {
	MaxGB  *int64  `json:"max_gb"`
	BWMBps *int64  `json:"bw_mbps"`
	Name   *string `json:"name"`
}

type offerNetwork struct {
	UpMbps   *int64 `json:"up_mbps"`
	DownMbps *int64 `json:"down_mbps"`
	Ports    *int64 `json:"ports"`
}

type offerPCIe struct {
	Gen   *int64   `json:"gen"`
	BWGBs *float64 `json:"bw_gbs"`
}

type offerPrice struct {
	OnDemandKopH      int64  `json:"on_demand_kop_h"`
	InterruptibleKopH *int64 `json:"interruptible_kop_h"`
	StorageKopGBMonth int64  `json:"storage_kop_gb_month"`
	TrafficKopGB      int64  `json:"traffic_kop_gb"`
}

func viewOffer(o *offer) offerView {
	view := o.offerView
	view.Available = o.available()
	view.Price.OnDemandKopH, view.Price.InterruptibleKopH = o.OnDemandKopH, o.InterruptibleKopH
	return view
}

func (e *engine) findOffer(id string) *offer { return e.index.offers[id] }

// listOffers uses the order of the time when the first page was read, so that price changes between pages neither hide
// nor repeat an offer. The items of each page are current.
func (c *call) listOffers() (any, error) {
	q := parseQuery(c.r.URL)
	filters := readOfferQuery(q)
	filters.unavailable = c.config.Hooks.ListsAll(c.r)
	req := c.readPageRequest(q, "offers")
	if err := q.err(); err != nil {
		return nil, err
	}
	market := c.PriceChanges
	if req.after != nil {
		market = req.after.PriceChanges
	}
	sorted := filters.sorted(c.offers, market)
	if req.after != nil {
		last := slices.IndexFunc(sorted, func(o *offer) bool { return o.ID == req.after.ID })
		sorted = sorted[last+1:]
	}
	following := slices.DeleteFunc(sorted, func(o *offer) bool { return !filters.matches(o) })
	position := func(o *offer) cursorPosition { return cursorPosition{ID: o.ID, PriceChanges: market} }
	return newPage(req, following, position, c.offerViewer()), nil
}

func (c *call) getOffer() (any, error) {
	o := c.findOffer(c.params["id"])
	if o == nil {
		return nil, notFound(textNoOffer)
	}
	return c.offerViewer()(o), nil
}

// offerViewer returns a function that converts offers and records the prices that the caller was shown.
func (c *call) offerViewer() func(*offer) offerView {
	callers := c.callers()
	return func(o *offer) offerView {
		c.recordShown(o, callers)
		return viewOffer(o)
	}
}
