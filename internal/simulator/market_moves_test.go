package simulator_test

import (
	"maps"
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

func TestMarket_PricesAndAvailability(t *testing.T) {
	api := marketClient(t, simulator.MarketMoving, 7)
	first := api.market()
	var higher, lower, appeared int
	last := first
	for range 24 {
		api.Advance(time.Hour)
		now := api.market()
		for id, price := range now {
			switch before, there := last[id]; {
			case !there:
				appeared++
			case price > before:
				higher++
			case price < before:
				lower++
			}
		}
		last = now
	}
	vanished := appeared + len(first) - len(last)
	check(t, min(higher, lower) >= 50 && min(appeared, vanished) >= 10 && len(last) >= len(first)/2, "in one day "+
		"%d prices rise, %d fall, %d offers appear, %d vanish, %d remain", higher, lower, appeared, vanished, len(last))
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
	check(t, !maps.Equal(one.market(), marketClient(t, simulator.MarketMoving, 8).market()), "two seeds have one market")
	rented := one.offerOf(one.runningInstance(nil).text("id"))
	one.Advance(50*time.Hour - bootComplete)
	for range 500 {
		other.Advance(6 * time.Minute)
	}
	want := other.market()
	delete(want, rented)
	check(t, maps.Equal(one.market(), want), "another market with other steps")
	still := marketClient(t, simulator.MarketStill, 7)
	first := still.market()
	still.Advance(50 * time.Hour)
	check(t, maps.Equal(still.market(), first), "a still market moves")
}

// TestMarket_Outbid rents all interruptible offers of a moving market for weeks.
func TestMarket_Outbid(t *testing.T) {
	api := marketClient(t, simulator.MarketMoving, 7)
	api.setAccount(object{"balance_kop": int64(100_000_000_000)})
	offers := api.list("/offers?type=interruptible")
	for _, id := range ids(offers) {
		body := object{"offer_id": id, "type": "interruptible", "template": "ubuntu", "disk_gb": 20}
		api.create(id, body).created()
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

// TestMarket_EverySeed checks that each seed has offers for common queries. A cursor is valid only for its seed.
func TestMarket_EverySeed(t *testing.T) {
	cursor := "x"
	for seed := range uint64(5) {
		api := marketClient(t, simulator.MarketStill, seed)
		countries := map[string]bool{}
		for _, o := range api.list("/offers") {
			countries[o.text("country")] = true
		}
		plain := api.list("/offers?gpu=rtx_4090&num_gpus=1&verified=true&max_price_kop_h=5000&min_disk_gb=200")
		check(t, len(plain) >= 2 && len(countries) > 5, "seed %d: %d plain offers, countries %v", seed, len(plain), countries)
		api.get("/offers?limit=5&cursor=" + cursor).invalid("cursor")
		_, cursor = api.page("/offers?limit=5")
	}
}
