package simulator_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
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
	handler http.Handler // receives the requests; the handler of the simulator, if a test does not replace it
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
	sim, err := simulator.New(config)
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
	r := newClient(t, append(change, func(c *simulator.Config) {
		c.Seed, c.Start = 20260, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	})...)
	r.setAccount(object{"balance_kop": 1_000_000_000, "max_instances": 1000})
	return r
}

// withKey returns a client of the same simulator with another API key, "" for none.
func (r *client) withKey(key string) *client {
	other := *r
	other.key, other.header = key, r.header.Clone()
	return &other
}

// withHeader returns a client of the same simulator that sends another header.
func (r *client) withHeader(name, value string) *client {
	other := r.withKey(r.key)
	other.header.Set(name, value)
	return other
}

// send sends a request to any path of the simulator. A string is sent as it is, nil without a body, and other values
// as JSON.
func (r *client) send(method, target string, body any) response {
	r.t.Helper()
	var reader io.Reader
	if content, ok := body.(string); ok {
		reader = strings.NewReader(content)
	} else if body != nil {
		reader = strings.NewReader(asJSON(body))
	}
	req := httptest.NewRequestWithContext(r.t.Context(), method, "http://127.0.0.1"+target, reader)
	req.RemoteAddr = "127.0.0.1:40000"
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, r.header)
	rec := httptest.NewRecorder()
	r.handler.ServeHTTP(rec, req)
	return response{r.t, method + " " + strings.TrimPrefix(target, "/api/v1"), rec.Code, rec.Header(), rec.Body.Bytes()}
}

// do calls the API.
func (r *client) do(method, path string, body any) response {
	r.t.Helper()
	return r.send(method, "/api/v1"+path, body)
}

// control calls the control API.
func (r *client) control(method, path string, body any) response {
	r.t.Helper()
	return r.send(method, "/control"+path, body)
}

func (r *client) get(path string) response { r.t.Helper(); return r.do("GET", path, nil) }

func (r *client) post(path string, body any) response { r.t.Helper(); return r.do("POST", path, body) }

func (r *client) patch(path string, body any) response { r.t.Helper(); return r.do("PATCH", path, body) }

func (r *client) delete(path string) response { r.t.Helper(); return r.do("DELETE", path, nil) }

func (r *client) setAccount(set object) {
	r.t.Helper()
	r.control("PATCH", "/account", set).want(200)
}

func (r *client) setOffer(id string, set object) {
	r.t.Helper()
	r.control("PATCH", "/offers/"+id, set).want(200)
}

func (r *client) setInstance(id string, set object) {
	r.t.Helper()
	r.control("PATCH", "/instances/"+id, set).want(200)
}

// reset resets the service, including shown prices, and lifts the rate limits.
func (r *client) reset() {
	r.t.Helper()
	r.control(http.MethodPost, "/reset", nil).want(http.StatusOK)
	r.SetRateLimit(0, 0)
}

// page returns one page of a list. The cursor of the next page is "" on the last page.
func (r *client) page(path string) (items []object, next string) {
	r.t.Helper()
	o := r.get(path).ok()
	return o.objects("data"), o.text("next_cursor")
}

// list reads a list in large pages.
func (r *client) list(path string) []object { r.t.Helper(); return r.listInPages(path, 200, nil) }

// listInPages reads a list in pages of a size. It calls between, if any, after each page but the last.
func (r *client) listInPages(path string, size int, between func(page int)) (all []object) {
	r.t.Helper()
	path = join(path, fmt.Sprintf("limit=%d", size))
	cursor := ""
	for n := 1; ; n++ {
		items, next := r.page(path + cursor)
		all = append(all, items...)
		if n > 1 && len(items) == 0 || next != "" && len(items) != size {
			r.t.Fatalf("%s: %d items on a page with the next cursor %q", path, len(items), next)
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
func (r *client) listHas(path, id string) bool {
	r.t.Helper()
	return slices.Contains(ids(r.list(path)), id)
}

func (r *client) balance() object { r.t.Helper(); return r.get("/balance").ok() }

// instanceBody returns a valid body of POST /instances with changes. The offer is the cheapest with both prices and a
// disk for every template.
func (r *client) instanceBody(changes object) object {
	r.t.Helper()
	offers, _ := r.page("/offers?type=interruptible&min_disk_gb=200")
	body := object{"offer_id": offers[0]["id"], "template": "ubuntu", "disk_gb": 10}
	maps.Copy(body, changes)
	return body
}

// create sends POST /instances with an Idempotency-Key.
func (r *client) create(key string, body any) response {
	r.t.Helper()
	return r.withHeader("Idempotency-Key", key).post("/instances", body)
}

// createInstance creates an instance from a valid body with changes.
func (r *client) createInstance(changes object) object {
	r.t.Helper()
	return r.create(unique("create"), r.instanceBody(changes)).created()
}

// offerOf returns the offer of an instance. The API does not return it.
func (r *client) offerOf(id string) string {
	for _, i := range r.Overview().Instances {
		if i.ID == id {
			return i.OfferID
		}
	}
	r.t.Fatalf("no instance %s", id)
	return ""
}

func (r *client) instance(id string) object { r.t.Helper(); return r.get("/instances/" + id).ok() }

// waitFor advances the clock by seconds until the instance has a status. It returns all statuses that it saw.
func (r *client) waitFor(id, status string) (seen []string) {
	r.t.Helper()
	for range 600 {
		now := r.instance(id).text("status")
		if len(seen) == 0 || seen[len(seen)-1] != now {
			seen = append(seen, now)
		}
		if now == status {
			return seen
		}
		r.Advance(time.Second)
	}
	r.t.Fatalf("instance %s: not %s after 600 s, but %v", id, status, seen)
	return nil
}

// runningInstance creates an instance and waits until it is running and has its address.
func (r *client) runningInstance(changes object) object {
	r.t.Helper()
	id := r.createInstance(changes).text("id")
	r.Advance(bootComplete)
	o := r.instance(id)
	if o.text("status") != "running" {
		r.t.Fatalf("instance %s is %s after its boot", id, o["status"])
	}
	return o
}

// action sends start or stop.
func (r *client) action(id, action string) response {
	r.t.Helper()
	return r.post("/instances/"+id+"/"+action, nil)
}

// destroy destroys an instance.
func (r *client) destroy(id string) {
	r.t.Helper()
	r.delete("/instances/" + id).ok()
	r.waitFor(id, "destroyed")
}

// newKey creates an API key with scopes.
func (r *client) newKey(scopes ...string) (secret, id string) {
	r.t.Helper()
	o := r.post("/api-keys", object{"name": unique("key"), "scopes": scopes}).created()
	return o.text("secret"), o.text("id")
}

// newTemplate creates a template and returns its slug.
func (r *client) newTemplate() string {
	r.t.Helper()
	return r.post("/templates", object{"name": "own template", "image": "alpine:3.20"}).created().text("slug")
}

// newSSHKey adds an SSH key. Different seeds return different keys.
func (r *client) newSSHKey(seed byte) object {
	r.t.Helper()
	return r.post("/ssh-keys", object{"public_key": publicKey(seed)}).created()
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
