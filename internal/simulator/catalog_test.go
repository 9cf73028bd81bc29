package simulator_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// TestSeeds holds what a user may count on, whatever the seed.
func TestSeeds(t *testing.T) {
	listing := func(seed uint64) (offers, gpus []byte) {
		r := newRig(t, func(c *simulator.Config) { c.Seed = seed })
		return r.do("GET", "/offers?limit=200", nil).want(200).raw, r.do("GET", "/gpus", nil).want(200).raw
	}
	for seed := range uint64(5) {
		offers, gpus := listing(seed)
		again, _ := listing(seed)
		if string(offers) != string(again) {
			t.Errorf("seed %d: two markets", seed)
		}
		var o page[offer]
		if err := json.Unmarshal(offers, &o); err != nil {
			t.Fatal(err)
		}
		plain := 0
		countries := map[string]bool{}
		for _, offer := range o.Data {
			if offer.Country != nil {
				countries[*offer.Country] = true
			}
			if offer.GPU.Slug == "rtx_4090" && offer.GPU.Count == 1 && offer.Price.OnDemand <= 5000 && offer.Verified && *offer.Disk.MaxGB >= 200 {
				plain++
			}
		}
		if plain < 2 || len(countries) < 5 {
			t.Errorf("seed %d: %d plain offers, countries %v", seed, plain, slices.Collect(maps.Keys(countries)))
		}
		var g page[struct {
			Slug      string
			Available int64  `json:"available_gpus"`
			From      *int64 `json:"from_kop_h"`
		}]
		if err := json.Unmarshal(gpus, &g); err != nil {
			t.Fatal(err)
		}
		offered := 0
		for _, model := range g.Data {
			if (model.Available == 0) != (model.From == nil) {
				t.Errorf("seed %d: %s has %d GPUs and price %v", seed, model.Slug, model.Available, model.From)
			}
			if model.Available > 0 {
				offered++
			}
		}
		if offered < 10 || offered == len(g.Data) {
			t.Errorf("seed %d: %d of %d models are offered", seed, offered, len(g.Data))
		}
		for path := range nullPaths(t, offers) {
			delete(nullable, path)
		}
	}
	for path := range nullable {
		t.Errorf("%s is null in no offer", path)
	}
}

var nullable = map[string]bool{
	"country": true, "region": true, "gpu.total_tflops": true, "gpu.mem_bw_gbs": true, "cpu.name": true, "cpu.cores": true,
	"ram_gb": true, "disk.max_gb": true, "disk.bw_mbps": true, "disk.name": true, "network.up_mbps": true,
	"network.down_mbps": true, "network.ports": true, "pcie.gen": true, "pcie.bw_gbs": true, "cuda_max": true, "driver": true,
	"reliability": true, "max_duration_days": true, "dlperf": true, "price.interruptible_kop_h": true,
}

