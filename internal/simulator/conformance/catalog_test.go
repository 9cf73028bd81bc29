package conformance

import (
	"net/http"
	"slices"
	"testing"
)

// Chapter "Catalog", without templates and the filters of offers.

// The numbers of a model are computed from the available offers.
func TestCatalogGpus(t *testing.T) {
	s := start(t)
	checkModels := func(when string) {
		t.Helper()
		for _, model := range s.list("/gpus") {
			var gpus, cheapest, interruptible int64
			for _, o := range s.list("/offers?gpu=" + text(model, "slug")) {
				n := integer(o, "gpu.count")
				gpus += n
				if per := integer(o, "price.on_demand_kop_h"); cheapest == 0 || per < cheapest*n {
					cheapest = (per + n/2) / n
				}
				if per := integer(o, "price.interruptible_kop_h"); per > 0 &&
					(interruptible == 0 || per < interruptible*n) {
					interruptible = (per + n/2) / n
				}
				equal(t, "vram_gb of "+text(model, "slug"), integer(o, "gpu.vram_gb"), integer(model, "vram_gb"))
				equal(t, "name of "+text(model, "slug"), text(o, "gpu.name"), text(model, "name"))
			}
			equal(t, when+": available_gpus of "+text(model, "slug"), integer(model, "available_gpus"), gpus)
			check(t, withinOne(integer(model, "from_kop_h"), cheapest), "%s: from_kop_h of %v is %v, want %d", when,
				model["slug"], model["from_kop_h"], cheapest)
			check(t, withinOne(integer(model, "from_interruptible_kop_h"), interruptible),
				"%s: from_interruptible_kop_h of %v is %v, want %d", when, model["slug"],
				model["from_interruptible_kop_h"], interruptible)
		}
	}
	checkModels("at first")
	for n, o := range s.list("/offers") {
		switch n % 5 {
		case 0:
			s.setOffer(text(o, "id"), object{"available": false})
		case 1:
			s.setOffer(text(o, "id"), object{"on_demand_kop_h": 777})
		case 2:
			s.rent(object{"offer_id": o["id"]})
		}
	}
	s.advance(60)
	checkModels("after the market moved")
}

func TestCatalogOffer(t *testing.T) {
	s := start(t).as("")
	for _, o := range s.list("/offers")[:20] {
		one := s.get("/offers/" + text(o, "id")).ok()
		equal(t, "the offer alone and in the list", short(one), short(o))
	}
	for _, id := range []string{"none", "0", "off_", "%20", "%D0%B9", "..", "%2e%2e", "a%2Fb", "off_%00"} {
		s.get("/offers/" + id).failsWith("not_found")
	}
}

// Only available offers are listed.
func TestCatalogOnlyAvailable(t *testing.T) {
	s := start(t)
	listed := func(id string) bool { return slices.Contains(ids(s.list("/offers")), id) }
	i := s.rent(nil)
	id := s.offerOf(i)
	check(t, !listed(id), "an offer that is rented is listed")
	if a := s.get("/offers/" + id); a.status == http.StatusOK {
		equal(t, "available of a rented offer", a.object()["available"], any(false))
	} else {
		a.failsWith("not_found")
	}
	s.delete("/instances/" + text(i, "id")).ok()
	s.waitForStatus(text(i, "id"), "destroyed")
	s.advance(60)
	check(t, listed(id), "an offer that was released is not listed")
	s.setOffer(id, object{"available": false})
	check(t, !listed(id), "an offer that was taken from the market is listed")
	s.setOffer(id, object{"available": true, "online": false})
	check(t, !listed(id), "an offer of an offline host is listed")
	s.setOffer(id, object{"online": true})
	check(t, listed(id), "an offer of an online host is not listed")
}
