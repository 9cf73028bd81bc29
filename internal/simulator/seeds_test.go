package simulator_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// TestOffers_EverySeed checks the rules for the offers of every seed.
func TestOffers_EverySeed(t *testing.T) {
	listing := func(seed uint64) (offers, gpus []byte) {
		r := newRig(t, func(c *simulator.Config) { c.Seed = seed })
		return r.do("GET", "/offers?limit=200", nil).want(200).raw, r.do("GET", "/gpus", nil).want(200).raw
	}
	for seed := range uint64(5) {
		offers, gpus := listing(seed)
		again, _ := listing(seed)
		if string(offers) != string(again) {
			t.Errorf("seed %d: two markets", seed)
		}
		var o page[offer]
		if err := json.Unmarshal(offers, &o); err != nil {
			t.Fatal(err)
		}
		plain := 0
		countries := map[string]bool{}
		for _, offer := range o.Data {
			if offer.Country != nil {
				countries[*offer.Country] = true
			}
			if offer.GPU.Slug == "rtx_4090" && offer.GPU.Count == 1 && offer.Price.OnDemand <= 5000 && offer.Verified &&
				*offer.Disk.MaxGB >= 200 {
				plain++
			}
		}
		if plain < 2 || len(countries) < 5 {
			t.Errorf("seed %d: %d plain offers, countries %v", seed, plain, slices.Collect(maps.Keys(countries)))
		}
		var g page[struct {
			Slug      string
			Available int64  `json:"available_gpus"`
			From      *int64 `json:"from_kop_h"`
		}]
		if err := json.Unmarshal(gpus, &g); err != nil {
			t.Fatal(err)
		}
		offered := 0
		for _, model := range g.Data {
			if (model.Available == 0) != (model.From == nil) {
				t.Errorf("seed %d: %s has %d GPUs and price %v", seed, model.Slug, model.Available, model.From)
			}
			if model.Available > 0 {
				offered++
			}
		}
		if offered < 10 || offered == len(g.Data) {
			t.Errorf("seed %d: %d of %d models are offered", seed, offered, len(g.Data))
		}
		for path := range nullPaths(t, offers) {
			delete(nullable, path)
		}
	}
	for path := range nullable {
		t.Errorf("%s is null in no offer", path)
	}
}

var nullable = map[string]bool{
	"country": true, "region": true, "gpu.total_tflops": true, "gpu.mem_bw_gbs": true, "cpu.name": true,
	"cpu.cores": true,
	"ram_gb":    true, "disk.max_gb": true, "disk.bw_mbps": true, "disk.name": true, "network.up_mbps": true,
	"network.down_mbps": true, "network.ports": true, "pcie.gen": true, "pcie.bw_gbs": true, "cuda_max": true,
	"driver":      true,
	"reliability": true, "max_duration_days": true, "dlperf": true, "price.interruptible_kop_h": true,
}

func nullPaths(t *testing.T, listing []byte) map[string]bool {
	t.Helper()
	var p page[map[string]any]
	if err := json.Unmarshal(listing, &p); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, o := range p.Data {
		for name, value := range o {
			if value == nil {
				found[name] = true
			}
			if inner, ok := value.(map[string]any); ok {
				for field, value := range inner {
					if value == nil {
						found[name+"."+field] = true
					}
				}
			}
		}
	}
	return found
}
