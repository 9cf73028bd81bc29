package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// onceEach judges a walk during which the list changed: what was there all the time is there once, the rest once at most.
func onceEach(t *testing.T, what string, walked, constant []string) {
	t.Helper()
	count := map[string]int{}
	for _, id := range walked {
		count[id]++
	}
	for id, n := range count {
		check(t, n == 1, "%s: %s came %d times", what, id, n)
	}
	for _, id := range constant {
		check(t, count[id] == 1, "%s: %s came %d times", what, id, count[id])
	}
}

// Prices of offers that were seen and of those that were not jump over each other between pages.
func TestCursorStableWhilePricesMove(t *testing.T) {
	s := start(t)
	all := s.list("/offers")
	for _, order := range []string{"price", "-price", "dlperf_per_price", "dlperf", "reliability", "vram",
		"inet_down"} {
		for _, kind := range []string{"on_demand", "interruptible"} {
			path := "/offers?order=" + order + "&type=" + kind
			before := ids(s.list(path))
			walked := s.walk(path, 13, func(page int) {
				for n := range 8 {
					o := all[(page*17+n*29)%len(all)]
					price := int64(500 + (page*7919+n*104729)%90000)
					change := object{"on_demand_kop_h": price}
					if o["price"].(object)["interruptible_kop_h"] != nil {
						change["interruptible_kop_h"] = price / 2
					}
					s.offer(text(o, "id"), change)
				}
			})
			onceEach(t, path, ids(walked), before)
		}
	}
}

// Offers come and go between pages.
func TestCursorStableWhileOffersComeAndGo(t *testing.T) {
	s := start(t)
	all := s.list("/offers")
	hidden := all[:10]
	for _, o := range hidden {
		s.offer(text(o, "id"), object{"available": false})
	}
	for _, order := range []string{"price", "-price", "dlperf", "reliability"} {
		path := "/offers?order=" + order
		before := ids(s.list(path))
		touched := map[string]bool{}
		walked := s.walk(path, 9, func(page int) {
			gone, back := before[(page*23)%len(before)], text(hidden[page%len(hidden)], "id")
			touched[gone], touched[back] = true, true
			s.offer(gone, object{"available": false})
			s.offer(back, object{"available": true})
		})
		constant := slices.DeleteFunc(slices.Clone(before), func(id string) bool { return touched[id] })
		check(t, len(constant) > len(before)/2, "%s: the test moved nearly everything", path)
		onceEach(t, path, ids(walked), constant)
		for _, o := range all {
			s.offer(text(o, "id"), object{"available": !slices.ContainsFunc(hidden,
				func(h object) bool { return h["id"] == o["id"] })})
		}
	}
}

// Things of the account are made and deleted between pages.
func TestCursorStableWhileThingsAreMade(t *testing.T) {
	s := start(t)
	s.fillLists()
	offers := s.list("/offers")
	tried := map[string]bool{"/gpus": true, "/offers": true} // which are not the account's
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
			func(id string) { s.delete("/instances/" + id).ok(); s.settle(id, "destroyed") }},
		{"/instances?status=all", func(n int) string {
			return text(s.rent(object{"offer_id": offers[60+n]["id"]}),
				"id")
		},
			func(id string) { s.delete("/instances/" + id).ok(); s.settle(id, "destroyed") }},
		{"/transactions", func(int) string {
			s.account(object{"balance_kop": 900_000_000 + s.now().Unix()%1000 +
				1})
			return ""
		},
			func(string) { s.account(object{"balance_kop": 900_000_000}) }},
	} {
		tried[c.path] = true
		before := ids(s.list(c.path))
		removed := map[string]bool{}
		walked := s.walk(c.path, 5, func(page int) {
			c.create(page)
			// One that was seen, the first of all, and one that is still to come.
			for _, id := range []string{before[page-1], before[len(before)-page]} {
				if removable := c.path != "/templates" ||
					!slices.Contains(ids(s.as("").list("/templates")), id); removable && !removed[id] && s.spares(id) {
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
		onceEach(t, c.path, ids(walked), constant)
	}
	for _, path := range listPaths {
		check(t, tried[path], "%s was not tried", path)
	}
}

// spares tells whether a thing can be deleted without ending the test: the key in use and a destroyed instance cannot.
func (s *service) spares(id string) bool {
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
