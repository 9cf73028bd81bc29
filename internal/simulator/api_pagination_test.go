package simulator_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// listPaths are the paths of all list endpoints.
var listPaths = func() (paths []string) {
	for _, op := range apidoc.Operations {
		if strings.HasPrefix(op.ID, "list") {
			paths = append(paths, op.Path)
		}
	}
	return paths
}()

// fillLists makes all lists of the account longer than two pages of seven items.
func (api *client) fillLists() {
	api.t.Helper()
	offers := api.list("/offers")
	for n := range 15 {
		api.newTemplate()
		api.newSSHKey(byte(n))
		api.newKey("user:read")
		api.createInstance(object{"offer_id": offers[n]["id"]})
		api.Advance(time.Hour)
	}
}

func TestPagination_Limit(t *testing.T) {
	api := newFundedClient(t)
	api.fillLists()
	for _, path := range listPaths {
		all := api.list(path)
		check(t, len(all) > 14 || path == "/gpus", "%s: only %d items", path, len(all))
		for query, want := range map[string]int{"?limit=1": 1, "?limit=7&no_such_parameter=1": min(len(all), 7),
			"": min(len(all), 50), "?limit=200": min(len(all), 200)} {
			items, next := api.page(path + query)
			check(t, len(items) == want && (next == "") == (len(all) == want), "%s%s: %d items, want %d, next %q", path,
				query, len(items), want, next)
		}
	}
}

// Each item of a list is on exactly one page, for all page sizes. A page can be read again.
func TestPagination_Walk(t *testing.T) {
	api := newFundedClient(t)
	api.fillLists()
	paths := append([]string{"/instances?status=all", "/offers?order=-price",
		"/offers?order=dlperf_per_price&type=interruptible", "/offers?gpu=rtx_4090,h100_sxm",
		"/offers?order=reliability", "/offers?order=dlperf", "/offers?order=vram", "/offers?order=inet_down"},
		listPaths...)
	for _, path := range paths {
		whole := ids(api.list(path))
		checkEachOnce(t, path, whole, nil)
		for _, limit := range []int{1, 7, 50} {
			if limit == 1 && strings.HasPrefix(path, "/offers?") {
				continue
			}
			check(t, slices.Equal(ids(api.listInPages(path, limit, nil)), whole), "%s in pages of %d is another list", path,
				limit)
		}
		// The page size may change between pages.
		first, next := api.page(join(path, "limit=2"))
		for range 2 {
			second, _ := api.page(join(path, "limit=200&"+after(next)))
			check(t, slices.Equal(ids(slices.Concat(first, second)), whole), "%s: pages of 2 and 200 are not the list",
				path)
		}
	}
}

// Cursors are opaque, and valid only for the same list and filters.
func TestPagination_BadCursors(t *testing.T) {
	api := newFundedClient(t)
	api.fillLists()
	cursors := map[string]string{"/instances": "", "/offers": ""}
	for _, path := range append([]string{"/offers?order=price&country=US", "/instances?status=all"}, listPaths...) {
		_, cursors[path] = api.page(join(path, "limit=2"))
	}
	for path, good := range cursors {
		bad := []string{"", "x", "null", "0", good + "A", good[1:], good[:len(good)-1], good[:len(good)/2],
			strings.ToUpper(good) + "x", good + good, "' OR 1=1", strings.Repeat("a", 5000), "\x00", "й"}
		for at := range good {
			mark := "A"
			if good[at] == 'A' {
				mark = "B"
			}
			bad = append(bad, good[:at]+mark+good[at+1:])
		}
		for other, foreign := range cursors {
			if other != path {
				bad = append(bad, foreign)
			}
		}
		for _, cursor := range bad {
			api.get(join(path, "limit=2&"+after(cursor))).invalid("cursor")
		}
		api.get(join(path, "limit=2&"+after(good)+"&"+after(good))).invalid("cursor")
		api.get(join(path, "limit=2&"+after(good))).want(http.StatusOK)
	}
	// The key is not a filter, but a cursor must not give access to the templates of another account.
	a := api.withKey("").get("/templates?limit=200&" + after(cursors["/templates"]))
	check(t, !strings.Contains(string(a.body), `"me"`), "%s: own templates without a key", a.request)
}

