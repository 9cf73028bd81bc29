package simulator_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testKey      = "gpr_0123456789abcdefghijABCDEFGHIJ0123456789"
	boot         = 10 * time.Second
	bootComplete = 2 * boot // after this time the ports are assigned
)

// client sends requests to its simulator and checks the responses.
type client struct {
	*simulator.Simulator
	t       testing.TB
	handler http.Handler // receives the requests to the API; the handler of the simulator, if a test does not replace it
	key     string       // the API key, "" for none
	header  http.Header  // of all requests
}

// newClient starts a simulator with a manual clock and a still market. The contract validates all traffic.
func newClient(t testing.TB, change ...func(*simulator.Config)) *client {
	t.Helper()
	checker := contracttest.New(t, contracttest.AllowInvalidRequests())
	config := simulator.Config{Seed: 7, Clock: simulator.ClockManual, Boot: boot, APIKey: testKey,
		Market: simulator.MarketStill, Wrap: checker.Wrap}
	for _, f := range change {
		f(&config)
	}
	return uncheckedClient(t, config)
}

// uncheckedClient starts a simulator without the validation by the contract, which takes most of the time.
func uncheckedClient(t testing.TB, config simulator.Config) *client {
	t.Helper()
	sim, err := quirks.NewSimulator(config)
	if err != nil {
		t.Fatal(err)
	}
	sim.SetRateLimit(0, 0)
	return clientOf(t, sim, testKey)
}

func clientOf(t testing.TB, sim *simulator.Simulator, key string) *client {
	return &client{Simulator: sim, t: t, handler: sim.Handler(), key: key, header: http.Header{}}
}

// newFundedClient is like newClient for a parallel test. The account has enough money and a high limit of instances.
func newFundedClient(t *testing.T, change ...func(*simulator.Config)) *client {
	t.Helper()
	t.Parallel()
	api := newClient(t, append(change, func(c *simulator.Config) {
		c.Seed, c.Start = 20260, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	})...)
	api.setAccount(object{"balance_kop": 1_000_000_000, "max_instances": 1000})
	return api
}

// withKey returns a client of the same simulator with another API key, "" for none.
func (api *client) withKey(key string) *client {
	other := *api
	other.key, other.header = key, api.header.Clone()
	return &other
}

// withHeader returns a client of the same simulator that sends another header.
func (api *client) withHeader(name, value string) *client {
	other := api.withKey(api.key)
	other.header.Set(name, value)
	return other
}

// send sends a request to any path of the simulator. A string is sent as it is, nil without a body, and other values
// as JSON. The status is 0 if the connection is cut.
func (api *client) send(method, target string, body any) (a response) {
	api.t.Helper()
	content, isText := body.(string)
	if !isText && body != nil {
		content = asJSON(body)
	}
	req := httptest.NewRequestWithContext(api.t.Context(), method, "http://127.0.0.1"+target, strings.NewReader(content))
	req.RemoteAddr = "127.0.0.1:40000"
	if api.key != "" {
		req.Header.Set("Authorization", "Bearer "+api.key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, api.header)
	rec := httptest.NewRecorder()
	a = response{t: api.t, request: method + " " + strings.TrimPrefix(target, "/api/v1"), header: rec.Header()}
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p)
		}
	}()
	api.handler.ServeHTTP(rec, req)
	a.status, a.body = rec.Code, rec.Body.Bytes()
	return a
}

// do calls the API.
func (api *client) do(method, path string, body any) response {
	api.t.Helper()
	return api.send(method, "/api/v1"+path, body)
}

// control calls the control API.
func (api *client) control(method, path string, body any) response {
	api.t.Helper()
	direct := *api
	direct.handler = api.Handler()
	return direct.send(method, "/control"+path, body)
}

func (api *client) get(path string) response { api.t.Helper(); return api.do("GET", path, nil) }

func (api *client) post(path string, body any) response {
	api.t.Helper()
	return api.do("POST", path, body)
}

func (api *client) patch(path string, body any) response {
	api.t.Helper()
	return api.do("PATCH", path, body)
}

func (api *client) delete(path string) response { api.t.Helper(); return api.do("DELETE", path, nil) }

func (api *client) setAccount(set object) {
	api.t.Helper()
	api.control("PATCH", "/account", set).want(200)
}

