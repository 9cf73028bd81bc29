package simulator_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// withQuirks enables quirks from the start.
func withQuirks(names ...string) func(*simulator.Config) {
	return func(c *simulator.Config) { c.Hooks = quirks.New(names...) }
}

// plain returns a client whose requests and responses have no quirks.
func (api *client) plain() *client {
	other := api.withKey(api.key)
	other.handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		api.Handler().ServeHTTP(w, req.WithContext(quirks.Without(req.Context())))
	})
	return other
}

// failed reports whether a response does not come from a handler of the API: a cut connection, a 5xx, or an error in
// another format.
func (a response) failed() bool {
	if a.status == 0 || a.status >= 500 {
		return true
	}
	var failure object
	return a.status >= 400 &&
		(json.Unmarshal(a.body, &failure) != nil || apidoc.Errors[failure.text("error.code")] != a.status)
}

// runScenario sends requests of all kinds, each until it reaches the handler, and returns all responses.
func runScenario(api *client) (responses []string) {
	send := func(api *client, method, path string, body any) (a response) {
		for n := 0; n == 0 || a.failed(); n++ {
			if a = api.do(method, path, body); n == 6 {
				api.t.Fatalf("%s: no response of the service in six attempts", a.request)
			}
		}
		responses = append(responses, fmt.Sprint(a.request, a.status, a.header.Get("X-RateLimit-Limit"), string(a.body)))
		return a
	}
	for _, path := range createPaths {
		if path != "/instances" {
			api.add(path, 1)
		}
	}
	for _, op := range apidoc.Operations {
		if op.Method == "GET" && !strings.Contains(op.Path, "{") {
			send(api, "GET", op.Path, nil)
		}
	}
	rent := func(key string) string {
		for _, o := range api.plain().list("/offers?gpu=rtx_4090&num_gpus=1") {
			body := object{"template": "pytorch", "disk_gb": 50, "type": "interruptible", "name": key, "offer_id": o["id"]}
			if a := send(api.withHeader("Idempotency-Key", key), "POST", "/instances", body); a.status < 300 {
				return "/instances/" + a.object().text("id")
			}
		}
		api.t.Fatal("no offer was accepted")
		return ""
	}
	path := rent("story")
	for _, step := range []string{"", "/start", "/stop", "/start"} {
		if step != "" {
			send(api, "POST", path+step, nil)
		}
		for range 8 {
			api.Advance(2 * time.Second)
			send(api, "GET", path, nil)
			send(api, "GET", "/instances", nil)
		}
	}
	send(api, "PATCH", path, object{"name": "renamed"})
	send(api, "DELETE", path, nil)
	api.Advance(time.Minute)
	rent("story")
	send(api, "DELETE", rent("booting"), nil)
	send(api, "GET", "/balance", nil)
	send(api, "GET", "/transactions", nil)
	return responses
}

// The same seed has the same quirks.
func TestQuirks_DependOnSeed(t *testing.T) {
	random := regexp.MustCompile(`"(secret|prefix)":"[^"]*"`) // what no seed decides
	scenario := func(seed uint64, names ...string) string {
		api := newClient(t, withQuirks(names...), func(c *simulator.Config) { c.Start, c.Seed = historyStart, seed })
		return random.ReplaceAllString(strings.Join(runScenario(api), "\n"), "")
	}
	first := scenario(7, "all")
	check(t, first == scenario(7, "all"), "the same seed has two stories")
	check(t, first != scenario(8, "all") && first != scenario(7), "another seed, or no quirk, has the same story")
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

// After a cut on a used connection, the next new connection is cut, too. Otherwise the transport, which retries a
// write with an idempotency key on a new connection, would hide every cut.
func TestQuirk_StatusAfterWork_ReusedConnection(t *testing.T) {
	set := quirks.New("status-after-work")
	server, err := set.Start(t.Context(), simulator.Config{Seed: 7, Clock: simulator.ClockManual, APIKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.SetRateLimit(0, 0)
	id := clientOf(t, server.Simulator, testKey).plain().createInstance(nil).text("id")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	send := func(method, path, body, key string) (status int) { // 0 if the connection is cut
		req, err := http.NewRequestWithContext(t.Context(), method, server.BaseURL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer " + testKey}, "Content-Type": {"application/json"}}
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		check(t, err == nil, "%s %s: %v", method, path, err)
		return resp.StatusCode
	}
	body := func(n int) string { return fmt.Sprintf(`{"name":"n%d"}`, n) }
	longest := 0
	for n := range 200 {
		inRow := 0
		for send("PATCH", "/instances/"+id, body(n), "") != 200 {
			inRow++
		}
		longest = max(longest, inRow)
	}
	equal(t, "failures in a row without an idempotency key", longest, 2)
	server.ClearRequests()
	seen, cuts := 0, 0
	for n := range 200 {
		send("GET", "/me", "", "") // leaves a used connection
		if send("PATCH", "/instances/"+id, body(1000+n), fmt.Sprint(n)) == 0 {
			seen++
		}
	}
	for _, request := range server.Requests() {
		if request.Status == 0 {
			cuts++
		}
	}
	check(t, seen > 0 && cuts == 2*seen, "the client saw %d cuts of %d: want each to be repeated", seen, cuts)
}
