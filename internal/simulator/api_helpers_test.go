package simulator_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// The files api_* test the whole API document of the Rental Service. They use the control API for preparation only. The
// contract validates all traffic: fields, types, headers and statuses. The random histories test money and statuses
// over time.

// scopes are all scopes of API keys.
var scopes = apidoc.Scopes

// statuses are all statuses of an instance in an order in which they can be set: destroyed is the last one.
var statuses = append(slices.DeleteFunc(apidoc.Enum("Instance", "status"),
	func(s string) bool { return s == "destroyed" }), "destroyed")

// newAccount returns a rig for tests of the API document. Its account has enough money and a high limit of instances.
func newAccount(t *testing.T, change ...func(*simulator.Config)) *rig {
	t.Helper()
	t.Parallel()
	r := newRig(t, append(change, func(c *simulator.Config) {
		c.Seed, c.Start = 20260, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	})...)
	r.setAccount(object{"balance_kop": 1_000_000_000, "max_instances": 1000})
	return r
}

func (r *rig) setAccount(set object) {
	r.t.Helper()
	r.control(http.MethodPatch, "/account", set).want(http.StatusOK)
}

func (r *rig) setOffer(id string, set object) {
	r.t.Helper()
	r.control(http.MethodPatch, "/offers/"+id, set).want(http.StatusOK)
}

func (r *rig) setInstance(id string, set object) {
	r.t.Helper()
	r.control(http.MethodPatch, "/instances/"+id, set).want(http.StatusOK)
}

// page returns one page of a list. The cursor of the next page is "" on the last page.
func (r *rig) page(path string) (items []object, next string) {
	r.t.Helper()
	o := r.get(path).ok()
	return o.objects("data"), o.text("next_cursor")
}

// list reads a list in large pages.
func (r *rig) list(path string) []object { r.t.Helper(); return r.listInPages(path, 200, nil) }

// listInPages reads a list in pages of a size. It calls between, if any, after each page but the last.
func (r *rig) listInPages(path string, size int, between func(page int)) (all []object) {
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

// ids returns the ids or slugs of a list in its order.
func ids(items []object) []string {
	var all []string
	for _, o := range items {
		all = append(all, o.text("id")+o.text("slug"))
	}
	return all
}

// lists reports whether a list has an id.
func (r *rig) lists(path, id string) bool {
	r.t.Helper()
	return slices.Contains(ids(r.list(path)), id)
}

// asJSON formats a value for a comparison or a message.
func asJSON(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

var serial atomic.Int64

// unique returns a name that no other test uses.
func unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, serial.Add(1)) }

// instanceBody returns a valid body of POST /instances with changes. The offer is the cheapest with both prices and a
// disk for every template.
func (r *rig) instanceBody(changes object) object {
	r.t.Helper()
	offers, _ := r.page("/offers?type=interruptible&min_disk_gb=200")
	body := object{"offer_id": offers[0]["id"], "template": "ubuntu", "disk_gb": 10}
	maps.Copy(body, changes)
	return body
}

// create sends POST /instances with an Idempotency-Key.
func (r *rig) create(key string, body any) response {
	r.t.Helper()
	return r.with("Idempotency-Key", key).post("/instances", body)
}

// createInstance creates an instance from a valid body with changes.
func (r *rig) createInstance(changes object) object {
	r.t.Helper()
	return r.create(unique("create"), r.instanceBody(changes)).created()
}

// offerOf returns the offer of an instance. The API does not return it.
func (r *rig) offerOf(id string) string {
	for _, i := range r.Overview().Instances {
		if i.ID == id {
			return i.OfferID
		}
	}
	r.t.Fatalf("no instance %s", id)
	return ""
}

// fields reads an instance.
func (r *rig) fields(id string) object { r.t.Helper(); return r.get("/instances/" + id).ok() }

