package offer

import (
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// item is an offer. A field is nil if the API omits it.
type item struct {
	ID              string   `tfsdk:"id"`
	Available       bool     `tfsdk:"available"`
	Verified        bool     `tfsdk:"verified"`
	Country         *string  `tfsdk:"country"`
	Region          *string  `tfsdk:"region"`
	GPU             gpu      `tfsdk:"gpu"`
	CPU             cpu      `tfsdk:"cpu"`
	RAMGB           *int64   `tfsdk:"ram_gb"`
	Disk            disk     `tfsdk:"disk"`
	Network         network  `tfsdk:"network"`
	PCIe            pcie     `tfsdk:"pcie"`
	CUDAMax         *float64 `tfsdk:"cuda_max"`
	Driver          *string  `tfsdk:"driver"`
	Reliability     *float64 `tfsdk:"reliability"`
	MaxDurationDays *int64   `tfsdk:"max_duration_days"`
	DLPerf          *float64 `tfsdk:"dlperf"`
	Price           price    `tfsdk:"price"`
}

type gpu struct {
	Slug        string   `tfsdk:"slug"`
	Name        string   `tfsdk:"name"`
	Count       int64    `tfsdk:"count"`
	VRAMGB      int64    `tfsdk:"vram_gb"`
	TotalTFLOPS *float64 `tfsdk:"total_tflops"`
	MemBWGBs    *int64   `tfsdk:"mem_bw_gbs"`
}

type cpu struct {
	Name  *string `tfsdk:"name"`
	Cores *int64  `tfsdk:"cores"`
}

type disk struct {
	MaxGB  *int64  `tfsdk:"max_gb"`
	BWMBps *int64  `tfsdk:"bw_mbps"`
	Name   *string `tfsdk:"name"`
}

type network struct {
	UpMbps   *int64 `tfsdk:"up_mbps"`
	DownMbps *int64 `tfsdk:"down_mbps"`
	Ports    *int64 `tfsdk:"ports"`
}

type pcie struct {
	Gen   *int64   `tfsdk:"gen"`
	BWGBs *float64 `tfsdk:"bw_gbs"`
}

type price struct {
	OnDemandKopH      int64  `tfsdk:"on_demand_kop_h"`
	InterruptibleKopH *int64 `tfsdk:"interruptible_kop_h"`
	StorageKopGBMonth int64  `tfsdk:"storage_kop_gb_month"`
	TrafficKopGB      int64  `tfsdk:"traffic_kop_gb"`
}

// fromAPI returns the model of an offer.
func fromAPI(o rental.Offer) item {
	return item{
		ID: o.ID, Available: o.Available, Verified: o.Verified, Country: o.Country, Region: o.Region,
		GPU: gpu(o.GPU), CPU: cpu(o.CPU), RAMGB: o.RAMGB, Disk: disk(o.Disk), Network: network(o.Network), PCIe: pcie(o.PCIe),
		CUDAMax: o.CUDAMax, Driver: o.Driver, Reliability: o.Reliability, MaxDurationDays: o.MaxDurationDays,
		DLPerf: o.DLPerf,
		Price:  price(o.Price),
	}
}
