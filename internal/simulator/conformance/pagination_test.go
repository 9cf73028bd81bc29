package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

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
func (s *service) fillLists() {
	s.t.Helper()
	offers := s.list("/offers")
	for n := range 15 {
		s.post("/templates", object{"name": fmt.Sprintf("template %d", n), "image": "alpine:3"}).created()
		s.post("/ssh-keys", object{"public_key": publicKey(byte(n))}).created()
		s.post("/api-keys", object{"name": uniqueName("key"), "scopes": []string{"user:read"}}).created()
		s.rent(object{"offer_id": offers[n]["id"]})
		s.advance(3600)
	}
}

func TestPaginationLimit(t *testing.T) {
	s := start(t)
	s.fillLists()
	for _, path := range listPaths {
		all := s.list(path)
		if path != "/gpus" {
			check(t, len(all) > 14, "%s: only %d items", path, len(all))
		}
		one, next := s.page(path + "?limit=1")
		check(t, len(one) == 1 && next != "", "%s?limit=1: %d items, next %q", path, len(one), next)
		most, _ := s.page(path + "?limit=200")
		equal(t, path+"?limit=200: items", len(most), min(len(all), 200))
		usual, _ := s.page(path)
		equal(t, path+": items without a limit", len(usual), min(len(all), 50))
		for _, b := range apidoc.QueryBounds {
			for _, bad := range b.Invalid {
				if b.Name == "limit" {
					s.get(path + "?limit=" + url.QueryEscape(bad)).invalid("limit")
				}
			}
		}
		s.get(path + "?limit=1&limit=2").invalid("limit")
		s.get(path + "?limit=7&no_such_parameter=1").want(http.StatusOK)
	}
	offers, next := s.page("/offers")
	check(t, len(offers) == 50 && next != "", "/offers: %d items without a limit, next %q", len(offers), next)
}

// Each item of a list is on exactly one page, for all page sizes.
func TestPaginationWalk(t *testing.T) {
	s := start(t)
	s.fillLists()
	paths := append([]string{"/instances?status=all", "/offers?order=-price",
		"/offers?order=dlperf_per_price&type=interruptible", "/offers?gpu=rtx_4090,h100_sxm",
		"/offers?order=reliability", "/offers?order=dlperf", "/offers?order=vram", "/offers?order=inet_down"},
		listPaths...)
	for _, path := range paths {
		whole := ids(s.list(path))
		once := slices.Clone(whole)
		slices.Sort(once)
		equal(t, path+": distinct items", len(slices.Compact(once)), len(whole))
		for _, limit := range []int{1, 7, 50} {
			if limit == 1 && strings.HasPrefix(path, "/offers?") {
				continue
			}
			walked := ids(s.readPages(path, limit, nil))
			check(t, slices.Equal(walked, whole),
				"%s in pages of %d: %d items, not the %d in one page, or in another order", path, limit, len(walked),
				len(whole))
		}
		// The page size may change between pages.
		first, next := s.page(join(path, "limit=2"))
		second, _ := s.page(join(path, "limit=200&cursor="+url.QueryEscape(next)))
		check(t, slices.Equal(ids(append(first, second...)), whole), "%s: pages of 2 and 200 are not the list", path)
		// A page can be read again.
		again, _ := s.page(join(path, "limit=200&cursor="+url.QueryEscape(next)))
		check(t, slices.Equal(ids(again), ids(second)), "%s: a page read twice is not the same", path)
	}
}

func TestPaginationBadCursors(t *testing.T) {
	s := start(t)
	s.fillLists()
	cursors := map[string]string{}
	for _, path := range listPaths {
		_, cursors[path] = s.page(path + "?limit=2")
	}
	for _, path := range listPaths {
		good := cursors[path]
		bad := []string{"", "x", "null", "0", good + "A", good[1:], good[:len(good)-1], good[:len(good)/2],
			strings.ToUpper(good) + "x", good + good, "' OR 1=1", strings.Repeat("a", 5000), "\x00", "й"}
		for at := range good {
			mark := byte('A')
			if good[at] == mark {
				mark = 'B'
			}
			bad = append(bad, good[:at]+string(mark)+good[at+1:])
		}
		for _, cursor := range bad {
			s.get(path + "?limit=2&cursor=" + url.QueryEscape(cursor)).invalid("cursor")
		}
		for other, foreign := range cursors {
			if other != path {
				s.get(path + "?limit=2&cursor=" + url.QueryEscape(foreign)).invalid("cursor")
			}
		}
		s.get(path + "?limit=2&cursor=" + url.QueryEscape(good) + "&cursor=" + url.QueryEscape(good)).invalid("cursor")
		s.get(path + "?limit=2&cursor=" + url.QueryEscape(good)).want(http.StatusOK)
	}
}

// A cursor is valid only for the same list and filters.
func TestPaginationCursorOfOtherQuery(t *testing.T) {
	s := start(t)
	s.fillLists()
	_, next := s.page("/offers?limit=2&order=price&country=US")
	cursor := "&cursor=" + url.QueryEscape(next)
	for _, query := range []string{"order=-price&country=US", "order=price", "order=price&country=DE",
		"order=price&country=US&type=interruptible", "order=price&country=US&verified=true",
		"order=price&country=US&min_gpus=2", "order=price&country=US&max_price_kop_h=100000",
		"order=price&country=US&gpu=h200", "order=price&country=US&min_cuda=1",
		"order=price&country=US&min_reliability=0.5", "order=price&country=US&min_vram_gb=1",
		"order=price&country=US&min_disk_gb=1", "order=price&country=US&min_inet_down_mbps=1",
		"order=price&country=US&num_gpus=1"} {
		s.get("/offers?limit=2&" + query + cursor).invalid("cursor")
	}
	s.get("/offers?limit=2&order=price&country=US" + cursor).want(http.StatusOK)
	_, next = s.page("/instances?limit=2&status=all")
	s.get("/instances?limit=2&cursor=" + url.QueryEscape(next)).invalid("cursor")
	s.get("/instances?limit=2&status=active&cursor=" + url.QueryEscape(next)).invalid("cursor")
	s.get("/instances?limit=2&status=all&cursor=" + url.QueryEscape(next)).want(http.StatusOK)
	// The key is not a filter, but a cursor must not give access to the own templates of another account.
	_, next = s.page("/templates?limit=2")
	a := s.as("").get("/templates?limit=200&cursor=" + url.QueryEscape(next))
	check(t, !strings.Contains(string(a.raw), `"me"`), "%s: own templates without a key", a.request)
}
