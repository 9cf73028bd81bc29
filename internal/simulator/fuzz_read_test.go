package simulator_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// offerFilters are the parameters of GET /offers; a test of each tells whether an offer may be listed.
var offerFilters = map[string]func(o *offer, value, rental string) bool{
	"gpu":      func(o *offer, value, _ string) bool { return amongst(o.GPU.Slug, value) },
	"num_gpus": func(o *offer, value, _ string) bool { return amongst(fmt.Sprint(o.GPU.Count), value) },
	"min_gpus": func(o *offer, value, _ string) bool { return float64(o.GPU.Count) >= parsed(value) },
	"country": func(o *offer, value, _ string) bool {
		return allBlank(value) || o.Country != nil && amongst(*o.Country, value)
	},
	"min_reliability": func(o *offer, value, _ string) bool { return o.Reliability != nil && *o.Reliability >= parsed(value) },
	"min_vram_gb":     func(o *offer, value, _ string) bool { return float64(o.GPU.VRAMGB) >= parsed(value) },
	"verified":        func(o *offer, value, _ string) bool { return value == "false" || o.Verified },
	"min_cuda":        func(o *offer, value, _ string) bool { return o.CUDAMax != nil && *o.CUDAMax >= parsed(value) },
	"min_disk_gb": func(o *offer, value, _ string) bool {
		return o.Disk.MaxGB != nil && float64(*o.Disk.MaxGB) >= parsed(value)
	},
	"min_inet_down_mbps": func(o *offer, value, _ string) bool {
		return o.Network.DownMbps != nil && float64(*o.Network.DownMbps) >= parsed(value)
	},
	"max_price_kop_h": func(o *offer, value, rental string) bool { return float64(o.price(rental)) <= parsed(value) },
	"type":            func(o *offer, value, rental string) bool { return value == rental && o.price(rental) >= 0 },
	"order":           func(*offer, string, string) bool { return true },
	"limit":           func(*offer, string, string) bool { return true },
	"cursor":          func(*offer, string, string) bool { return true },
}

// price is what the offer costs for a rental type, -1 where it is not let that way.
func (o *offer) price(rental string) int64 {
	switch {
	case rental != "interruptible":
		return o.Price.OnDemand
	case o.Price.Interruptible == nil:
		return -1
	}
	return *o.Price.Interruptible
}

func allBlank(value string) bool { return strings.Trim(value, ", \t\r\n\v\f\u0085\u00a0") == "" }

// amongst tells whether a comma-separated value names a thing; nothing named restricts nothing.
func amongst(thing, value string) bool {
	for item := range strings.SplitSeq(value, ",") {
		item = strings.TrimSpace(item)
		if n, err := strconv.Atoi(item); item == thing || err == nil && fmt.Sprint(n) == thing {
			return true
		}
	}
	return allBlank(value)
}

func parsed(value string) float64 {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func FuzzOfferQuery(f *testing.F) {
	x := target{}
	second := ""
	var p page[offer]
	x.ready(f).api("GET", "/offers?limit=3", "").into(&p)
	if p.NextCursor != nil {
		second = *p.NextCursor
	}
	for _, query := range []string{
		"", "gpu=rtx_4090,h100&num_gpus=1,2&min_gpus=1&type=interruptible&country=RU,DE&min_reliability=0.9&min_vram_gb=24&max_price_kop_h=100000",
		"verified=true&min_cuda=12.4&min_disk_gb=100&min_inet_down_mbps=500&order=dlperf_per_price&limit=200", "limit=3&cursor=" + second,
		"limit=0&order=best&verified=1&num_gpus=3&country=ru&min_reliability=1.5&min_gpus=0&max_price_kop_h=-1&cursor=x", "limit=1&limit=2", "%zz", "a;b",
		"min_vram_gb=NaN&min_disk_gb=1e309&min_cuda=-0x1p-2", "country=,&gpu=%20", "order=-price&type=on_demand&unknown=1", "min_gpus=2", "max_price_kop_h=3000", "type=interruptible&max_price_kop_h=0",
	} {
		f.Add(query)
	}
	fields := []string{"query"}
	for name := range offerFilters {
		fields = append(fields, name)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		a, ok := x.ready(t).send("GET", "/api/v1/offers?"+raw, "", nil)
		if !ok || !a.judge([]int{200, 422}, "", fields...) {
			return
		}
		query, err := url.ParseQuery(strings.SplitN(raw, "#", 2)[0])
		if err != nil {
			t.Fatalf("accepted %q: %v", raw, err)
		}
		rental := "on_demand"
		if query.Has("type") {
			rental = query.Get("type")
		}
		var p page[offer]
		a.into(&p)
		checkLimit(t, query, len(p.Data), p.NextCursor != nil, a)
		for n := range p.Data {
			for name, value := range query {
				if filter := offerFilters[name]; filter != nil && (len(value) != 1 || !filter(&p.Data[n], value[0], rental)) {
					t.Fatalf("%q lists %+v in spite of %s", raw, p.Data[n], name)
				}
			}
			if !p.Data[n].Available || n > 0 && (query.Get("order") == "" || query.Get("order") == "price") && p.Data[n].price(rental) < p.Data[n-1].price(rental) {
				t.Fatalf("%q lists %+v", raw, p.Data[n])
			}
		}
	})
}

