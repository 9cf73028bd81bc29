package simulator_test

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// HTTP: paths, methods, bodies, CORS and caches.

func TestHTTP_UnknownPaths(t *testing.T) {
	r := newAccount(t)
	for _, path := range []string{
		"", "/", "/nothing", "/me/", "//me", "/me/x", "/ME", "/instances/", "/instances//start", "/instances/x/restart",
		"/instances/a%2Fb/c/d", "/offers/", "/instances/..%2f..", "/instances/%00", "/transactions/1", "/auth",
		"/auth/device/", "/openapi.yaml", "/control/health",
	} {
		r.get(path).failsWith("not_found")
	}
	// Ids that need escapes, on all operations that have one.
	for _, op := range apidoc.Operations {
		for _, id := range []string{"none", "ins_000000000000", "%D0%B9", "a%2Fb", "%20", "%2e%2e", "x%00",
			strings.Repeat("x", 2000)} {
			if path := strings.NewReplacer("{id}", id, "{slug}", id).Replace(op.Path); path != op.Path {
				r.do(op.Method, path, object{"name": "x"}).failsWith("not_found")
			}
		}
	}
}

// Only the listed operations exist: no top-up, no payment, and no other method of a listed path.
func TestHTTP_OnlyListedOperations(t *testing.T) {
	r := newAccount(t)
	for _, path := range []string{"/topup", "/top-up", "/payments", "/charges", "/balance/topup",
		"/transactions/topup"} {
		r.post(path, object{"amount_kop": 100}).failsWith("not_found")
	}
	listed := map[string][]string{}
	for _, op := range apidoc.Operations {
		listed[op.Path] = append(listed[op.Path], op.Method)
	}
	id := r.runningInstance(nil).text("id")
	for pattern, known := range listed {
		path := strings.NewReplacer("{id}", id, "{slug}", "ubuntu").Replace(pattern)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
			http.MethodDelete, http.MethodHead, "PURGE", http.MethodTrace} {
			if slices.Contains(known, method) {
				continue
			}
			a := r.do(method, path, nil).want(http.StatusMethodNotAllowed)
			allow := strings.Split(a.header.Get("Allow"), ", ")
			slices.Sort(allow)
			equal(t, a.request+": Allow", asJSON(allow), asJSON(slices.Sorted(slices.Values(known))))
			if method != http.MethodHead {
				a.failsWithStatus(http.StatusMethodNotAllowed, "not_found")
			}
		}
	}
}

// bodied returns operations with a body and a valid body for each.
func bodied() map[string]object {
	return map[string]object{
		"/templates": {"name": "mine", "image": "a/b:1"}, "/ssh-keys": {"public_key": publicKey(1)},
		"/api-keys": {"name": "x", "scopes": []string{"user:read"}}, "/auth/device": {"client_name": "x"},
	}
}

func TestHTTP_BodyNotJSONObject(t *testing.T) {
	r := newAccount(t)
	for path := range bodied() {
		for _, body := range []string{
			`{"name":`, `{} x`, `{}{}`, `[]`, `"x"`, `null`, `1`, "hello", strings.Repeat("[", 100_000),
			strings.Repeat(`{"a":`, 100_000), "{\"name\":\"\xff\xfe\"}", "\x00", `{'name': 'x'}`, `{} // x`,
			`{"name": 1e999, "client_name": 1e999}`,
		} {
			a := r.raw(http.MethodPost, "/api/v1"+path, strings.NewReader(body))
			a.request += " " + body[:min(len(body), 20)]
			a.invalid("")
		}
	}
}

func TestHTTP_BodyMediaType(t *testing.T) {
	r := newAccount(t)
	for path, body := range bodied() {
		for _, mediaType := range []string{"text/plain", "application/x-www-form-urlencoded",
			"multipart/form-data; boundary=x", "application/xml", "json", "application/json; charset=koi8-r"} {
			a := r.with("Content-Type", mediaType).post(path, object{})
			a.request += " as " + mediaType
			a.invalid("")
		}
		for _, mediaType := range []string{"application/json", "application/json; charset=utf-8",
			"Application/JSON;charset=UTF-8"} {
			a := r.with("Content-Type", mediaType).post(path, body)
			check(t, a.status/100 == 2, "%s as %s: %d %s", a.request, mediaType, a.status, a.raw)
		}
	}
}

