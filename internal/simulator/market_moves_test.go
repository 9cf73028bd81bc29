package simulator_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func withMovingMarket(c *simulator.Config) { c.Market = simulator.MarketMoving }

// market returns all available offers by id.
func (r *rig) market() map[string]offer {
	r.t.Helper()
	offers := map[string]offer{}
	for _, o := range list[offer](r, "/offers", 200) {
		offers[o.ID] = o
	}
	return offers
}

func TestMarketMoves_PricesAndAvailability(t *testing.T) {
	r := newRig(t, withMovingMarket)
	first := r.market()
	higher, lower, appeared, disappeared := 0, 0, 0, 0
	last := first
	for range 24 {
		r.Advance(time.Hour)
		now := r.market()
		for id, o := range now {
			before, there := last[id]
			switch {
			case !there:
				appeared++
			case o.Price.OnDemand > before.Price.OnDemand:
				higher++
			case o.Price.OnDemand < before.Price.OnDemand:
				lower++
			}
			if o.Price.OnDemand <= 0 || o.Price.Interruptible != nil && *o.Price.Interruptible >= o.Price.OnDemand {
				t.Errorf("offer %+v", o.Price)
			}
		}
		for id := range last {
			if _, there := now[id]; !there {
				disappeared++
			}
		}
		last = now
	}
	if higher < 50 || lower < 50 || appeared < 10 || disappeared < 10 || len(last) < len(first)/2 {
		t.Errorf("in one day %d prices rose and %d fell, %d offers appeared and %d disappeared, %d of %d remain",
			higher, lower, appeared, disappeared, len(last), len(first))
	}
	r.Advance(100 * 24 * time.Hour)
	for id, o := range r.market() {
		if before, there := first[id]; there && (o.Price.OnDemand > before.Price.OnDemand*3/2 ||
			o.Price.OnDemand < before.Price.OnDemand/2) {
			t.Errorf("after 100 days %s costs %d, first %d", id, o.Price.OnDemand, before.Price.OnDemand)
		}
	}
}

func TestMarketMoves_DependOnSeedAndTimeOnly(t *testing.T) {
	one, other, third := newRig(t, withMovingMarket), newRig(t, withMovingMarket),
		newRig(t, withMovingMarket, func(c *simulator.Config) { c.Seed = 8 })
	one.running("k", nil)
	one.Advance(50*time.Hour - bootComplete)
	for range 500 {
		other.Advance(6 * time.Minute)
	}
	a, b := one.market(), other.market()
	taken := difference(a, b)
	if len(taken) > 1 {
		t.Errorf("the markets differ by %v: only the rented server may be missing", taken)
	}
	for id, o := range a {
		if o.Price.OnDemand != b[id].Price.OnDemand {
			t.Errorf("%s costs %d or %d", id, o.Price.OnDemand, b[id].Price.OnDemand)
		}
	}
	third.Advance(50 * time.Hour)
	if maps.EqualFunc(a, third.market(), func(a, b offer) bool { return a.Price.OnDemand == b.Price.OnDemand }) {
		t.Error("another seed has the same market")
	}
	still := newRig(t)
	before := still.market()
	still.Advance(50 * time.Hour)
	if !maps.EqualFunc(before, still.market(), func(a, b offer) bool { return a.Price.OnDemand == b.Price.OnDemand }) {
		t.Error("a still market moved")
	}
}

// difference returns the ids that only one of two markets has.
func difference(a, b map[string]offer) []string {
	var missing []string
	for id := range b {
		if _, there := a[id]; !there {
			missing = append(missing, id)
		}
	}
	for id := range a {
		if _, there := b[id]; !there {
			missing = append(missing, id)
		}
	}
	return missing
}

// TestMarketMoves_OutbidAndOutages rents all offers of a moving market for weeks.
func TestMarketMoves_OutbidAndOutages(t *testing.T) {
	r := newRig(t, withMovingMarket)
	if err := r.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(100_000_000_000))}); err != nil {
		t.Fatal(err)
	}
	offers := slices.Collect(maps.Values(r.market()))
	for _, o := range offers {
		kind := "on_demand"
		if o.Price.Interruptible != nil {
			kind = "interruptible"
		}
		r.rent("k"+o.ID, m{"offer_id": o.ID, "type": kind, "template": "ubuntu", "disk_gb": 20}).want(201)
	}
	ends := map[string]int{}
	for range 20 {
		r.Advance(24 * time.Hour)
		for _, i := range list[instance](r, "/instances", 200) {
			if i.Status == "running" {
				continue
			}
			end := i.Status
			if i.StopReason != nil {
				end += " " + *i.StopReason
			}
			ends[end]++
			// A host that is still offline refuses a start.
			if a := r.do("POST", "/instances/"+i.ID+"/start", nil); a.status != 200 && a.status != 409 {
				t.Errorf("start of %s: %d %s", end, a.status, a.raw)
			}
		}
	}
	if ends["outbid"] == 0 || ends["stopped provider"] == 0 || len(ends) > 3 || ends["starting"] > 0 {
		t.Errorf("ends of rentals: %v", ends)
	}
	if ends["outbid"] > 10*len(offers) {
		t.Errorf("%d times in 20 days one of %d rentals was outbid: that is no market to rent on", ends["outbid"],
			len(offers))
	}
	t.Logf("%d rentals in 20 days ended so: %v", len(offers), ends)
}

func TestMarketMoves_KeepSetOffers(t *testing.T) {
	r := newRig(t, withMovingMarket)
	var ids []string
	for id := range r.market() {
		if ids = append(ids, id); len(ids) <= 20 {
			r.control("PATCH", "/offers/"+id, m{"on_demand_kop_h": 1234}).want(200)
		}
	}
	r.Advance(30 * 24 * time.Hour)
	now := r.market()
	for n, id := range ids {
		o, there := now[id]
		if n < 20 && (!there || o.Price.OnDemand != 1234) {
			t.Errorf("the offer that was set: there %t, price %d", there, o.Price.OnDemand)
		}
	}
}

// An instance that was stopped before its host disappeared offline keeps its stop reason.
func TestHostOffline_KeepsStopReason(t *testing.T) {
	r := newRig(t)
	offerID := r.cheapest()[0].ID
	i := r.running("k", m{"offer_id": offerID})
	r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
	r.control("PATCH", "/offers/"+offerID, m{"online": false}).want(200)
	if got := r.instance(i.ID); got.Status != "stopped" || *got.StopReason != "user" {
		t.Errorf("instance %+v", got)
	}
}