// checkLimit holds the length of a page against what was asked for.
func checkLimit(t *testing.T, query url.Values, n int, more bool, a answer) {
	t.Helper()
	limit := 50
	if query.Has("limit") {
		limit = int(parsed(query.Get("limit")))
	}
	if !within(limit, 1, 200) || n > limit || more && n != limit {
		t.Fatalf("a page of %d for a limit of %d: %s", n, limit, a.raw)
	}
}

// FuzzListQuery sends queries to the plain lists and the log. CURSOR stands for a good cursor, OTHER for another list's.
func FuzzListQuery(f *testing.F) {
	paths := []string{"/transactions", "/gpus", "/templates", "/ssh-keys", "/api-keys", "/instances", "/instances/INSTANCE/logs"}
	for op := range paths {
		for _, query := range []string{"", "limit=2&cursor=CURSOR", "limit=201&cursor=x&status=gone&tail=0", "status=all&limit=1&tail=1000", "tail=%31&status=active", "cursor=OTHER"} {
			f.Add(uint8(op), query)
		}
	}
	id, cursors := "", map[string]string{}
	x := target{prepare: func(r *rig) {
		for n, o := range r.cheapest()[:3] {
			id = r.running(fmt.Sprint(n), m{"offer_id": o.ID}).ID
			r.do("POST", "/ssh-keys", m{"public_key": ed25519A}).want(201)
			r.do("POST", "/api-keys", m{"name": "k", "scopes": []string{"user:read"}}).want(201)
		}
		r.Advance(2 * time.Hour) // for the ledger to say something
		for _, path := range paths[:6] {
			var p page[json.RawMessage]
			r.api("GET", path+"?limit=2", "").want(200).into(&p)
			cursors[path] = *p.NextCursor
		}
	}}
	f.Fuzz(func(t *testing.T, op uint8, raw string) {
		r := x.ready(t)
		list := int(op) % len(paths)
		path, other := paths[list], cursors[paths[(list+1)%6]]
		raw = strings.NewReplacer("CURSOR", cursors[path], "OTHER", other).Replace(raw)
		a, ok := r.send("GET", "/api/v1"+strings.Replace(path, "INSTANCE", id, 1)+"?"+raw, "", nil)
		if !ok || !a.judge([]int{200, 422}, "", "limit", "cursor", "status", "tail") {
			return
		}
		query, err := url.ParseQuery(strings.SplitN(raw, "#", 2)[0])
		if err != nil || path != paths[6] && query.Get("cursor") == other {
			t.Fatalf("accepted %q: %v", raw, err)
		}
		if strings.HasSuffix(path, "/logs") {
			var logs struct{ Lines []string }
			if a.into(&logs); query.Has("tail") && len(logs.Lines) > int(parsed(query.Get("tail"))) || len(logs.Lines) == 0 {
				t.Fatalf("%q: %s", raw, a.raw)
			}
			return
		}
		var p page[json.RawMessage]
		a.into(&p)
		checkLimit(t, query, len(p.Data), p.NextCursor != nil, a)
		if p.NextCursor != nil {
			query.Set("cursor", *p.NextCursor)
			var following page[json.RawMessage]
			r.api("GET", path+"?"+query.Encode(), "").want(200).into(&following)
			if len(following.Data) == 0 || slices.ContainsFunc(following.Data, func(item json.RawMessage) bool { return string(item) == string(p.Data[0]) }) {
				t.Fatalf("%q: after %s comes %s", raw, p.Data, following.Data)
			}
		}
	})
}

