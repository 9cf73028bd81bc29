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
	api := newFundedClient(t)
	checkModels := func(when string) {
		t.Helper()
		for _, model := range api.list("/gpus") {
			var gpus int64
			cheapest := map[string]int64{}
			slug := model.text("slug")
			for _, o := range api.list("/offers?gpu=" + slug) {
				n := o.integer("gpu.count")
				gpus += n
				for _, price := range []string{"on_demand_kop_h", "interruptible_kop_h"} {
					per := (o.integer("price."+price) + n/2) / n
					if per > 0 && (cheapest[price] == 0 || per < cheapest[price]) {
						cheapest[price] = per
					}
				}
				equal(t, "vram_gb of "+slug, o.integer("gpu.vram_gb"), model.integer("vram_gb"))
				equal(t, "name of "+slug, o.text("gpu.name"), model.text("name"))
			}
			equal(t, when+": available_gpus of "+slug, model.integer("available_gpus"), gpus)
			for field, want := range map[string]int64{"from_kop_h": cheapest["on_demand_kop_h"],
				"from_interruptible_kop_h": cheapest["interruptible_kop_h"]} {
				check(t, withinOne(model.integer(field), want), "%s: %s of %s: %v, want %d", when, field, slug,
					model[field], want)
				check(t, want > 0 || model[field] == nil, "%s: %s of %s: %v, want null", when, field, slug, model[field])
			}
		}
	}
	checkModels("at first")
	for n, o := range api.list("/offers") {
		switch n % 5 {
		case 0:
			api.setOffer(o.text("id"), object{"available": false})
		case 1:
			api.setOffer(o.text("id"), object{"on_demand_kop_h": 777})
		case 2:
			api.createInstance(object{"offer_id": o["id"]})
		}
	}
	api.Advance(time.Minute)
	checkModels("after the market moved")
}

// withinOne allows for a fraction of a kopeck.
func withinOne(got, want int64) bool { return got-want <= 1 && want-got <= 1 }

func TestCatalog_Offer(t *testing.T) {
	api := newFundedClient(t).withKey("")
	for _, o := range api.list("/offers")[:20] {
		equal(t, "the offer alone and in the list", asJSON(api.get("/offers/"+o.text("id")).ok()), asJSON(o))
	}
}

// Only available offers are listed.
func TestCatalog_OnlyAvailable(t *testing.T) {
	api := newFundedClient(t)
	i := api.createInstance(nil)
	id := api.offerOf(i.text("id"))
	listed := func(want bool, what string) {
		t.Helper()
		equal(t, what+": listed", slices.Contains(ids(api.list("/offers")), id), want)
	}
	listed(false, "rented")
	equal(t, "available of a rented offer", api.get("/offers/" + id).want(http.StatusOK).object()["available"],
		any(false))
	api.destroy(i.text("id"))
	api.Advance(time.Minute)
	listed(true, "released")
	api.setOffer(id, object{"available": false})
	listed(false, "taken from the market")
	api.setOffer(id, object{"available": true})
	listed(true, "back on the market")
}
