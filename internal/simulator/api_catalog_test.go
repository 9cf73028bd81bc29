package simulator_test

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

// Chapter "Catalog", without templates and the filters of offers.

// The numbers of a model are computed from the available offers.
func TestCatalog_Gpus(t *testing.T) {
	r := newAccount(t)
	checkModels := func(when string) {
		t.Helper()
		for _, model := range r.list("/gpus") {
			var gpus int64
			cheapest := map[string]int64{}
			slug := text(model, "slug")
			for _, o := range r.list("/offers?gpu=" + slug) {
				n := integer(o, "gpu.count")
				gpus += n
				for _, price := range []string{"on_demand_kop_h", "interruptible_kop_h"} {
					per := (integer(o, "price."+price) + n/2) / n
					if per > 0 && (cheapest[price] == 0 || per < cheapest[price]) {
						cheapest[price] = per
					}
				}
				equal(t, "vram_gb of "+slug, integer(o, "gpu.vram_gb"), integer(model, "vram_gb"))
				equal(t, "name of "+slug, text(o, "gpu.name"), text(model, "name"))
			}
			equal(t, when+": available_gpus of "+slug, integer(model, "available_gpus"), gpus)
			for field, want := range map[string]int64{"from_kop_h": cheapest["on_demand_kop_h"],
				"from_interruptible_kop_h": cheapest["interruptible_kop_h"]} {
				check(t, withinOne(integer(model, field), want), "%s: %s of %s: %v, want %d", when, field, slug,
					model[field], want)
				check(t, want > 0 || model[field] == nil, "%s: %s of %s: %v, want null", when, field, slug, model[field])
			}
		}
	}
	checkModels("at first")
	for n, o := range r.list("/offers") {
		switch n % 5 {
		case 0:
			r.setOffer(text(o, "id"), m{"available": false})
		case 1:
			r.setOffer(text(o, "id"), m{"on_demand_kop_h": 777})
		case 2:
			r.rented(m{"offer_id": o["id"]})
		}
	}
	r.Advance(time.Minute)
	checkModels("after the market moved")
}

// withinOne allows for a fraction of a kopeck.
func withinOne(got, want int64) bool { return got-want <= 1 && want-got <= 1 }

func TestCatalog_Offer(t *testing.T) {
	r := newAccount(t).as("")
	for _, o := range r.list("/offers")[:20] {
		equal(t, "the offer alone and in the list", short(r.get("/offers/"+text(o, "id")).ok()), short(o))
	}
}

// Only available offers are listed.
func TestCatalog_OnlyAvailable(t *testing.T) {
	r := newAccount(t)
	i := r.rented(nil)
	id := r.offerOf(text(i, "id"))
	listed := func(want bool, what string) {
		t.Helper()
		equal(t, what+": listed", slices.Contains(ids(r.list("/offers")), id), want)
	}
	listed(false, "rented")
	equal(t, "available of a rented offer", r.get("/offers/" + id).want(http.StatusOK).object()["available"],
		any(false))
	r.destroy(text(i, "id"))
	r.Advance(time.Minute)
	listed(true, "released")
	r.setOffer(id, m{"available": false})
	listed(false, "taken from the market")
	r.setOffer(id, m{"available": true, "online": false})
	listed(false, "the host is offline")
	r.setOffer(id, m{"online": true})
	listed(true, "the host is online again")
}
