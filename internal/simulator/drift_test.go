package simulator_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func moving(c *simulator.Config) { c.Market = simulator.MarketMoving }

// market is all that is for rent, by id.
func (r *rig) market() map[string]offer {
	r.t.Helper()
	offers := map[string]offer{}
	for _, o := range list[offer](r, "/offers", 200) {
		offers[o.ID] = o
	}
	return offers
}

func TestMarketDrifts(t *testing.T) {
	r := newRig(t, moving)
	first := r.market()
	dearer, cheaper, came, went := 0, 0, 0, 0
	last := first
	for range 24 {
		r.Advance(time.Hour)
		now := r.market()
		for id, o := range now {
			before, there := last[id]
			switch {
			case !there:
				came++
			case o.Price.OnDemand > before.Price.OnDemand:
				dearer++
			case o.Price.OnDemand < before.Price.OnDemand:
				cheaper++
			}
			if o.Price.OnDemand <= 0 || o.Price.Interruptible != nil && *o.Price.Interruptible >= o.Price.OnDemand {
				t.Errorf("offer %+v", o.Price)
			}
		}
		for id := range last {
			if _, there := now[id]; !there {
				went++
			}
		}
		last = now
	}
	if dearer < 50 || cheaper < 50 || came < 10 || went < 10 || len(last) < len(first)/2 {
		t.Errorf("in a day %d prices rose and %d fell, %d servers came and %d went, %d of %d are left", dearer, cheaper, came, went, len(last), len(first))
	}
	r.Advance(100 * 24 * time.Hour)
	for id, o := range r.market() {
		if before, there := first[id]; there && (o.Price.OnDemand > before.Price.OnDemand*3/2 || o.Price.OnDemand < before.Price.OnDemand/2) {
			t.Errorf("after 100 days %s costs %d, first %d", id, o.Price.OnDemand, before.Price.OnDemand)
		}
	}
}

func TestDriftFollowsFromSeedAndTimeAlone(t *testing.T) {
	one, other, third := newRig(t, moving), newRig(t, moving), newRig(t, moving, func(c *simulator.Config) { c.Seed = 8 })
	one.running("k", nil)
	one.Advance(50*time.Hour - settled)
	for range 500 {
		other.Advance(6 * time.Minute)
	}
	a, b := one.market(), other.market()
	taken := onlyInOne(a, b)
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

// onlyInOne returns the ids that only one of two markets has.
func onlyInOne(a, b map[string]offer) []string {
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

// TestDriftOutbidsAndHostsFail rents for weeks what the market may take away.
func TestDriftOutbidsAndHostsFail(t *testing.T) {
	r := newRig(t, moving)
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
			// A host that is still away refuses.
			if a := r.do("POST", "/instances/"+i.ID+"/start", nil); a.status != 200 && a.status != 409 {
				t.Errorf("start of %s: %d %s", end, a.status, a.raw)
			}
		}
	}
	if ends["outbid"] == 0 || ends["stopped provider"] == 0 || len(ends) > 3 || ends["starting"] > 0 {
		t.Errorf("ends of rentals: %v", ends)
	}
	if ends["outbid"] > 10*len(offers) {
		t.Errorf("%d times in 20 days one of %d rentals was outbid: that is no market to rent on", ends["outbid"], len(offers))
	}
	t.Logf("%d rentals in 20 days ended so: %v", len(offers), ends)
}

