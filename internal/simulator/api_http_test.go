package simulator_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// HTTP: paths, methods, bodies, CORS and caches.

func TestHTTP_UnknownPaths(t *testing.T) {
	api := newFundedClient(t)
	for _, path := range []string{
		"", "/", "/nothing", "/me/", "//me", "/me/x", "/ME", "/instances/", "/instances//start", "/instances/x/restart",
		"/instances/a%2Fb/c/d", "/offers/", "/instances/..%2f..", "/instances/%00", "/transactions/1", "/auth",
		"/auth/device/", "/openapi.yaml", "/control/health", "/topup", "/payments", "/balance/topup",
	} {
		api.get(path).failsWith("not_found")
	}
	// Ids that need escapes, on all operations that have one.
	for _, op := range apidoc.Operations {
		for _, id := range []string{"none", "ins_000000000000", "%D0%B9", "a%2Fb", "%20", "%2e%2e", "x%00",
			strings.Repeat("x", 2000)} {
			if path := strings.NewReplacer("{id}", id, "{slug}", id).Replace(op.Path); path != op.Path {
				api.do(op.Method, path, object{"name": "x"}).failsWith("not_found")
			}
		}
	}
}

// Only the listed operations of a path exist.
func TestHTTP_OnlyListedOperations(t *testing.T) {
	api := newFundedClient(t)
	listed := map[string][]string{}
	for _, op := range apidoc.Operations {
		listed[op.Path] = append(listed[op.Path], op.Method)
	}
	id := api.runningInstance(nil).text("id")
	for pattern, known := range listed {
		path := strings.NewReplacer("{id}", id, "{slug}", "ubuntu").Replace(pattern)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
			http.MethodDelete, http.MethodHead, "PURGE", http.MethodTrace} {
			if slices.Contains(known, method) {
				continue
			}
			a := api.do(method, path, nil).want(http.StatusMethodNotAllowed)
			allow := strings.Split(a.header.Get("Allow"), ", ")
			slices.Sort(allow)
			equal(t, a.request+": Allow", asJSON(allow), asJSON(slices.Sorted(slices.Values(known))))
			if method != http.MethodHead {
				a.failsWithStatus(http.StatusMethodNotAllowed, "not_found")
			}
		}
	}
}

// eachBody calls a function with the table of each body and a function that sends one. Created items are deleted.
func (api *client) eachBody(check func(table string, send func(body any) response)) {
	api = api.withHeader("Idempotency-Key", "key")
	id := api.createInstance(nil).text("id")
	for _, op := range apidoc.Operations {
		if op.Body == "" {
			continue
		}
		check(op.Body, func(body any) response {
			if op.ID == "createInstance" {
				return api.withHeader("Idempotency-Key", unique("key")).do(op.Method, op.Path, body)
			}
			a := api.do(op.Method, fillPath(op, id), body)
			if a.status == http.StatusCreated {
				api.delete(op.Path + "/" + ids([]object{a.object()})[0]).want(http.StatusNoContent)
			}
			return a
		})
	}
}

// All bounds of all fields.
func TestHTTP_BodyBounds(t *testing.T) {
	api := newFundedClient(t)
	offer := api.list("/offers?type=interruptible&min_disk_gb=2000")[0]["id"]
	api.eachBody(func(table string, send func(body any) response) {
		body := validBody(table, 0)
		switch table {
		case "InstanceCreate":
			body = api.instanceBody(object{"offer_id": offer})
			send = func(body any) response { return api.rentOnce(body.(object)) }
		case "TemplateCreate":
			body["recommended_disk_gb"] = 2000
		}
		for _, f := range apidoc.Fields(table) {
			invalid, valid := apidoc.InvalidTypes(f), []any(nil)
			if f.Required {
				invalid = append(invalid, absent{})
			} else {
				valid = append(valid, absent{})
			}
			for _, b := range apidoc.Bounds {
				if b.Table == table && b.Field == f.Name {
					valid, invalid = append(valid, b.Valid...), append(invalid, b.Invalid...)
				}
			}
			checkField(body, f.Name, valid, invalid, func(body object) response { return send(body) })
		}
	})
}

