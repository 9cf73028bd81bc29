package simulator_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestOfferFilters(t *testing.T) {
	r := newRig(t)
	everything := list[offer](r, "/offers", 200)
	if len(everything) < 60 {
		t.Fatalf("%d offers, want at least 60", len(everything))
	}
	has := func(v *int64, low int64) bool { return v != nil && *v >= low }
	for query, keep := range map[string]func(o offer) bool{
		"gpu=rtx_4090,h100_sxm":                   func(o offer) bool { return o.GPU.Slug == "rtx_4090" || o.GPU.Slug == "h100_sxm" },
		"gpu=no_such_gpu":                         func(offer) bool { return false },
		"num_gpus=2,8":                            func(o offer) bool { return o.GPU.Count == 2 || o.GPU.Count == 8 },
		"min_gpus=4":                              func(o offer) bool { return o.GPU.Count >= 4 },
		"type=on_demand":                          func(offer) bool { return true },
		"type=interruptible":                      func(o offer) bool { return o.Price.Interruptible != nil },
		"country=DE,NL":                           func(o offer) bool { return o.Country != nil && (*o.Country == "DE" || *o.Country == "NL") },
		"min_reliability=0.97":                    func(o offer) bool { return o.Reliability != nil && *o.Reliability >= 0.97 },
		"min_vram_gb=47.5":                        func(o offer) bool { return o.GPU.VRAMGB >= 48 },
		"max_price_kop_h=6000":                    func(o offer) bool { return o.Price.OnDemand <= 6000 },
		"max_price_kop_h=3000&type=interruptible": func(o offer) bool { return o.Price.Interruptible != nil && *o.Price.Interruptible <= 3000 },
		"max_price_kop_h=0":                       func(offer) bool { return false },
		"verified=true":                           func(o offer) bool { return o.Verified },
		"verified=false":                          func(offer) bool { return true },
		"min_cuda=12.9":                           func(o offer) bool { return o.CUDAMax != nil && *o.CUDAMax >= 12.9 },
		"min_disk_gb=1000":                        func(o offer) bool { return has(o.Disk.MaxGB, 1000) },
		"min_inet_down_mbps=2500":                 func(o offer) bool { return has(o.Network.DownMbps, 2500) },
		"gpu=rtx_4090&num_gpus=1&verified=true&min_disk_gb=100": func(o offer) bool {
			return o.GPU.Slug == "rtx_4090" && o.GPU.Count == 1 && o.Verified && has(o.Disk.MaxGB, 100)
		},
	} {
		t.Run(query, func(t *testing.T) {
			var want []string
			for _, o := range everything {
				if keep(o) {
					want = append(want, o.ID)
				}
			}
			var got []string
			for _, o := range list[offer](r, "/offers?"+query, 7) {
				got = append(got, o.ID)
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%d offers, want %d", len(got), len(want))
			}
		})
	}
}

func TestOfferOrders(t *testing.T) {
	r := newRig(t)
	perPrice := func(o offer) *float64 {
		if o.DLPerf == nil {
			return nil
		}
		return new(-*o.DLPerf / float64(o.Price.OnDemand))
	}
	down := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		return new(-*v)
	}
	for order, key := range map[string]func(o offer) *float64{
		"":                 func(o offer) *float64 { return new(float64(o.Price.OnDemand)) },
		"price":            func(o offer) *float64 { return new(float64(o.Price.OnDemand)) },
		"-price":           func(o offer) *float64 { return new(-float64(o.Price.OnDemand)) },
		"dlperf":           func(o offer) *float64 { return down(o.DLPerf) },
		"dlperf_per_price": perPrice,
		"reliability":      func(o offer) *float64 { return down(o.Reliability) },
		"vram":             func(o offer) *float64 { return new(-float64(o.GPU.VRAMGB)) },
		"inet_down": func(o offer) *float64 {
			if o.Network.DownMbps == nil {
				return nil
			}
			return new(-float64(*o.Network.DownMbps))
		},
	} {
		t.Run("order="+order, func(t *testing.T) {
			path := "/offers"
			if order != "" {
				path += "?order=" + order
			}
			offers := list[offer](r, path, 11)
			for n := 1; n < len(offers); n++ {
				a, b := key(offers[n-1]), key(offers[n])
				if a == nil && b != nil || a != nil && b != nil && *a > *b {
					t.Fatalf("offer %d does not come before offer %d", n-1, n)
				}
			}
		})
	}
	cheap := list[offer](r, "/offers?type=interruptible&order=price", 50)
	if !slices.IsSortedFunc(cheap, func(a, b offer) int { return int(*a.Price.Interruptible - *b.Price.Interruptible) }) {
		t.Error("order=price does not go by the price of the type asked for")
	}
}

