package placement

import (
	"slices"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// The cap is compared with the price without the disk.
func TestPlaced_AboveCap(t *testing.T) {
	offer := &rental.Offer{ID: "off_1", Price: rental.OfferPrice{OnDemandKopH: 1000, StorageKopGBMonth: 730}}
	for name, test := range map[string]struct {
		running, stopped int64
		status           rental.InstanceStatus
		offer            *rental.Offer
		recovered        bool
		limit            int64
		want             bool
	}{
		"no cap":                         {running: 9000, offer: offer},
		"at the cap":                     {running: 1000, offer: offer, limit: 1000},
		"with the whole disk":            {running: 1060, offer: offer, limit: 1000},
		"more than the disk":             {running: 1061, offer: offer, limit: 1000, want: true},
		"below the cap, above the offer": {running: 1500, offer: offer, limit: 1500},
		"above the cap, the offer below": {running: 1101, offer: offer, limit: 1100, want: true},
		"unknown offer, within its disk": {running: 1050, stopped: 50, limit: 1000},
		"unknown offer, beyond its disk": {running: 1051, stopped: 50, limit: 1000, want: true},
		"an earlier run's, running": {
			running: 2000, recovered: true, limit: 1000, want: true, status: rental.StatusRunning,
		},
		"an earlier run's, stopped":        {running: 2000, recovered: true, limit: 1000, status: rental.StatusStopped},
		"an earlier run's, unknown status": {running: 2000, recovered: true, limit: 1000, want: true, status: "hibernating"},
	} {
		placed := Placed{Offer: test.offer, Recovered: test.recovered, Instance: rental.Instance{
			Status: test.status, Price: rental.InstancePrice{RunningKopH: test.running, StoppedKopH: test.stopped},
		}}
		request := Request{Order: rental.InstanceCreate{DiskGB: 60, Type: rental.OnDemand}, MaxPriceKopH: test.limit}
		if got := placed.AboveCap(request); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// An instance of an earlier run is recovered only if it is what the request describes. What the API omits, and another
// spelling of the image, are no differences.
func TestPlaced_DifferencesOfRecovered(t *testing.T) {
	t.Parallel()
	request := Request{
		Order: rental.InstanceCreate{Template: "custom", DiskGB: 60, Type: rental.OnDemand},
		Image: "ubuntu:24.04",
	}
	same := rental.Instance{
		Template: rental.TemplateRef{Slug: "custom"}, DiskGB: 60, Type: rental.OnDemand,
		Image: "docker.io/library/ubuntu:24.04",
	}
	for name, test := range map[string]struct {
		change func(*Placed)
		want   string
	}{
		"the same":           {func(*Placed) {}, ""},
		"everything omitted": {func(p *Placed) { p.Instance = rental.Instance{} }, ""},
		"another template":   {func(p *Placed) { p.Template.Slug = "pytorch" }, "template"},
		"a smaller disk":     {func(p *Placed) { p.DiskGB = 50 }, "disk_gb"},
		"a larger disk":      {func(p *Placed) { p.DiskGB = 70 }, "disk_gb"},
		"another type":       {func(p *Placed) { p.Type = rental.Interruptible }, "type"},
		"another image":      {func(p *Placed) { p.Image = "debian:12" }, "image"},
	} {
		placed := Placed{Instance: same, Recovered: true}
		test.change(&placed)
		if got := append(placed.Differences(request), Difference{})[0]; got.Attribute != test.want {
			t.Errorf("%s: %+v, want %q", name, got, test.want)
		}
	}
}

// A new instance differs harmfully if it cannot serve in place of the requested one.
func TestPlaced_Differences(t *testing.T) {
	t.Parallel()
	vram := int64(16)
	request := Request{Order: rental.InstanceCreate{Template: "custom", DiskGB: 60, Type: rental.OnDemand}}
	offer := &rental.Offer{GPU: rental.OfferGPU{Slug: "a", Count: 2, VRAMGB: 24}}
	inst := rental.Instance{
		Type: rental.Interruptible, DiskGB: 70, GPU: rental.InstanceGPU{Slug: "b", Count: 4, VRAMGB: &vram},
	}
	want := []Difference{
		{"type", "interruptible", "on_demand", true},
		{"gpu.vram_gb", "16", "24", true},
		{"disk_gb", "70", "60", false},
		{"gpu.count", "4", "2", false},
		{"gpu.slug", "b", "a", false},
	}
	if got := (Placed{Instance: inst, Offer: offer}).Differences(request); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := (Placed{Offer: offer}).Differences(request); len(got) > 0 {
		t.Errorf("what the API omits is a difference: %+v", got)
	}
}
