package simulator

import "time"

// offer is one server on the market.
type offer struct {
	id    string
	model gpuModel
	count int64
	offerState
	// rentedBy is the rental that holds it now.
	rentedBy *instance
	// usual is what it costs when nothing moves the market; steady offers hardly move, so that a first configuration can
	// count on them.
	usual  offerPrice
	steady bool
	// number is its place in the market, for the dice.
	number uint64
	move   timer

	verified          bool
	country, region   *string
	totalTFLOPS       *float64
	memBWGBs          *int64
	cpuName           *string
	cpuCores          *int64
	ramGB             *int64
	diskMaxGB         *int64
	diskBWMBs         *int64
	upMbps, downMbps  *int64
	ports             *int64
	pcieGen           *int64
	pcieBWGBs         *float64
	cudaMax           *float64
	driver            *string
	reliability       *float64
	maxDurationDays   *int64
	dlperf            *float64
	storageKopGBMonth int64
	trafficKopGB      int64
}

// offerState is what changes about an offer; the rest follows from the seed.
type offerState struct {
	// Listed is whether the market offers it: false when another customer has it. Online is whether its host is there.
	Listed, Online bool
	// FailBoots makes every boot end in failed.
	FailBoots         bool
	OnDemandKopH      int64
	InterruptibleKopH *int64
	// Past are the prices before each change, oldest first.
	Past []pastPrice
	// Moves counts the market's moves of this offer; MoveAt is the next one, zero for never: what was set by hand stays.
	Moves  uint64
	MoveAt time.Time
}

// pastPrice is what an offer cost until the market's change of that number.
type pastPrice struct {
	Until             int64
	At                time.Time
	OnDemandKopH      int64
	InterruptibleKopH *int64
}

// What is remembered of an offer's prices; a cursor older than that sees the oldest price remembered.
const (
	maxPastPrices = 1000
	pastPriceLife = time.Hour
)

// available tells whether the offer can be rented now: an offer is one server.
func (o *offer) available() bool { return o.Listed && o.Online && o.rentedBy == nil }

// price returns the hourly price for a rental type, nil when the server is not let that way.
func (o *offer) price(rental string) *int64 {
	if rental == typeInterruptible {
		return o.InterruptibleKopH
	}
	return &o.OnDemandKopH
}

// priceAsOf returns the price as it was after that many changes of the market.
func (o *offer) priceAsOf(market int64, rental string) *int64 {
	for n := range o.Past {
		if p := &o.Past[n]; p.Until > market {
			if rental == typeInterruptible {
				return p.InterruptibleKopH
			}
			return &p.OnDemandKopH
		}
	}
	return o.price(rental)
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
	return offerView{
		ID: o.id, Available: o.available(), Verified: o.verified, Country: o.country, Region: o.region,
		GPU: offerGPU{
			Slug: o.model.slug, Name: o.model.name, Count: o.count, VRAMGB: o.model.vramGB,
			TotalTFLOPS: o.totalTFLOPS, MemBWGBs: o.memBWGBs,
		},
		CPU:     offerCPU{o.cpuName, o.cpuCores},
		RAMGB:   o.ramGB,
		Disk:    offerDisk{MaxGB: o.diskMaxGB, BWMBps: o.diskBWMBs},
		Network: offerNetwork{o.upMbps, o.downMbps, o.ports},
		PCIe:    offerPCIe{o.pcieGen, o.pcieBWGBs},
		CUDAMax: o.cudaMax, Driver: o.driver, Reliability: o.reliability,
		MaxDurationDays: o.maxDurationDays, DLPerf: o.dlperf,
		Price: offerPrice{o.OnDemandKopH, o.InterruptibleKopH, o.storageKopGBMonth, o.trafficKopGB},
	}
}

func (w *world) findOffer(id string) *offer { return w.index.offers[id] }
