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

// market returns all available offers by id.
func (api *client) market() map[string]object {
	api.t.Helper()
	offers := map[string]object{}
	for _, o := range api.list("/offers") {
		offers[o.text("id")] = o
	}
	return offers
}

// fixedPrice returns the on-demand price of an offer.
func fixedPrice(o object) int64 { return o.integer("price.on_demand_kop_h") }

// changes are the differences between two markets.
type changes struct{ higher, lower, appeared, vanished int }

func (c *changes) add(before, now map[string]object) {
	for id, o := range now {
		was, there := before[id]
		switch {
		case !there:
			c.appeared++
		case fixedPrice(o) > fixedPrice(was):
			c.higher++
		case fixedPrice(o) < fixedPrice(was):
			c.lower++
		}
	}
	for id := range before {
		if _, there := now[id]; !there {
			c.vanished++
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
	if day.higher < 50 || day.lower < 50 || day.appeared < 10 || day.vanished < 10 || len(last) < len(first)/2 {
		t.Errorf("in one day %+v, %d of %d remain", day, len(last), len(first))
	}
	api.Advance(100 * 24 * time.Hour)
	for id, o := range api.market() {
		price := fixedPrice(o)
		check(t, price > 0 && o.integer("price.interruptible_kop_h") < price, "after 100 days %s costs %v", id, o["price"])
		if before, there := first[id]; there && (price > fixedPrice(before)*3/2 || price < fixedPrice(before)/2) {
			t.Errorf("after 100 days %s costs %d, first %d", id, price, fixedPrice(before))
		}
	}
}

// The market depends on the seed and the time only: not on rentals, nor on the steps of the clock.
func TestMarket_DependsOnSeedAndTime(t *testing.T) {
	one, other := marketClient(t, simulator.MarketMoving, 7), marketClient(t, simulator.MarketMoving, 7)
	var before changes
	before.add(one.market(), marketClient(t, simulator.MarketMoving, 8).market())
	one.runningInstance(nil)
	one.Advance(50*time.Hour - bootComplete)
	for range 500 {
		other.Advance(6 * time.Minute)
	}
	var between changes
	between.add(one.market(), other.market())
	if between.appeared > 1 || between.vanished+between.higher+between.lower > 0 || before == (changes{}) {
		t.Errorf("only the rented server may be missing: %+v; with another seed %+v", between, before)
	}
	still := marketClient(t, simulator.MarketStill, 7)
	first := still.market()
	still.Advance(50 * time.Hour)
	between = changes{}
	if between.add(first, still.market()); between != (changes{}) {
		t.Errorf("a still market moved: %+v", between)
	}
}

// TestMarket_Outbid rents all offers of a moving market for weeks.
func TestMarket_Outbid(t *testing.T) {
	api := marketClient(t, simulator.MarketMoving, 7)
	api.setAccount(object{"balance_kop": int64(100_000_000_000)})
	offers := api.market()
	for id, o := range offers {
		kind := "on_demand"
		if o.value("price.interruptible_kop_h") != nil {
			kind = "interruptible"
		}
		api.create(id, object{"offer_id": id, "type": kind, "template": "ubuntu", "disk_gb": 20}).want(201)
	}
	outbid := 0
	for range 20 {
		api.Advance(24 * time.Hour)
		for _, i := range api.list("/instances") {
			if i.text("status") == "running" {
				continue
			}
			equal(t, "the end of a rental", i.text("status"), "outbid")
			outbid++
			api.action(i.text("id"), "start").ok()
		}
	}
	if outbid == 0 || outbid > 10*len(offers) {
		t.Errorf("%d of %d rentals are outbid in 20 days", outbid, len(offers))
	}
}

// An offer that was set does not move.
func TestMarket_KeepsSetOffers(t *testing.T) {
	api := marketClient(t, simulator.MarketMoving, 7)
	set := slices.Sorted(maps.Keys(api.market()))[:20]
	for _, id := range set {
		api.setOffer(id, object{"on_demand_kop_h": 1234})
	}
	api.Advance(30 * 24 * time.Hour)
	now := api.market()
	for _, id := range set {
		equal(t, "price that was set", fixedPrice(now[id]), 1234)
	}
}

// TestMarket_EverySeed checks the rules for the offers of every seed. A cursor is valid only for its seed.
func TestMarket_EverySeed(t *testing.T) {
	const nullable = "country region gpu.total_tflops gpu.mem_bw_gbs cpu.name cpu.cores ram_gb disk.max_gb disk.bw_mbps " +
		"disk.name network.up_mbps network.down_mbps network.ports pcie.gen pcie.bw_gbs cuda_max driver reliability " +
		"max_duration_days dlperf price.interruptible_kop_h"
	null := map[string]bool{}
	cursor := ""
	for seed := range uint64(5) {
		api := marketClient(t, simulator.MarketStill, seed)
		offers, _ := api.page("/offers?limit=200")
		plain, countries := 0, map[string]bool{}
		for _, o := range api.market() {
			if country := o.text("country"); country != "" {
				countries[country] = true
			}
			if o.text("gpu.slug") == "rtx_4090" && o.integer("gpu.count") == 1 && fixedPrice(o) <= 5000 &&
				o["verified"] == true && o.integer("disk.max_gb") >= 200 {
				plain++
			}
		}
		if plain < 2 || len(countries) < 5 {
			t.Errorf("seed %d: %d plain offers, countries %v", seed, plain, countries)
		}
		for _, o := range offers {
			findNull(null, "", o)
		}
		if cursor != "" {
			api.get("/offers?limit=5&cursor=" + cursor).invalid("cursor")
		}
		_, cursor = api.page("/offers?limit=5")
	}
	if got, want := slices.Sorted(maps.Keys(null)), slices.Sorted(slices.Values(strings.Fields(nullable))); !slices.Equal(
		got, want) {
		t.Errorf("null are %v, want %v", got, want)
	}
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
