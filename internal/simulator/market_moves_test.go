package simulator_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// marketClient returns a simulator whose offers are not checked against the contract, which takes most of the time.
func marketClient(t *testing.T, market string, seed uint64) *client {
	t.Helper()
	return uncheckedClient(t, simulator.Config{Seed: seed, Clock: simulator.ClockManual, Start: historyStart, Boot: boot,
		APIKey: testKey, Market: market})
}

// market returns the on-demand prices of all available offers by id.
func (api *client) market() map[string]int64 {
	api.t.Helper()
	prices := map[string]int64{}
	for _, o := range api.list("/offers") {
		prices[o.text("id")] = o.integer("price.on_demand_kop_h")
	}
	return prices
}

// changes are the differences between two markets.
type changes struct{ higher, lower, appeared, vanished int }

func (c *changes) add(before, now map[string]int64) {
	c.vanished += len(before) // less those that are still there
	for id, price := range now {
		was, there := before[id]
		switch {
		case !there:
			c.appeared++
		case price > was:
			c.higher++
		case price < was:
			c.lower++
		}
		if there {
			c.vanished--
		}
	}
}

func TestMarket_PricesAndAvailability(t *testing.T) {
	api := marketClient(t, simulator.MarketMoving, 7)
	first := api.market()
	last := first
	var day changes
	for range 24 {
		api.Advance(time.Hour)
		now := api.market()
		day.add(last, now)
		last = now
	}
	check(t, day.higher >= 50 && day.lower >= 50 && day.appeared >= 10 && day.vanished >= 10 && len(last) >= len(first)/2,
		"in one day %+v, %d of %d remain", day, len(last), len(first))
	// An offer that was set does not move.
	set := api.list("/offers?order=-price")[0].text("id")
	api.setOffer(set, object{"on_demand_kop_h": 1234})
	api.Advance(100 * 24 * time.Hour)
	for _, o := range api.list("/offers") {
		id, price := o.text("id"), o.integer("price.on_demand_kop_h")
		before, there := first[id]
		switch {
		case id == set:
			equal(t, "price that was set", price, 1234)
		case price <= o.integer("price.interruptible_kop_h") || there && (price > before*3/2 || price < before/2):
			t.Errorf("after 100 days %s costs %v, first %d", id, o["price"], before)
		}
	}
}

// The market depends on the seed and the time only: not on rentals, nor on the steps of the clock.
func TestMarket_DependsOnSeedAndTime(t *testing.T) {
	one, other := marketClient(t, simulator.MarketMoving, 7), marketClient(t, simulator.MarketMoving, 7)
	var seeds, steps, still changes
	seeds.add(one.market(), marketClient(t, simulator.MarketMoving, 8).market())
	one.runningInstance(nil)
	one.Advance(50*time.Hour - bootComplete)
	for range 500 {
		other.Advance(6 * time.Minute)
	}
	steps.add(one.market(), other.market())
	check(t, steps.appeared <= 1 && steps.vanished+steps.higher+steps.lower == 0 && seeds != (changes{}),
		"only the rented server may be missing: %+v; with another seed %+v", steps, seeds)
	api := marketClient(t, simulator.MarketStill, 7)
	first := api.market()
	api.Advance(50 * time.Hour)
	still.add(first, api.market())
	equal(t, "changes of a still market", still, changes{})
}

// TestMarket_Outbid rents all offers of a moving market for weeks.
func TestMarket_Outbid(t *testing.T) {
	api := marketClient(t, simulator.MarketMoving, 7)
	api.setAccount(object{"balance_kop": int64(100_000_000_000)})
	offers := api.list("/offers")
	for _, o := range offers {
		kind := "on_demand"
		if o.value("price.interruptible_kop_h") != nil {
			kind = "interruptible"
		}
		api.create(o.text("id"), object{"offer_id": o["id"], "type": kind, "template": "ubuntu", "disk_gb": 20}).created()
	}
	outbid := 0
	for range 20 {
		api.Advance(24 * time.Hour)
		for _, i := range api.list("/instances") {
			if i.text("status") != "running" {
				equal(t, "the end of a rental", i.text("status"), "outbid")
				outbid++
				api.action(i.text("id"), "start").ok()
			}
		}
	}
	check(t, outbid > 0 && outbid <= 10*len(offers), "%d of %d rentals are outbid in 20 days", outbid, len(offers))
}

// TestMarket_EverySeed checks the rules for the offers of every seed. A cursor is valid only for its seed.
func TestMarket_EverySeed(t *testing.T) {
	const nullable = "country region gpu.total_tflops gpu.mem_bw_gbs cpu.name cpu.cores ram_gb disk.max_gb disk.bw_mbps " +
		"disk.name network.up_mbps network.down_mbps network.ports pcie.gen pcie.bw_gbs cuda_max driver reliability " +
		"max_duration_days dlperf price.interruptible_kop_h"
	null := map[string]bool{}
	cursor := "x"
	for seed := range uint64(5) {
		api := marketClient(t, simulator.MarketStill, seed)
		plain, countries := 0, map[string]bool{}
		for _, o := range api.list("/offers") {
			findNull(null, "", o)
			countries[o.text("country")] = true
			if o.text("gpu.slug") == "rtx_4090" && o.integer("gpu.count") == 1 && o["verified"] == true &&
				o.integer("price.on_demand_kop_h") <= 5000 && o.integer("disk.max_gb") >= 200 {
				plain++
			}
		}
		check(t, plain >= 2 && len(countries) > 5, "seed %d: %d plain offers, countries %v", seed, plain, countries)
		api.get("/offers?limit=5&cursor=" + cursor).invalid("cursor")
		_, cursor = api.page("/offers?limit=5")
	}
	equal(t, "nullable fields", strings.Join(slices.Sorted(maps.Keys(null)), " "),
		strings.Join(slices.Sorted(slices.Values(strings.Fields(nullable))), " "))
}

// findNull adds the names of members that are null.
func findNull(names map[string]bool, path string, o object) {
	for name, value := range o {
		switch value := value.(type) {
		case nil:
			names[path+name] = true
		case map[string]any:
			findNull(names, path+name+".", value)
		}
	}
}
