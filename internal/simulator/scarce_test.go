package simulator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// In a scarce market, offers of datacenter GPUs appear and vanish, and the others do not become scarce.
func TestMarketScarce(t *testing.T) {
	r := newRig(t, func(c *simulator.Config) { c.Market = simulator.MarketScarce })
	scarce := func() map[string]bool {
		ids := map[string]bool{}
		for id, o := range r.market() {
			if gpu := o.GPU.Slug; strings.Contains(gpu, "100_") || gpu == "h200" || gpu == "l40s" {
				ids[id] = true
			}
		}
		return ids
	}
	if now := scarce(); len(now) > 0 {
		t.Errorf("available at the start: %v", now)
	}
	if n := len(r.market()); n < 40 {
		t.Errorf("%d other offers", n)
	}
	appeared, vanished, minutes := 0, 0, 24*60
	before := map[string]bool{}
	for range minutes {
		r.Advance(time.Minute)
		now := scarce()
		for id := range now {
			if !before[id] {
				appeared++
			}
		}
		for id := range before {
			if !now[id] {
				vanished++
			}
		}
		if len(now) > 12 {
			t.Fatalf("%d offers at once", len(now))
		}
		before = now
	}
	if appeared < minutes/5 || appeared > minutes/2 || vanished < appeared-12 {
		t.Errorf("in a day %d offers appeared and %d vanished", appeared, vanished)
	}
}

// Changes of an offer that are due later are saved, applied in order of time, and removed by a reset.
func TestSetOffer_After(t *testing.T) {
	file := t.TempDir() + "/state.json"
	withFile := func(c *simulator.Config) { c.State = file }
	r := newRig(t, withFile)
	id := r.cheapest()[0].ID
	available := func() bool { return r.do("GET", "/offers/"+id, nil).want(200).available() }
	r.control("PATCH", "/offers/"+id, m{"available": false, "after_seconds": 900}).want(200)
	r.control("PATCH", "/offers/"+id, m{"available": true, "after_seconds": 600}).want(200)
	r.control("PATCH", "/offers/"+id, m{"available": false}).want(200)
	r.control("PATCH", "/offers/"+id, m{"available": true, "after_seconds": -1}).invalid("after_seconds")
	r.Advance(599 * time.Second)
	if available() {
		t.Error("available before its time")
	}
	r = newRig(t, withFile)
	r.Advance(2 * time.Second)
	if !available() {
		t.Error("not available after ten minutes")
	}
	r.Advance(300 * time.Second)
	if available() {
		t.Error("available after fifteen minutes")
	}
	r.control("PATCH", "/offers/"+id, m{"available": true, "after_seconds": 60}).want(200)
	if err := r.Reset(); err != nil {
		t.Fatal(err)
	}
	r.control("PATCH", "/offers/"+id, m{"available": false}).want(200)
	r.Advance(time.Hour)
	if available() {
		t.Error("a change from before the reset was applied")
	}
}

func (a response) available() bool {
	var o struct{ Available bool }
	a.into(&o)
	return o.Available
}