func (api *client) setOffer(id string, set object) {
	api.t.Helper()
	api.control("PATCH", "/offers/"+id, set).want(200)
}

func (api *client) setInstance(id string, set object) {
	api.t.Helper()
	api.control("PATCH", "/instances/"+id, set).want(200)
}

// reset resets the service, including shown prices, and lifts the rate limits.
func (api *client) reset() {
	api.t.Helper()
	api.control(http.MethodPost, "/reset", nil).want(http.StatusOK)
	api.SetRateLimit(0, 0)
}

// page returns one page of a list. The cursor of the next page is "" on the last page.
func (api *client) page(path string) (items []object, next string) {
	api.t.Helper()
	o := api.get(path).ok()
	return o.objects("data"), o.text("next_cursor")
}

// list reads a list in large pages.
func (api *client) list(path string) []object { api.t.Helper(); return api.listInPages(path, 200, nil) }

// listInPages reads a list in pages of a size. It calls between, if any, after each page but the last.
func (api *client) listInPages(path string, size int, between func(page int)) (all []object) {
	api.t.Helper()
	path = join(path, fmt.Sprintf("limit=%d", size))
	cursor := ""
	for n := 1; ; n++ {
		items, next := api.page(path + cursor)
		all = append(all, items...)
		if n > 1 && len(items) == 0 || next != "" && len(items) != size {
			api.t.Fatalf("%s: %d items on a page with the next cursor %q", path, len(items), next)
		}
		if next == "" {
			return all
		}
		if between != nil {
			between(n)
		}
		cursor = "&" + after(next)
	}
}

// listHas reports whether a list has an id.
func (api *client) listHas(path, id string) bool {
	api.t.Helper()
	return slices.Contains(ids(api.list(path)), id)
}

func (api *client) balance() object { api.t.Helper(); return api.get("/balance").ok() }

// instanceBody returns a valid body of POST /instances with changes. The offer is the cheapest with both prices and a
// disk for every template.
func (api *client) instanceBody(changes object) object {
	api.t.Helper()
	offers, _ := api.page("/offers?type=interruptible&min_disk_gb=200")
	body := object{"offer_id": offers[0]["id"], "template": "ubuntu", "disk_gb": 10}
	maps.Copy(body, changes)
	return body
}

// create sends POST /instances with an Idempotency-Key.
func (api *client) create(key string, body any) response {
	api.t.Helper()
	return api.withHeader("Idempotency-Key", key).post("/instances", body)
}

// createInstance creates an instance from a valid body with changes.
func (api *client) createInstance(changes object) object {
	api.t.Helper()
	return api.create(unique("create"), api.instanceBody(changes)).created()
}

// offerOf returns the offer of an instance. The API does not return it.
func (api *client) offerOf(id string) string {
	for _, i := range api.Overview().Instances {
		if i.ID == id {
			return i.OfferID
		}
	}
	api.t.Fatalf("no instance %s", id)
	return ""
}

func (api *client) instance(id string) object {
	api.t.Helper()
	return api.get("/instances/" + id).ok()
}

// waitFor advances the clock by seconds until the instance has a status. It returns all statuses that it saw.
func (api *client) waitFor(id, status string) (seen []string) {
	api.t.Helper()
	for range 600 {
		now := api.instance(id).text("status")
		if len(seen) == 0 || seen[len(seen)-1] != now {
			seen = append(seen, now)
		}
		if now == status {
			return seen
		}
		api.Advance(time.Second)
	}
	api.t.Fatalf("instance %s: not %s after 600 s, but %v", id, status, seen)
	return nil
}

// runningInstance creates an instance and waits until it is running and has its address.
func (api *client) runningInstance(changes object) object {
	api.t.Helper()
	id := api.createInstance(changes).text("id")
	api.Advance(bootComplete)
	o := api.instance(id)
	if o.text("status") != "running" {
		api.t.Fatalf("instance %s is %s after its boot", id, o["status"])
	}
	return o
}

// action sends start or stop.
func (api *client) action(id, action string) response {
	api.t.Helper()
	return api.post("/instances/"+id+"/"+action, nil)
}