func TestListingsRefuseBadInput(t *testing.T) {
	r := newRig(t)
	for query, field := range map[string]string{
		"/offers?limit=0": "limit", "/offers?limit=201": "limit", "/offers?limit=": "limit", "/offers?limit=ten": "limit",
		"/offers?num_gpus=3": "num_gpus", "/offers?num_gpus=1,x": "num_gpus", "/offers?min_gpus=0": "min_gpus",
		"/offers?type=spot": "type", "/offers?country=RUS": "country", "/offers?country=ru": "country", "/offers?min_reliability=1.1": "min_reliability",
		"/offers?min_vram_gb=-1": "min_vram_gb", "/offers?max_price_kop_h=-1": "max_price_kop_h",
		"/offers?max_price_kop_h=1.5": "max_price_kop_h", "/offers?verified=yes": "verified", "/offers?min_cuda=NaN": "min_cuda",
		"/offers?order=random": "order", "/offers?cursor=abc": "cursor", "/offers?cursor=": "cursor",
		"/offers?limit=1&limit=2": "limit", "/instances?status=running": "status", "/transactions?limit=x": "limit",
		"/instances?cursor=zz": "cursor", "/templates?limit=0": "limit", "/gpus?limit=0": "limit",
	} {
		t.Run(query, func(t *testing.T) { r.do("GET", query, nil).invalid(field) })
	}
	r.do("GET", "/offers/off_unknown", nil).refused(404, "not_found")
}

func TestCursorsAreBoundToTheirQuery(t *testing.T) {
	r := newRig(t)
	var p page[offer]
	r.do("GET", "/offers?limit=2", nil).want(200).into(&p)
	cursor := *p.NextCursor
	r.do("GET", "/offers?limit=3&cursor="+cursor, nil).want(200)
	r.do("GET", "/offers?order=-price&cursor="+cursor, nil).invalid("cursor")
	r.do("GET", "/gpus?cursor="+cursor, nil).invalid("cursor")
	altered := []byte(cursor)
	altered[len(altered)/2] ^= 1
	r.do("GET", "/offers?cursor="+string(altered), nil).invalid("cursor")
}

func TestPagesHoldWhilePricesMove(t *testing.T) {
	for _, order := range []string{"price", "-price", "dlperf_per_price"} {
		t.Run(order, func(t *testing.T) {
			r := newRig(t)
			var want []string
			for _, o := range list[offer](r, "/offers?order="+order, 200) {
				want = append(want, o.ID)
			}
			var got []string
			cursor := ""
			for n := int64(0); ; n++ {
				var p page[offer]
				r.do("GET", fmt.Sprintf("/offers?order=%s&limit=9%s", order, cursor), nil).want(200).into(&p)
				for k, o := range p.Data {
					got = append(got, o.ID)
					price := (n*7919+int64(k)*104729)%90000 + 100
					if err := r.SetOffer(o.ID, simulator.OfferPatch{OnDemandKopH: &price}); err != nil {
						t.Fatal(err)
					}
					if err := r.SetOffer(want[len(want)-1-k], simulator.OfferPatch{OnDemandKopH: new(price / 2)}); err != nil {
						t.Fatal(err)
					}
				}
				if p.NextCursor == nil {
					break
				}
				cursor = "&cursor=" + *p.NextCursor
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages gave %d offers in another order than the first page promised %d", len(got), len(want))
			}
		})
	}
}

func TestPublicAnswersAreCachedAndOpen(t *testing.T) {
	r := newRig(t)
	const public, private, never = "public, max-age=60", "private, max-age=60", "no-store"
	for path, want := range map[string]struct {
		anonymous, keyed string
		open             bool
	}{
		"/gpus":                         {public, public, true},
		"/offers":                       {public, public, true},
		"/templates":                    {public, private, true},
		"/openapi.json":                 {never, never, true},
		"/offers/" + r.cheapest()[0].ID: {never, never, true},
		"/me":                           {never, never, false},
		"/instances":                    {never, never, false},
	} {
		for key, policy := range map[string]string{"": want.anonymous, testKey: want.keyed} {
			a := r.as(key).do("GET", path, nil)
			if got := a.header.Get("Cache-Control"); got != policy {
				t.Errorf("%s with key %t: Cache-Control %q, want %q", path, key != "", got, policy)
			}
			if open := a.header.Get("Access-Control-Allow-Origin") == "*"; open != want.open {
				t.Errorf("%s: CORS %t", path, open)
			}
		}
	}
	preflight := r.as("").with("Access-Control-Request-Method", "GET").with("Origin", "https://a.example")
	preflight.do("OPTIONS", "/offers", nil).want(204)
	preflight.do("OPTIONS", "/me", nil).want(405)
	a := r.do("GET", "/offers?limit=0", nil)
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("an error of a public operation: %v", a.header)
	}
}