// What HTTP allows and the contract does not describe: bodies of any size, without use, and left out.
func TestHTTP_BodySize(t *testing.T) {
	r := newAccount(t, func(c *simulator.Config) { c.Wrap = nil })
	send := func(size int) response {
		body := []byte(`{"name":"x","scopes":["user:read"]}`)
		body = append(body, bytes.Repeat([]byte(" "), size-len(body))...)
		return r.raw(http.MethodPost, "/api/v1"+"/api-keys", bytes.NewReader(body))
	}
	const limit = 1 << 20
	send(limit).created()
	for _, size := range []int{limit + 1, 10 * limit} {
		send(size).failsWithStatus(http.StatusRequestEntityTooLarge, "validation_error")
	}
	for _, body := range []string{"{}", "garbage", strings.Repeat("x", 4096)} {
		r.raw(http.MethodGet, "/api/v1"+"/me", strings.NewReader(body)).ok()
		r.raw(http.MethodDelete, "/api/v1"+"/ssh-keys/x", strings.NewReader(body)).failsWith("not_found")
	}
	r.as("").post("/auth/device", nil).ok()
	r.post("/templates", nil).invalid("name")
}

// The document does not say that unknown fields are refused, so they are ignored like unknown query parameters.
func TestHTTP_UnknownFieldsIgnored(t *testing.T) {
	r := newAccount(t)
	bodies := bodied()
	bodies["/instances"] = r.instanceBody(nil)
	for path, body := range bodies {
		body = maps.Clone(body)
		body["surprise"] = true
		a := r.with("Idempotency-Key", "key").post(path, body)
		check(t, a.status/100 == 2, "%s with an unknown field: %d %.200s", path, a.status, a.raw)
	}
	r.get("/me?surprise=1&surprise=2").ok()
}

// preflight sends the CORS preflight request of a browser.
func (r *rig) preflight(method, path string) response {
	r.t.Helper()
	return r.as("").with("Origin", "https://page.example").with("Access-Control-Request-Method", method).
		with("Access-Control-Request-Headers", "accept-language").do(http.MethodOptions, path, nil)
}

func allowsOrigin(a response) bool { return a.header.Get("Access-Control-Allow-Origin") == "*" }

// Pages of other origins can read exactly the public GET endpoints, also their errors and a 429 with its Retry-After.
// Only lists are cached, for 60 seconds; all other responses are not stored.
func TestHTTP_CORSAndCache(t *testing.T) {
	r := newAccount(t)
	offer := r.instanceBody(nil).text("offer_id")
	for _, op := range apidoc.Operations {
		path := strings.NewReplacer("{id}", offer, "{slug}", "none").Replace(op.Path)
		public := op.Method == http.MethodGet && (op.Scope == "public" || op.Scope == "optional")
		for _, from := range []*rig{r, r.as("")} {
			a := from.do(op.Method, path, nil)
			equal(t, a.request+": read by any page", allowsOrigin(a), public)
			cache := "no-store"
			if public && op.Path != "/offers/{id}" {
				cache = "public, max-age=60"
				if op.Path == "/templates" && from.key != "" { // a shared cache must not store own templates
					cache = "private, max-age=60"
				}
			}
			equal(t, a.request+": Cache-Control", a.header.Get("Cache-Control"), cache)
		}
		p := r.preflight(op.Method, path)
		methods := p.header.Get("Access-Control-Allow-Methods")
		equal(t, p.request+" "+op.Method, allowsOrigin(p) && strings.Contains(methods, op.Method), public)
		if public {
			check(t, p.status/100 == 2 && methods == "GET, OPTIONS", "%s: %d, methods %q", p.request, p.status, methods)
		}
	}
	equal(t, "Vary", r.get("/templates").header.Get("Vary"), "Authorization")
	check(t, allowsOrigin(r.get("/offers?limit=0")), "a refusal of /offers that no page can read")
	r.SetRateLimit(1, 1)
	for _, from := range []*rig{r, r.as("")} {
		from.get("/nothing")
		for path, public := range map[string]bool{"/gpus": true, "/offers": true, "/templates": true,
			"/offers/" + offer: true, "/me": false, "/nothing": false} {
			a := from.get(path)
			a.failsWith("rate_limited")
			exposes := strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "Retry-After")
			check(t, allowsOrigin(a) == public && exposes == public, "a 429 of %s: %v", path, a.header)
		}
	}
}

// Chapter "Versioning": the address ends with the version, and the schema is served there.
func TestHTTP_Version(t *testing.T) {
	r := newAccount(t)
	schema := r.as("").get("/openapi.json").ok()
	equal(t, "info.version", schema.text("info.version"), "1.0.0")
	for _, op := range apidoc.Operations {
		methods, _ := schema.object("paths")[op.Path].(map[string]any)
		check(t, methods[strings.ToLower(op.Method)] != nil, "the schema has no %s %s", op.Method, op.Path)
	}
}