// creations are the operations that create an item of a list, by its path.
var creations = func() map[string]apidoc.Operation {
	all := map[string]apidoc.Operation{}
	for _, op := range apidoc.Operations {
		if op.Created != "" {
			all[op.Path] = op
		}
	}
	return all
}()

// createPaths are their paths.
var createPaths = slices.Sorted(maps.Keys(creations))

// validBody returns a body with all fields at their highest bounds if n is odd, else with the required ones.
func validBody(table string, n int) object {
	body := object{}
	for _, f := range apidoc.Fields(table) {
		if !f.Required && n%2 == 0 {
			continue
		}
		body[f.Name] = publicKey(byte(n)) // the only field of a type without bounds
		for _, b := range apidoc.Bounds {
			if b.Table == table && b.Field == f.Name {
				if valid := slices.DeleteFunc(slices.Clone(b.Valid), func(v any) bool { return v == nil }); len(valid) > 0 {
					body[f.Name] = valid[len(valid)-1]
				}
			}
		}
	}
	return body
}

// add creates the nth item of a list. Only odd ones have all fields.
func (api *client) add(path string, n int) object {
	api.t.Helper()
	body := validBody(creations[path].Body, n)
	if path == "/instances" {
		body = api.instanceBody(nil)
	}
	return api.withHeader("Idempotency-Key", unique("add")).post(path, body).created()
}

// newKey creates an API key with scopes.
func (api *client) newKey(scopes ...string) (secret, id string) {
	api.t.Helper()
	o := api.post("/api-keys", object{"name": unique("key"), "scopes": scopes}).created()
	return o.text("secret"), o.text("id")
}

// newTemplate creates a template and returns its slug.
func (api *client) newTemplate() string {
	api.t.Helper()
	return api.post("/templates", object{"name": "own template", "image": "alpine:3.20"}).created().text("slug")
}

// newSSHKey adds an SSH key. Different seeds return different keys.
func (api *client) newSSHKey(seed byte) object {
	api.t.Helper()
	return api.post("/ssh-keys", object{"public_key": publicKey(seed)}).created()
}

// checkLedger checks the rules of every ledger, and that the entries of an earlier read did not change.
func checkLedger(api *client, earlier []object) []object {
	api.t.Helper()
	b, entries := api.balance(), api.list("/transactions")
	posted, seen := map[string]int64{}, map[string]bool{}
	var sum, accrued int64
	for n, e := range entries {
		amount, instance := e.integer("amount_kop"), e.text("instance_id")
		sum, seen[e.text("id")] = sum+amount, true
		posted[instance] -= amount
		check(api.t, (n == 0 || !e.time("at").After(entries[n-1].time("at"))) && (instance == "" || amount < 0),
			"entry %d, newest first: %v", n, e)
	}
	delete(posted, "")
	for _, i := range api.list("/instances?status=all") {
		open := i.integer("cost_so_far_kop") - posted[i.text("id")]
		accrued += open
		most := max(i.integer("price.running_kop_h"), i.integer("price.stopped_kop_h")) // usage is posted every hour
		check(api.t, open >= 0 && open <= most && (open == 0 || i.text("status") != "destroyed"), "%d of %v is not posted",
			open, i)
		delete(posted, i.text("id"))
	}
	check(api.t, sum == b.integer("balance_kop") && b.integer("available_kop") == sum-accrued && len(posted) == 0 &&
		len(seen) == len(entries), "balance %v, sum %d, accrued %d, charges without instance %v, entries %v",
		b, sum, accrued, posted, entries)
	equal(api.t, "earlier entries", asJSON(entries[len(entries)-len(earlier):]), asJSON(append([]object{}, earlier...)))
	return entries
}

// join adds a query to a path that may already have one.
func join(path, query string) string {
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}

// after is the query of the page after a cursor.
func after(cursor string) string { return "cursor=" + url.QueryEscape(cursor) }

// scopes are all scopes of API keys.
var scopes = apidoc.Scopes

var serial atomic.Int64

// unique returns a name that no other test uses.
func unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, serial.Add(1)) }

func publicKey(seed byte) string {
	blob := append([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"), bytes.Repeat([]byte{seed}, 32)...)
	return "ssh-ed25519 " + base64.StdEncoding.EncodeToString(blob) + " someone@example"
}
