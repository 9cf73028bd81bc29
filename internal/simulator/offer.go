package simulator

// offer is one server on the market.
type offer struct {
	id    string
	model gpuModel
	count int64
	// listed is whether the market offers it; rentedBy is the rental that holds it now.
	listed   bool
	rentedBy *instance

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
	onDemandKopH      int64
	interruptibleKopH *int64
	storageKopGBMonth int64
	trafficKopGB      int64

	// past are the prices before each change, oldest first.
	past []pastPrice
}

// pastPrice is what an offer cost until the market's change of that number.
type pastPrice struct {
	until             int64
	onDemandKopH      int64
	interruptibleKopH *int64
}

// maxPastPrices bounds the memory of an offer's prices; a cursor older than that sees the oldest price remembered.
const maxPastPrices = 1000

// available tells whether the offer can be rented now: an offer is one server.
func (o *offer) available() bool { return o.listed && o.rentedBy == nil }

// price returns the hourly price for a rental type, nil when the server is not let that way.
func (o *offer) price(rental string) *int64 {
	if rental == typeInterruptible {
		return o.interruptibleKopH
	}
	return &o.onDemandKopH
}

// priceAsOf returns the price as it was after that many changes of the market.
func (o *offer) priceAsOf(market int64, rental string) *int64 {
	for n := range o.past {
		if p := &o.past[n]; p.until > market {
			if rental == typeInterruptible {
				return p.interruptibleKopH
			}
			return &p.onDemandKopH
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
		Price: offerPrice{o.onDemandKopH, o.interruptibleKopH, o.storageKopGBMonth, o.trafficKopGB},
	}
}

func (w *world) findOffer(id string) *offer {
	for _, o := range w.offers {
		if o.id == id {
			return o
		}
	}
	return nil
}
