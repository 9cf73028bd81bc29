package simulator_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// withQuirks enables quirks from the start.
func withQuirks(names ...string) func(*simulator.Config) {
	return func(c *simulator.Config) { c.Hooks = quirks.New(names...) }
}

// try sends a request. The status is 0 if the connection is cut.
func (api *client) try(method, path string, body any) (a response) {
	api.t.Helper()
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			a = response{t: api.t}
		}
	}()
	return api.do(method, path, body)
}

// failed reports whether a response does not come from a handler of the API: a cut connection, a 5xx, or an error in
// another format.
func (a response) failed() bool {
	if a.status == 0 || a.status >= 500 {
		return true
	}
	if a.status < 400 {
		return false
	}
	var failure object
	known := []string{"unauthorized", "insufficient_funds", "forbidden", "not_found", "conflict", "validation_error",
		"rate_limited"}
	return json.Unmarshal(a.body, &failure) != nil || !slices.Contains(known, failure.text("error.code"))
}

// retry repeats a request until it reaches the handler, as a client does.
func (api *client) retry(method, path string, body any) response {
	api.t.Helper()
	for range 6 {
		if a := api.try(method, path, body); !a.failed() {
			return a
		}
	}
	api.t.Fatalf("%s %s: no response of the service in six attempts", method, path)
	return response{}
}

// runScenario sends requests of all kinds and returns all responses.
func runScenario(api *client) (responses []string) {
	send := func(method, path string, body any) response {
		a := api.retry(method, path, body)
		responses = append(responses, fmt.Sprint(method, path, a.status, a.header.Get("X-RateLimit-Limit"),
			string(a.body)))
		return a
	}
	send("POST", "/ssh-keys", object{"name": "a", "public_key": publicKey(1)})
	send("POST", "/templates", object{"name": "own", "image": "ubuntu:24.04", "ports": []int{1, 2, 3, 4, 5}})
	send("POST", "/api-keys", object{"name": "k", "scopes": []string{"user:read", "instances:read"}})
	for _, path := range []string{"/me", "/balance", "/gpus", "/offers?gpu=rtx_4090&num_gpus=1&limit=5",
		"/offers?type=interruptible", "/templates", "/transactions", "/ssh-keys", "/api-keys"} {
		send("GET", path, nil)
	}
	rent := func(key string) string {
		for _, o := range api.offers() {
			body := object{"template": "pytorch", "disk_gb": 50, "type": "interruptible", "name": key, "offer_id": o["id"]}
			a := api.withHeader("Idempotency-Key", key).retry("POST", "/instances", body)
			if responses = append(responses, string(a.body)); a.status == 201 || a.status == 200 {
				return "/instances/" + a.object().text("id")
			}
		}
		api.t.Fatal("no offer was accepted")
		return ""
	}
	path := rent("story")
	for _, step := range []string{"", "/start", "/stop", "/start"} {
		if step != "" {
			send("POST", path+step, nil)
		}
		for range 8 {
			api.Advance(2 * time.Second)
			send("GET", path, nil)
			send("GET", "/instances", nil)
		}
	}
	send("PATCH", path, object{"name": "renamed"})
	send("DELETE", path, nil)
	api.Advance(time.Minute)
	rent("story")
	send("DELETE", rent("booting"), nil)
	send("GET", "/balance", nil)
	send("GET", "/transactions", nil)
	return responses
}

// offers returns the offers of the popular model without quirks.
func (api *client) offers() []object {
	api.t.Helper()
	return api.withoutQuirks("/offers?gpu=rtx_4090&num_gpus=1").objects("data")
}

// withoutQuirks sends a GET request without quirks.
func (api *client) withoutQuirks(path string) object {
	api.t.Helper()
	other := api.withKey(api.key)
	other.handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		api.Handler().ServeHTTP(w, req.WithContext(quirks.Without(req.Context())))
	})
	return other.get(path).ok()
}

// The same seed has the same quirks.
func TestQuirks_DependOnSeed(t *testing.T) {
	secrets := regexp.MustCompile(`"(secret|prefix)":"[^"]*"`) // what no seed decides
	scenario := func(seed uint64, names ...string) string {
		api := newClient(t, withQuirks(names...), func(c *simulator.Config) { c.Start, c.Seed = historyStart, seed })
		return secrets.ReplaceAllString(strings.Join(runScenario(api), "\n"), "")
	}
	first := scenario(7, "all")
	if first != scenario(7, "all") {
		t.Error("the same seed has two stories")
	}
	if first == scenario(8, "all") || first == scenario(7) {
		t.Error("another seed, or none of the quirks, has the same story")
	}
}

// Quirks show what the document allows: their responses match the contract. It does not describe gateways, unknown
// fields, and values without a promise that they are all.
func TestQuirks_MatchContract(t *testing.T) {
	outside := []string{"status-after-work", "gateway-errors", "limit-headers-absent", "strange-neighbours",
		"unknown-enums", "unknown-fields"}
	inside := slices.DeleteFunc(quirks.Names(), func(name string) bool { return slices.Contains(outside, name) })
	api := newClient(t, withQuirks(inside...))
	api.handler = contracttest.New(t).Wrap(api.Handler())
	runScenario(api)
}