// FuzzHeaders sends the headers that the simulator reads.
func FuzzHeaders(f *testing.F) {
	for _, seed := range [][3]string{
		{"Bearer " + testKey, "en", "application/json"}, {"bearer  " + testKey, "en-US,en;q=0.9", "application/json; charset=utf-8"},
		{"Basic eDp5", "ru, en;q=0.1", "text/plain"}, {"Bearer", "*;q=x", "application/json; charset=koi8-r"}, {testKey, "", ";"}, {"", "de;q=1,en;q=0", ""},
		{"Basic " + testKey, "en", "application/json"}, {"Bearer " + testKey, "en;q=0.5, ru;q=0.4", "text/plain"},
	} {
		for op := range uint8(3) {
			f.Add(op, seed[0], seed[1], seed[2])
		}
	}
	body := `{"public_key":"` + ed25519A + `"}`
	x := target{}
	f.Fuzz(func(t *testing.T, op uint8, authorization, language, contentType string) {
		r := x.ready(t)
		header := http.Header{"Authorization": {authorization}, "Accept-Language": {language}, "Content-Type": {contentType}}
		call := []struct{ method, path, body string }{{"GET", "/me", ""}, {"GET", "/templates", ""}, {"POST", "/ssh-keys", body}}[op%3]
		a, ok := r.send(call.method, "/api/v1"+call.path, call.body, header)
		if !ok {
			return
		}
		done := a.judge([]int{200, 201, 401, 422}, call.body, "public_key")
		x.unchanged(t, a.status == 201)
		scheme, token, _ := strings.Cut(authorization, " ")
		good := strings.EqualFold(scheme, "bearer") && strings.TrimSpace(token) == testKey
		if anonymous := call.path == "/templates" && authorization == ""; (a.status == 401) == (good || anonymous) {
			t.Fatalf("Authorization %q: %d", authorization, a.status)
		}
		if media, _, _ := strings.Cut(strings.ToLower(contentType), ";"); a.status == 201 && strings.TrimSpace(media) != "application/json" {
			t.Fatalf("Content-Type %q: %d", contentType, a.status)
		}
		if !done {
			russian := strings.ContainsFunc(a.problem().Error.Message, func(c rune) bool { return unicode.Is(unicode.Cyrillic, c) })
			if lower := strings.ToLower(language); !russian && !strings.Contains(lower, "en") || russian && lower == "en" {
				t.Fatalf("Accept-Language %q: %s", language, a.raw)
			}
		}
	})
}

// FuzzPath sends any method to any path. What is no operation is a 404, or a 405 where another method is one.
func FuzzPath(f *testing.F) {
	for _, op := range simulator.Operations() {
		f.Add(op.Method, op.Path, false)
	}
	for _, path := range []string{"/health", "/requests", "/offers/x", "/device-codes/%41", "/reset/", "//account", "/%zz", "/faults/..", "", "/instances/%2F/start?a#b"} {
		f.Add("PATCH", path, true)
		f.Add("HEAD", path, false)
	}
	x := target{}
	f.Fuzz(func(t *testing.T, method, path string, control bool) {
		r := x.ready(t)
		prefix := "/api/v1"
		if control {
			prefix = "/control"
		}
		if path != "" && path[0] != '/' {
			path = "/" + path
		}
		a, ok := r.send(method, prefix+path, "{}", nil)
		if !ok {
			return
		}
		done := a.judge([]int{200, 201, 204, 400, 404, 405, 409, 422}, "{}", append(instanceFields,
			"name", "image", "public_key", "scopes", "device_code", "decision", "path", "per_minute_key", "per_minute_address", "advance_seconds", "limit", "cursor", "tail", "status", "fault", "order", "min_gpus")...)
		if a.status == 405 && a.header.Get("Allow") == "" {
			t.Fatalf("405 without Allow: %v", a.header)
		}
		if method != "GET" {
			x.unchanged(t, done)
		}
	})
}
