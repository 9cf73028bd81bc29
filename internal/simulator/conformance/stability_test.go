package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// checkEachOnce checks the pages of a list that changed while it was read: constant items are listed once, all others
// at most once.
func checkEachOnce(t *testing.T, what string, walked, constant []string) {
	t.Helper()
	count := map[string]int{}
	for _, id := range walked {
		count[id]++
	}
	for id, n := range count {
		check(t, n == 1, "%s: %s is listed %d times", what, id, n)
	}
	for _, id := range constant {
		check(t, count[id] == 1, "%s: %s is listed %d times", what, id, count[id])
	}
}

// Prices of listed and of not yet listed offers change between pages.
func TestCursorStableWhilePricesMove(t *testing.T) {
	s := start(t)
	all := s.list("/offers")
	for _, order := range []string{"price", "-price", "dlperf_per_price", "dlperf", "reliability", "vram",
		"inet_down"} {
		for _, kind := range []string{"on_demand", "interruptible"} {
			path := "/offers?order=" + order + "&type=" + kind
			before := ids(s.list(path))
			walked := s.readPages(path, 13, func(page int) {
				for n := range 8 {
					o := all[(page*17+n*29)%len(all)]
					price := int64(500 + (page*7919+n*104729)%90000)
					change := object{"on_demand_kop_h": price}
					if o["price"].(object)["interruptible_kop_h"] != nil {
						change["interruptible_kop_h"] = price / 2
					}
					s.setOffer(text(o, "id"), change)
				}
			})
			checkEachOnce(t, path, ids(walked), before)
		}
	}
}

// Offers become available and unavailable between pages.
func TestCursorStableWhileOffersChange(t *testing.T) {
	s := start(t)
	all := s.list("/offers")
	hidden := all[:10]
	for _, o := range hidden {
		s.setOffer(text(o, "id"), object{"available": false})
	}
	for _, order := range []string{"price", "-price", "dlperf", "reliability"} {
		path := "/offers?order=" + order
		before := ids(s.list(path))
		touched := map[string]bool{}
		walked := s.readPages(path, 9, func(page int) {
			gone, back := before[(page*23)%len(before)], text(hidden[page%len(hidden)], "id")
			touched[gone], touched[back] = true, true
			s.setOffer(gone, object{"available": false})
			s.setOffer(back, object{"available": true})
		})
		constant := slices.DeleteFunc(slices.Clone(before), func(id string) bool { return touched[id] })
		check(t, len(constant) > len(before)/2, "%s: the test moved nearly everything", path)
		checkEachOnce(t, path, ids(walked), constant)
		for _, o := range all {
			s.setOffer(text(o, "id"), object{"available": !slices.ContainsFunc(hidden,
				func(h object) bool { return h["id"] == o["id"] })})
		}
	}
}

// Resources are created and deleted between pages.
func TestCursorStableWhileItemsChange(t *testing.T) {
	s := start(t)
	s.fillLists()
	offers := s.list("/offers")
	tried := map[string]bool{"/gpus": true, "/offers": true} // not resources of the account
	for _, c := range []struct {
		path   string
		create func(n int) string
		remove func(id string)
	}{
		{"/templates", func(n int) string {
			return text(s.post("/templates", object{"name": fmt.Sprintf("new %d", n), "image": "alpine:3"}).created(),
				"slug")
		}, func(id string) { s.delete("/templates/" + id).want(http.StatusNoContent) }},
		{"/ssh-keys", func(n int) string {
			return text(s.post("/ssh-keys", object{"public_key": publicKey(byte(100 + n))}).created(), "id")
		}, func(id string) { s.delete("/ssh-keys/" + id).want(http.StatusNoContent) }},
		{"/api-keys", func(int) string { _, id := s.newKey("user:read"); return id },
			func(id string) { s.delete("/api-keys/" + id).want(http.StatusNoContent) }},
		{"/instances", func(n int) string { return text(s.rent(object{"offer_id": offers[30+n]["id"]}), "id") },
			func(id string) { s.delete("/instances/" + id).ok(); s.waitForStatus(id, "destroyed") }},
		{"/instances?status=all", func(n int) string {
			return text(s.rent(object{"offer_id": offers[60+n]["id"]}),
				"id")
		},
			func(id string) { s.delete("/instances/" + id).ok(); s.waitForStatus(id, "destroyed") }},
		{"/transactions", func(int) string {
			s.setAccount(object{"balance_kop": 900_000_000 + s.now().Unix()%1000 +
				1})
			return ""
		},
			func(string) { s.setAccount(object{"balance_kop": 900_000_000}) }},
	} {
		tried[c.path] = true
		before := ids(s.list(c.path))
		removed := map[string]bool{}
		walked := s.readPages(c.path, 5, func(page int) {
			c.create(page)
			// An item of an earlier page, and one of a later page.
			for _, id := range []string{before[page-1], before[len(before)-page]} {
				if removable := c.path != "/templates" ||
					!slices.Contains(ids(s.as("").list("/templates")), id); removable && !removed[id] &&
					s.deletable(id) {
					c.remove(id)
					removed[id] = true
				}
			}
		})
		constant := before
		if c.path != "/transactions" {
			constant = slices.DeleteFunc(slices.Clone(before), func(id string) bool { return removed[id] })
			check(t, len(constant) < len(before), "%s: the test removed nothing", c.path)
		}
		checkEachOnce(t, c.path, ids(walked), constant)
	}
	for _, path := range listPaths {
		check(t, tried[path], "%s was not tested", path)
	}
}

// deletable reports whether an item can be deleted: not the key in use, nor a destroyed instance.
func (s *service) deletable(id string) bool {
	s.t.Helper()
	if a := s.get("/instances/" + id); a.status == http.StatusOK {
		return text(a.object(), "status") != "destroyed"
	}
	for _, o := range s.list("/api-keys") {
		if o["id"] == id {
			return text(o, "prefix") != s.key[:8]
		}
	}
	return true
}