func nullPaths(t *testing.T, listing []byte) map[string]bool {
	t.Helper()
	var p page[map[string]any]
	if err := json.Unmarshal(listing, &p); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, o := range p.Data {
		for name, value := range o {
			if value == nil {
				found[name] = true
			}
			if inner, ok := value.(map[string]any); ok {
				for field, value := range inner {
					if value == nil {
						found[name+"."+field] = true
					}
				}
			}
		}
	}
	return found
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

func TestTemplates(t *testing.T) {
	r := newRig(t)
	catalogue := list[m](r.as(""), "/templates", 3)
	if len(catalogue) < 8 {
		t.Fatalf("%d templates, want at least 8", len(catalogue))
	}
	var own struct {
		Slug, Owner, LaunchMode string
		Public                  bool
		Ports                   []int64
		Recommended             int64 `json:"recommended_disk_gb"`
	}
	r.do("POST", "/templates", m{"name": "Мой шаблон", "image": "ghcr.io/me/app:1", "min_disk_gb": 40}).want(201).into(&own)
	if own.Owner != "me" || own.Public || own.Slug == "" || own.Ports == nil || own.Recommended != 40 {
		t.Errorf("own template %+v", own)
	}
	if n := len(list[m](r, "/templates", 3)); n != len(catalogue)+1 {
		t.Errorf("%d templates with a key", n)
	}
	if n := len(list[m](r.as(""), "/templates", 3)); n != len(catalogue) {
		t.Errorf("%d templates without a key", n)
	}
	i := r.running("k", m{"template": own.Slug})
	r.do("DELETE", "/templates/"+own.Slug, nil).want(204)
	r.do("DELETE", "/templates/"+own.Slug, nil).refused(404, "not_found")
	r.do("DELETE", "/templates/pytorch", nil).refused(404, "not_found")
	if r.instance(i.ID).Status != "running" {
		t.Error("deleting the template touched its server")
	}
	r.rent("k2", m{"template": own.Slug}).refused(404, "not_found")
	for n := range 20 {
		r.do("POST", "/templates", m{"name": fmt.Sprint("t", n), "image": "a:1"}).want(201)
	}
	r.do("POST", "/templates", m{"name": "one more", "image": "a:1"}).refused(409, "conflict")
}

func TestTemplateBounds(t *testing.T) {
	r := newRig(t)
	many := func(n int) map[string]string {
		env := map[string]string{}
		for k := range n {
			env[fmt.Sprint("V", k)] = "x"
		}
		return env
	}
	for name, c := range map[string]struct {
		body  m
		field string // "" when it is fine
	}{
		"shortest name":         {m{"name": "яя"}, ""},
		"name too short":        {m{"name": "я"}, "name"},
		"longest name":          {m{"name": strings.Repeat("я", 60)}, ""},
		"name too long":         {m{"name": strings.Repeat("a", 61)}, "name"},
		"name null":             {m{"name": nil}, "name"},
		"image without tag":     {m{"image": "ubuntu"}, "image"},
		"image by digest only":  {m{"image": "ubuntu@sha256:" + strings.Repeat("a", 64)}, "image"},
		"image with a port":     {m{"image": "registry.example:5000/a/b"}, "image"},
		"image nonsense":        {m{"image": "UPPER CASE:1"}, "image"},
		"description":           {m{"description": strings.Repeat("d", 501)}, "description"},
		"launch mode":           {m{"launch_mode": "vm"}, "launch_mode"},
		"ten ports":             {m{"ports": []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 65535}}, ""},
		"eleven ports":          {m{"ports": []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}, "ports"},
		"port zero":             {m{"ports": []int{22, 0}}, "ports[1]"},
		"port null":             {m{"ports": []any{nil}}, "ports"},
		"port text":             {m{"ports": []any{"80"}}, "ports"},
		"thirty variables":      {m{"env": many(30)}, ""},
		"thirty-one variables":  {m{"env": many(31)}, "env"},
		"variable not a string": {m{"env": m{"A": 1}}, "env"},
		"variable without name": {m{"env": m{"": "1"}}, "env"},
		"onstart":               {m{"onstart": strings.Repeat("x", 4001)}, "onstart"},
		"disk low":              {m{"min_disk_gb": 9}, "min_disk_gb"},
		"disk high":             {m{"min_disk_gb": 2001}, "min_disk_gb"},
		"disk fraction":         {m{"min_disk_gb": 10.5}, "min_disk_gb"},
		"recommended below":     {m{"min_disk_gb": 50, "recommended_disk_gb": 49}, "recommended_disk_gb"},
		"recommended equal":     {m{"min_disk_gb": 50, "recommended_disk_gb": 50}, ""},
		"unknown field":         {m{"slug": "mine"}, "slug"},
	} {
		t.Run(name, func(t *testing.T) {
			body := m{"name": "name", "image": "a:1"}
			maps.Copy(body, c.body)
			a := r.do("POST", "/templates", body)
			if c.field != "" {
				a.invalid(c.field)
				return
			}
			var own struct{ Slug string }
			a.want(201).into(&own)
			r.do("DELETE", "/templates/"+own.Slug, nil).want(204)
		})
	}
}