// "The cursor stays stable while prices change", even while offers appear and disappear.
func TestPagination_WhileOffersChange(t *testing.T) {
	api := newFundedClient(t)
	all := api.list("/offers")
	available := func(id string, is bool) { api.setOffer(id, object{"available": is}) }
	for _, order := range []string{"price", "-price", "dlperf_per_price", "dlperf", "reliability", "vram",
		"inet_down"} {
		for _, kind := range []string{"on_demand", "interruptible"} {
			path := "/offers?order=" + order + "&type=" + kind
			touched := map[string]bool{}
			constant := ids(api.list(path))
			walked := api.listInPages(path, 13, func(page int) {
				for n := range 8 {
					o := all[(page*17+n*29)%len(all)]
					price := int64(500 + (page*7919+n*104729)%90000)
					change := object{"on_demand_kop_h": price}
					if o.value("price.interruptible_kop_h") != nil {
						change["interruptible_kop_h"] = price / 2
					}
					api.setOffer(o.text("id"), change)
				}
				gone, back := all[page*23%len(all)].text("id"), all[(page-1)*23%len(all)].text("id")
				touched[gone] = true
				available(back, true)
				available(gone, false)
			})

			constant = slices.DeleteFunc(constant, func(id string) bool { return touched[id] })
			checkEachOnce(t, path, ids(walked), constant)
			for id := range touched {
				available(id, true)
			}
		}
	}
}

// Resources are created and deleted between pages.
func TestPagination_WhileItemsChange(t *testing.T) {
	api := newFundedClient(t)
	api.fillLists()
	offers := api.list("/offers")
	rent := func(n int) { api.createInstance(object{"offer_id": offers[len(offers)-1-n]["id"]}) }
	adjust := func(n int) { api.setAccount(object{"balance_kop": 900_000_000 + n}) }
	tried := map[string]bool{"/gpus": true, "/offers": true} // not resources of the account
	for _, c := range []struct {
		path   string
		create func(n int)
		remove string // the path of an item, "" if none is removed
	}{
		{"/templates", func(int) { api.newTemplate() }, "/templates/"},
		{"/ssh-keys", func(n int) { api.newSSHKey(byte(100 + n)) }, "/ssh-keys/"},
		{"/api-keys", func(int) { api.newKey("user:read") }, "/api-keys/"},
		{"/instances", rent, "/instances/"},
		{"/instances?status=all", func(n int) { rent(20 + n) }, "/instances/"},
		{"/transactions", adjust, ""},
	} {
		tried[c.path] = true
		constant := ids(api.list(c.path))
		removed := map[string]bool{}
		before := slices.Clone(constant)
		walked := api.listInPages(c.path, 5, func(page int) {
			if page == 1 && c.path == "/templates" {
				api.delete("/templates/" + before[len(before)-1])
				removed[before[len(before)-1]] = true
			}
			if page <= 3 {
				c.create(page)
			}

			for _, id := range []string{before[page], before[len(before)-1-page]} {
				if c.remove != "" && id != ids(api.list("/api-keys"))[0] && api.delete(c.remove+id).status/100 == 2 {
					removed[id] = true
					api.Advance(time.Minute)
				}
			}
		})

		constant = slices.DeleteFunc(constant, func(id string) bool { return removed[id] })
		check(t, len(removed) > 1 || c.remove == "", "%s: the test removed %d items", c.path, len(removed))
		checkEachOnce(t, c.path, ids(walked), constant)
	}
	for _, path := range listPaths {
		check(t, tried[path], "%s was not tested", path)
	}
}

// checkEachOnce checks the pages of a list that changed while it was read: constant items are listed once, all
// others at most once.
func checkEachOnce(t *testing.T, what string, walked, constant []string) {
	t.Helper()
	count := map[string]int{}
	for _, id := range walked {
		count[id]++
		check(t, count[id] == 1, "%s: %s is listed %d times", what, id, count[id])
	}
	for _, id := range constant {
		check(t, count[id] == 1, "%s: %s is listed %d times", what, id, count[id])
	}
}
