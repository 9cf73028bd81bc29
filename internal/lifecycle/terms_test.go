package lifecycle

import (
	"slices"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// The cap is compared with the price without the disk.
func TestRented_AboveCap(t *testing.T) {
	offer := &Candidate{Offer: rental.Offer{
		GPU: rental.OfferGPU{Slug: "rtx_4090"}, Price: rental.OfferPrice{OnDemandKopH: 1000, StorageKopGBMonth: 730},
	}}
	for name, test := range map[string]struct {
		running, stopped int64
		status           rental.InstanceStatus
		candidate        *Candidate
		limit            int64
		want             bool
	}{
		"no cap":                         {running: 9000, candidate: offer},
		"at the cap":                     {running: 1000, candidate: offer, limit: 1000},
		"with the whole disk":            {running: 1060, candidate: offer, limit: 1000},
		"more than the disk":             {running: 1061, candidate: offer, limit: 1000, want: true},
		"below the cap, above the offer": {running: 1500, candidate: offer, limit: 1500},
		"above the cap, the offer below": {running: 1101, candidate: offer, limit: 1100, want: true},
		"recovered, within its disk":     {running: 1050, stopped: 50, limit: 1000},
		"recovered, beyond its disk":     {running: 1051, stopped: 50, limit: 1000, want: true},
		"recovered, stopped":             {running: 2000, limit: 1000, status: rental.StatusStopped},
		"recovered, unknown status":      {running: 2000, limit: 1000, want: true, status: "hibernating"},
	} {
		rented := Rented{Candidate: test.candidate, Recovered: test.candidate == nil, Instance: rental.Instance{
			Status: test.status, Price: rental.InstancePrice{RunningKopH: test.running, StoppedKopH: test.stopped},
		}}
		request := rental.InstanceCreate{DiskGB: 60, Type: rental.OnDemand}
		rented.Order = Order{Request: request, MaxPriceKopH: test.limit}
		if got := rented.isAboveCap(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What the API omits, and another spelling of the image, are no differences.
func TestRented_Differences(t *testing.T) {
	t.Parallel()
	vram := int64(16)
	order := Order{
		Request:       rental.InstanceCreate{Template: "custom", DiskGB: 60, Type: rental.OnDemand},
		ExpectedImage: "ubuntu:24.04",
	}
	candidate := &Candidate{Offer: rental.Offer{GPU: rental.OfferGPU{Slug: "a", Count: 2, VRAMGB: 24}}}
	for name, test := range map[string]struct {
		inst rental.Instance
		want []Difference
	}{
		"everything is omitted": {},
		"all the same": {inst: rental.Instance{
			Template: rental.TemplateRef{Slug: "Custom"}, DiskGB: 60, Type: rental.OnDemand,
			Image: "docker.io/library/ubuntu:24.04", GPU: rental.InstanceGPU{Slug: "a", Count: 2},
		}},
		"larger": {
			rental.Instance{DiskGB: 70, GPU: rental.InstanceGPU{Slug: "b", Count: 4}},
			[]Difference{
				{Attribute: "disk_gb", Actual: "70", Requested: "60"}, {Attribute: "gpu.count", Actual: "4", Requested: "2"},
				{Attribute: "gpu.slug", Actual: "b", Requested: "a"},
			},
		},
		"not as ordered, these first": {
			rental.Instance{
				Template: rental.TemplateRef{Slug: "pytorch"}, DiskGB: 50, Type: rental.Interruptible, Image: "debian:12",
				GPU: rental.InstanceGPU{Slug: "b", Count: 1, VRAMGB: &vram},
			},
			[]Difference{
				{Attribute: "type", Actual: "interruptible", Requested: "on_demand", Harmful: true},
				{Attribute: "template", Actual: "pytorch", Requested: "custom", Harmful: true},
				{Attribute: "image", Actual: "debian:12", Requested: "ubuntu:24.04", Harmful: true},
				{Attribute: "disk_gb", Actual: "50", Requested: "60", Harmful: true},
				{Attribute: "gpu.count", Actual: "1", Requested: "2", Harmful: true},
				{Attribute: "gpu.vram_gb", Actual: "16", Requested: "24", Harmful: true},
				{Attribute: "gpu.slug", Actual: "b", Requested: "a"},
			},
		},
	} {
		rented := Rented{Instance: test.inst, Order: order, Candidate: candidate}
		if got := rented.Differences(); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
