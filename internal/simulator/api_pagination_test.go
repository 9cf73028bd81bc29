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

// filledLists returns a client. All lists of its account are longer than two pages of seven items.
func filledLists(t *testing.T) *client {
	t.Helper()
	api := newFundedClient(t)
	for n := range 15 {
		for _, path := range createPaths {
			api.add(path, n)
		}
		api.Advance(time.Hour)
	}
	return api
}

// Each item of a list is on exactly one page, for all page sizes. A page can be read again.
func TestPagination_Walk(t *testing.T) {
	api := filledLists(t)
	paths := append([]string{"/instances?status=all", "/offers?order=-price",
		"/offers?order=dlperf_per_price&type=interruptible", "/offers?gpu=rtx_4090,h100_sxm",
		"/offers?order=reliability", "/offers?order=dlperf", "/offers?order=vram", "/offers?order=inet_down"},
		listPaths...)
	for _, path := range paths {
		whole := ids(api.list(path))
		check(t, len(whole) > 14, "%s: only %d items", path, len(whole))
		checkEachOnce(t, path, whole, nil)
		for _, limit := range []int{7, 50} {
			check(t, slices.Equal(ids(api.listInPages(path, limit, nil)), whole), "%s in pages of %d is another list", path,
				limit)
		}
		standard, _ := api.page(path)
		equal(t, path+": items without a limit", len(standard), min(len(whole), 50))
		// The page size may change between pages.
		first, next := api.page(join(path, "limit=1"))
		second, _ := api.page(join(path, "limit=200&"+after(next)))
		check(t, slices.Equal(ids(slices.Concat(first, second)), whole), "%s: pages of 1 and 200 are not the list", path)
	}
}

// Cursors are opaque, and valid only for the same list and filters.
func TestPagination_BadCursors(t *testing.T) {
	api := filledLists(t)
	cursors := map[string]string{"/instances": "", "/offers": ""}
	for _, path := range append([]string{"/offers?order=price&country=US", "/instances?status=all"}, listPaths...) {
		_, cursors[path] = api.page(join(path, "limit=2"))
	}
	for path, good := range cursors {
		bad := []string{"", "x", "0", good + "A", good[1:], good[:len(good)-1], good + good, strings.Repeat("a", 5000), "й"}
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
	for _, query := range []string{"order=price", "order=-price&type=interruptible", "order=dlperf_per_price",
		"order=dlperf", "order=reliability&type=interruptible", "order=vram", "order=inet_down"} {
		path := "/offers?" + query
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
			api.setOffer(back, object{"available": true})
			api.setOffer(gone, object{"available": false})
		})
		checkEachOnce(t, path, ids(walked), without(constant, touched))
		for id := range touched {
			api.setOffer(id, object{"available": true})
		}
	}
}

// Resources are created and deleted between pages.
func TestPagination_WhileItemsChange(t *testing.T) {
	api := filledLists(t)
	for _, path := range append([]string{"/instances?status=all"}, listPaths...) {
		items, _, _ := strings.Cut(path, "?")
		if items == "/gpus" || items == "/offers" { // not resources of the account
			continue
		}
		before := ids(api.list(path))
		removed := map[string]bool{ids(api.list("/api-keys"))[0]: true} // the key in use, which stays
		walked := api.listInPages(path, 5, func(page int) {
			if creations[items].ID == "" { // the ledger, whose entries stay
				api.setAccount(object{"balance_kop": 900_000_000 + page})
				return
			}
			for _, id := range []string{before[page], before[len(before)-1-page]} {
				if !removed[id] && api.delete(items+"/"+id).status/100 == 2 {
					removed[id] = true
					api.Advance(time.Minute)
				}
			}
			api.add(items, page)
		})
		check(t, len(removed) > 2 || items == "/transactions", "%s: the test removed %d items", path, len(removed)-1)
		checkEachOnce(t, path, ids(walked), without(before, removed))
	}
}

func without(all []string, removed map[string]bool) []string {
	return slices.DeleteFunc(slices.Clone(all), func(id string) bool { return removed[id] })
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