func TestHTTP_BodyNotJSONObject(t *testing.T) {
	api := newFundedClient(t)
	api.eachBody(func(_ string, send func(body any) response) {
		for _, body := range []string{
			`{"name":`, `{} x`, `{}{}`, `[]`, `"x"`, `null`, `1`, "hello", strings.Repeat("[", 100_000),
			strings.Repeat(`{"a":`, 100_000), "{\"name\":\"\xff\xfe\"}", "\x00", `{'name': 'x'}`, `{} // x`,
		} {
			a := send(body)
			a.request += " " + body[:min(len(body), 20)]
			a.invalid("body")
		}
	})
}

func TestHTTP_BodyMediaType(t *testing.T) {
	for mediaType, accepted := range map[string]bool{
		"application/json": true, "application/json; charset=utf-8": true, "Application/JSON;charset=UTF-8": true,
		"text/plain": false, "application/x-www-form-urlencoded": false, "multipart/form-data; boundary=x": false,
		"application/xml": false, "json": false, "application/json; charset=koi8-r": false, "": false,
	} {
		api := newClient(t).withHeader("Content-Type", mediaType)
		api.post("/auth/device", object{}).want(map[bool]int{true: 200, false: 422}[accepted])
	}
}

// The document does not say that unknown fields are refused, so they are ignored like unknown query parameters.
func TestHTTP_UnknownFieldsIgnored(t *testing.T) {
	api := newFundedClient(t)
	api.eachBody(func(_ string, send func(body any) response) {
		a, b := send(object{}), send(object{"surprise": true})
		check(t, a.status == b.status && (a.status == 200 || string(a.body) == string(b.body)),
			"%s with an unknown field: %d %s, without %d %s", b.request, b.status, b.body, a.status, a.body)
	})
	api.get("/me?surprise=1&surprise=2").ok()
}

// What HTTP allows and the contract does not describe: bodies of any size, without use, and left out.
func TestHTTP_BodySize(t *testing.T) {
	api := newFundedClient(t, func(c *simulator.Config) { c.Wrap = nil })
	send := func(size int) response {
		const body = `{"name":"x","scopes":["user:read"]}`
		return api.post("/api-keys", body+strings.Repeat(" ", size-len(body)))
	}
	const limit = 1 << 20
	send(limit).created()
	for _, size := range []int{limit + 1, 10 * limit} {
		send(size).failsWithStatus(http.StatusRequestEntityTooLarge, "validation_error")
	}
	for _, body := range []string{"{}", "garbage", strings.Repeat("x", 4096)} {
		api.do(http.MethodGet, "/me", body).ok()
		api.do(http.MethodDelete, "/ssh-keys/x", body).failsWith("not_found")
	}
	api.withKey("").post("/auth/device", nil).ok()
	api.post("/templates", nil).invalid("name")
}

func allowsOrigin(a response) bool { return a.header.Get("Access-Control-Allow-Origin") == "*" }

// Pages of other origins can read exactly the public GET endpoints, also their errors and a 429 with its Retry-After.
// Only lists are cached, for 60 seconds; all other responses are not stored.
func TestHTTP_CORSAndCache(t *testing.T) {
	api := newFundedClient(t)
	offer := api.instanceBody(nil).text("offer_id")
	page := api.withKey("").withHeader("Origin", "https://page.example").
		withHeader("Access-Control-Request-Headers", "accept-language")
	for _, op := range apidoc.Operations {
		path := strings.NewReplacer("{id}", offer, "{slug}", "none").Replace(op.Path)
		public := op.Method == http.MethodGet && (op.Scope == "public" || op.Scope == "optional")
		for _, from := range []*client{api, api.withKey("")} {
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
		p := page.withHeader("Access-Control-Request-Method", op.Method).do(http.MethodOptions, path, nil)
		methods := p.header.Get("Access-Control-Allow-Methods")
		equal(t, p.request+" "+op.Method, allowsOrigin(p) && strings.Contains(methods, op.Method), public)
		if public {
			check(t, p.status/100 == 2 && methods == "GET, OPTIONS", "%s: %d, methods %q", p.request, p.status, methods)
		}
	}
	equal(t, "Vary", api.get("/templates").header.Get("Vary"), "Authorization")
	check(t, allowsOrigin(api.get("/offers?limit=0")), "a refusal of /offers that no page can read")
	api.SetRateLimit(1, 1)
	for _, from := range []*client{api, api.withKey("")} {
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

// Chapter "Versioning": the schema is served at the address that ends with the version.
func TestHTTP_Schema(t *testing.T) {
	served, want := newFundedClient(t).withKey("").get("/openapi.json"), response{t: t, body: contract.Document()}
	equal(t, "the schema", asJSON(served.ok()), asJSON(want.object()))
}