// waitFor advances the clock by seconds until the instance has a status. It returns all statuses that it saw.
func (r *rig) waitFor(id, status string) (seen []string) {
	r.t.Helper()
	for range 600 {
		now := r.fields(id).text("status")
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
func (r *rig) runningInstance(changes object) object {
	r.t.Helper()
	id := r.createInstance(changes).text("id")
	r.Advance(bootComplete)
	o := r.fields(id)
	if o.text("status") != "running" {
		r.t.Fatalf("instance %s is %s after its boot", id, o["status"])
	}
	return o
}

// action sends start or stop.
func (r *rig) action(id, action string) response {
	r.t.Helper()
	return r.post("/instances/"+id+"/"+action, nil)
}

// destroy destroys an instance.
func (r *rig) destroy(id string) {
	r.t.Helper()
	r.delete("/instances/" + id).ok()
	r.waitFor(id, "destroyed")
}

// newKey creates an API key with scopes.
func (r *rig) newKey(scopes ...string) (secret, id string) {
	r.t.Helper()
	o := r.post("/api-keys", object{"name": unique("key"), "scopes": scopes}).created()
	return o.text("secret"), o.text("id")
}

// newTemplate creates a template and returns its slug.
func (r *rig) newTemplate() string {
	r.t.Helper()
	return r.post("/templates", object{"name": "own template", "image": "alpine:3.20"}).created().text("slug")
}

// newSSHKey adds an SSH key. Different seeds return different keys.
func (r *rig) newSSHKey(seed byte) object {
	r.t.Helper()
	return r.post("/ssh-keys", object{"public_key": publicKey(seed)}).created()
}

func publicKey(seed byte) string {
	blob := append([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"), bytes.Repeat([]byte{seed}, 32)...)
	return "ssh-ed25519 " + base64.StdEncoding.EncodeToString(blob) + " someone@example"
}

// removing returns a function that sends a creation and deletes what it created, so that the next one can succeed.
func (r *rig) removing(path, id string, create func(body object) response) func(body object) response {
	return func(body object) response {
		a := create(body)
		if a.status == http.StatusCreated {
			r.delete(path + "/" + a.object().text(id))
			r.Advance(120 * time.Second)
		}
		return a
	}
}

// checkEachOnce checks the pages of a list that changed while it was read: constant items are listed once, all
// others at most once.
func checkEachOnce(t *testing.T, what string, walked, constant []string) {
	t.Helper()
	count := map[string]int{}
	for _, id := range walked {
		count[id]++
		check(t, count[id] == 1, "%s: %s is listed %d times", what, id, count[id])
	}
	for _, id := range constant {
		check(t, count[id] == 1, "%s: %s is listed %d times", what, id, count[id])
	}
}

// check reports an error if ok is false.
func check(t testing.TB, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Errorf(format, args...)
	}
}

// equal checks that two values are equal.
func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// absent is the value of a field that is left out.
type absent struct{}

// checkField sends the body once with each value of the field. Valid values must be accepted; each invalid one must be
// refused with an issue that names the field.
func checkField(body object, field string, valid, invalid []any, send func(body object) response) {
	try := func(value any) response {
		changed := maps.Clone(body)
		changed[field] = value
		if _, leave := value.(absent); leave {
			delete(changed, field)
		}
		a := send(changed)
		a.request += " with " + field + " = " + asJSON(value)
		return a
	}
	for _, value := range valid {
		a := try(value)
		check(a.t, a.status/100 == 2, "%s: refused with %d: %.300s", a.request, a.status, a.raw)
	}
	for _, value := range invalid {
		try(value).invalid(field)
	}
}

// checkBounds sends the body with each field of a table left out, with all values of apidoc.Bounds, and with values of
// other types.
func checkBounds(table string, body object, send func(body object) response) {
	for _, f := range apidoc.Fields(table) {
		invalid := apidoc.InvalidTypes(f)
		if f.Required {
			checkField(body, f.Name, nil, append(invalid, absent{}), send)
		} else {
			checkField(body, f.Name, []any{absent{}}, invalid, send)
		}
	}
	for _, b := range apidoc.Bounds {
		if b.Table == table {
			checkField(body, b.Field, b.Valid, b.Invalid, send)
		}
	}
}