func TestWhatIsSetByHandStays(t *testing.T) {
	r := newRig(t, moving)
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

func TestHostThatVanishes(t *testing.T) {
	r := newRig(t)
	target := r.cheapest()[0].ID
	i := r.running("k", m{"offer_id": target})
	path, host := "/instances/"+i.ID, "/offers/"+target
	r.control("PATCH", host, m{"online": false}).want(200)
	gone := r.instance(i.ID)
	if gone.Status != "stopped" || gone.DesiredState != "stopped" || gone.StopReason == nil || *gone.StopReason != "provider" || gone.SSH != nil {
		t.Errorf("the server of a vanished host: %+v", gone)
	}
	if b := r.balance(); b.Burn != i.Price.Stopped {
		t.Errorf("burn %d, want %d", b.Burn, i.Price.Stopped)
	}
	r.do("POST", path+"/start", nil).refused(409, "conflict")
	logs := r.do("GET", path+"/logs", nil)
	if logs.refused(503, "provider_unavailable"); logs.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	r.control("PATCH", host, m{"online": true}).want(200)
	r.do("POST", path+"/start", nil).want(200)
	r.Advance(settled)
	if back := r.instance(i.ID); back.Status != "running" || back.StopReason != nil {
		t.Errorf("after the host came back: %+v", back)
	}

	other := r.cheapest()[0].ID
	r.control("PATCH", "/offers/"+other, m{"online": false}).want(200)
	if slices.ContainsFunc(r.cheapest(), func(o offer) bool { return o.ID == other }) {
		t.Error("a host that is away is listed")
	}
	r.rent("k2", m{"offer_id": other}).refused(503, "provider_unavailable")

	// What was stopped before keeps its reason, and what is being stopped is stopped.
	third := r.cheapest()[0].ID
	mine := r.running("k3", m{"offer_id": third})
	r.do("POST", "/instances/"+mine.ID+"/stop", nil).want(200)
	r.control("PATCH", "/offers/"+third, m{"online": false}).want(200)
	if s := r.instance(mine.ID); s.Status != "stopped" || *s.StopReason != "user" {
		t.Errorf("a server that its owner stopped: %+v", s)
	}
	r.do("DELETE", "/instances/"+mine.ID, nil).want(200)
}

func TestBootsFailOnRequest(t *testing.T) {
	r := newRig(t)
	target := r.cheapest()[0].ID
	r.control("PATCH", "/offers/"+target, m{"fail_boots": true}).want(200)
	i := r.running("k", m{"offer_id": target})
	if i.Status != "failed" || i.SSH != nil || i.StartedAt != nil || r.balance().Burn != 0 {
		t.Errorf("after a boot that fails: %+v", i)
	}
	var logs struct{ Lines []string }
	r.do("GET", "/instances/"+i.ID+"/logs", nil).want(200).into(&logs)
	if !strings.Contains(strings.Join(logs.Lines, "\n"), "exited with code 1") {
		t.Errorf("log %q", logs.Lines)
	}
	r.do("DELETE", "/instances/"+i.ID, nil).want(200)
	r.Advance(settled)
	r.control("PATCH", "/offers/"+target, m{"fail_boots": false}).want(200)
	if i := r.running("k2", m{"offer_id": target}); i.Status != "running" {
		t.Errorf("once boots succeed again: %+v", i)
	}
}

func TestTrafficIsBilled(t *testing.T) {
	r := newRig(t)
	var target offer
	for _, o := range list[offer](r, "/offers", 200) {
		if o.Price.Traffic%100 == 50 && o.Price.Traffic > 0 {
			target = o
		}
	}
	if target.ID == "" {
		t.Fatal("no offer with traffic at half a ruble")
	}
	i := r.running("k", m{"offer_id": target.ID, "template": "ubuntu", "disk_gb": 20})
	before := r.instance(i.ID).Cost
	// Fractions are carried: a hundred times a tenth of a gigabyte is ten gigabytes.
	for range 100 {
		r.control("PATCH", "/instances/"+i.ID, m{"traffic_gb": 0.101}).want(200)
	}
	want := 101 * target.Price.Traffic / 10
	if got := r.instance(i.ID).Cost - before; got != want {
		t.Errorf("10.1 GB cost %d, want %d", got, want)
	}
	sum := int64(0)
	for _, e := range list[transaction](r, "/transactions", 200) {
		if e.Type == "bandwidth" {
			sum -= e.Amount
		}
	}
	if b := r.balance(); sum != want || b.Balance != 5_000_000-want {
		t.Errorf("the ledger says %d for traffic, want %d; balance %+v", sum, want, b)
	}
	r.control("PATCH", "/instances/"+i.ID, m{"traffic_gb": -1}).invalid("traffic_gb")
	// Traffic can use up the money: what runs is stopped.
	r.control("PATCH", "/account", m{"balance_kop": 100}).want(200)
	r.control("PATCH", "/instances/"+i.ID, m{"traffic_gb": 1000}).want(200)
	if broke := r.instance(i.ID); broke.DesiredState != "stopped" || *broke.StopReason != "low_balance" {
		t.Errorf("after traffic beyond the balance: %+v", broke)
	}
}
