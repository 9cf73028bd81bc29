package simulator_test

import (
	"math"
	"testing"
	"time"
)

// Chapter "Catalog", without templates and the filters of offers.

// The numbers of a model are computed from the available offers.
func TestCatalog_Gpus(t *testing.T) {
	api := newFundedClient(t)
	for _, when := range []string{"at first", "after the market moved"} {
		for _, model := range api.list("/gpus") {
			var gpus int64
			cheapest := map[string]any{"on_demand_kop_h": nil, "interruptible_kop_h": nil}
			slug := model.text("slug")
			for _, o := range api.list("/offers?gpu=" + slug) {
				equal(t, "the offer alone and in the list", asJSON(api.get("/offers/"+o.text("id")).ok()), asJSON(o))
				n := o.integer("gpu.count")
				gpus += n
				for kind, least := range cheapest {
					price, known := o.number("price." + kind)
					if per := math.Ceil(price / float64(n)); known && (least == nil || per < least.(float64)) {
						cheapest[kind] = per
					}
				}
				equal(t, "vram_gb of "+slug, o.integer("gpu.vram_gb"), model.integer("vram_gb"))
				equal(t, "name of "+slug, o.text("gpu.name"), model.text("name"))
			}
			equal(t, when+": available_gpus of "+slug, model.integer("available_gpus"), gpus)
			equal(t, when+": from_kop_h of "+slug, model["from_kop_h"], cheapest["on_demand_kop_h"])
			equal(t, when+": interruptible "+slug, model["from_interruptible_kop_h"], cheapest["interruptible_kop_h"])
		}
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
	}
}

// Only available offers are listed.
func TestCatalog_OnlyAvailable(t *testing.T) {
	api := newFundedClient(t)
	i := api.createInstance(nil)
	id := api.offerOf(i.text("id"))
	checkListed := func(want bool, what string) {
		t.Helper()
		equal(t, what+": listed", api.listHas("/offers", id), want)
		equal(t, what+": available", api.get("/offers/" + id).ok()["available"], any(want))
	}
	checkListed(false, "rented")
	api.delete("/instances/" + i.text("id")).ok()
	api.waitFor(i.text("id"), "destroyed")
	checkListed(true, "released")
	api.setOffer(id, object{"available": false})
	checkListed(false, "taken from the market")
	api.setOffer(id, object{"available": true})
	checkListed(true, "back on the market")
}
