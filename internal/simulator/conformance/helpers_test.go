package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// Helpers that use the control API or prepare resources.

// scopes are all scopes of API keys.
var scopes = apidoc.Scopes

// statuses are all statuses of an instance in an order in which they can be set: destroyed is the last one.
var statuses = append(slices.DeleteFunc(apidoc.Enum("Instance", "status"),
	func(s string) bool { return s == "destroyed" }), "destroyed")

// control calls the control API. It fails the test on an error.
func (s *service) control(method, path string, body any) object {
	s.t.Helper()
	a := s.send(method, s.controlURL+path, jsonBody(s.t, body))
	if a.status/100 != 2 {
		s.t.Fatalf("control: %s: %d: %s", a.request, a.status, a.raw)
	}
	if len(a.raw) == 0 {
		return nil
	}
	return a.object()
}

// setRateLimit sets the limits of keys and addresses, 0 for none.
func (s *service) setRateLimit(perMinute int) {
	s.t.Helper()
	s.control(http.MethodPost, "/rate-limit", object{"per_minute_key": perMinute, "per_minute_address": perMinute})
}

func (s *service) setAccount(set object) { s.t.Helper(); s.control(http.MethodPatch, "/account", set) }

func (s *service) setOffer(id string, set object) {
	s.t.Helper()
	s.control(http.MethodPatch, "/offers/"+id, set)
}

func (s *service) setInstance(id string, set object) {
	s.t.Helper()
	s.control(http.MethodPatch, "/instances/"+id, set)
}

func (s *service) advance(seconds float64) {
	s.t.Helper()
	s.control(http.MethodPost, "/clock", object{"advance_seconds": seconds})
}

func (s *service) now() time.Time {
	s.t.Helper()
	return timeOf(s.control(http.MethodGet, "/health", nil), "now")
}

// page returns one page of a list.
func (s *service) page(path string) (items []object, next string) {
	s.t.Helper()
	o := s.get(path).ok()
	for _, item := range o["data"].([]any) {
		items = append(items, item.(object))
	}
	return items, text(o, "next_cursor")
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

// readPages reads a list page by page. It calls between after each page but the last.
func (s *service) readPages(path string, limit int, between func(page int)) []object {
	s.t.Helper()
	path = join(path, fmt.Sprintf("limit=%d", limit))
	all, next := s.page(path)
	for n := 1; next != ""; n++ {
		if between != nil {
			between(n)
		}
		var items []object
		items, next = s.page(path + "&" + after(next))
		if len(items) == 0 || len(items) > limit {
			s.t.Fatalf("%s: %d items on a page", path, len(items))
		}
		all = append(all, items...)
	}
	return all
}

// list reads a list in large pages.
func (s *service) list(path string) []object { s.t.Helper(); return s.readPages(path, 200, nil) }

// ids returns the ids or slugs of a list in its order.
func ids(items []object) []string {
	var all []string
	for _, o := range items {
		all = append(all, text(o, "id")+text(o, "slug"))
	}
	return all
}

// lists reports whether a list has an id.
func (s *service) lists(path, id string) bool {
	s.t.Helper()
	return slices.Contains(ids(s.list(path)), id)
}

// at returns a member by its path, such as "gpu.slug"; nil if it is null or missing.
func at(o object, path string) any {
	var value any = o
	for name := range strings.SplitSeq(path, ".") {
		members, _ := value.(object)
		value = members[name]
	}
	return value
}

func text(o object, path string) string { v, _ := at(o, path).(string); return v }

// integer returns an integer; 0 if it is null or missing.
func integer(o object, path string) int64 { v, _ := number(o, path); return int64(v) }

// number returns a number; known is false if it is null or missing.
func number(o object, path string) (v float64, known bool) {
	v, known = at(o, path).(float64)
	return v, known
}

func timeOf(o object, path string) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, text(o, path)) //nolint:errcheck // the contract checks the format
	return at
}

// short formats a value for a comparison or a message.
func short(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

var serial atomic.Int64

// unique returns a name that no other test uses.
func unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, serial.Add(1)) }

// rentBody returns a valid body of POST /instances for the cheapest offer with both prices.
func (s *service) rentBody() object { s.t.Helper(); return s.rentBodyWithDisk(200) }

// rentBodyWithDisk returns a valid body for an offer with at least that disk in GB.
func (s *service) rentBodyWithDisk(diskGB int64) object {
	s.t.Helper()
	offers, _ := s.page(fmt.Sprintf("/offers?type=interruptible&min_disk_gb=%d", diskGB))
	return object{"offer_id": offers[0]["id"], "template": "ubuntu", "disk_gb": 10}
}

// create sends POST /instances with an Idempotency-Key.
func (s *service) create(key string, body any) response {
	s.t.Helper()
	return s.with("Idempotency-Key", key).post("/instances", body)
}

// rent creates an instance from a valid body with changes.
func (s *service) rent(change object) object {
	s.t.Helper()
	body := s.rentBody()
	for name, value := range change {
		body[name] = value
	}
	o := s.create(unique("rent"), body).created()
	s.offers[text(o, "id")] = text(body, "offer_id")
	return o
}

// instance reads an instance.
func (s *service) instance(id string) object { s.t.Helper(); return s.get("/instances/" + id).ok() }

// waitFor advances the clock by seconds until the instance has a status. It returns all statuses that it saw.
func (s *service) waitFor(id, status string) (seen []string) {
	s.t.Helper()
	for range 600 {
		now := text(s.instance(id), "status")
		if len(seen) == 0 || seen[len(seen)-1] != now {
			seen = append(seen, now)
		}
		if now == status {
			return seen
		}
		s.advance(1)
	}
	s.t.Fatalf("instance %s: not %s after 600 s, but %v", id, status, seen)
	return nil
}

// running creates an instance and waits until it is running and has its address.
func (s *service) running(change object) object {
	s.t.Helper()
	id := text(s.rent(change), "id")
	s.waitFor(id, "running")
	s.advance(60)
	return s.instance(id)
}

// action sends start or stop.
func (s *service) action(id, action string) response {
	s.t.Helper()
	return s.post("/instances/"+id+"/"+action, nil)
}

// destroy destroys an instance.
func (s *service) destroy(id string) {
	s.t.Helper()
	s.delete("/instances/" + id).ok()
	s.waitFor(id, "destroyed")
}

// newKey creates an API key with scopes.
func (s *service) newKey(scopes ...string) (secret, id string) {
	s.t.Helper()
	o := s.post("/api-keys", object{"name": unique("key"), "scopes": scopes}).created()
	return text(o, "secret"), text(o, "id")
}

// newTemplate creates a template and returns its slug.
func (s *service) newTemplate() string {
	s.t.Helper()
	return text(s.post("/templates", object{"name": "own template", "image": "alpine:3.20"}).created(), "slug")
}

// newSSHKey adds an SSH key. Different seeds return different keys.
func (s *service) newSSHKey(seed byte) object {
	s.t.Helper()
	return s.post("/ssh-keys", object{"public_key": publicKey(seed)}).created()
}

func publicKey(seed byte) string {
	blob := append([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"), bytes.Repeat([]byte{seed}, 32)...)
	return "ssh-ed25519 " + base64.StdEncoding.EncodeToString(blob) + " someone@example"
}

// removing returns a function that sends a creation and deletes what it created, so that the next one can succeed.
func (s *service) removing(path, id string, create func(body object) response) func(body object) response {
	return func(body object) response {
		a := create(body)
		if a.status == http.StatusCreated {
			s.delete(path + "/" + text(a.object(), id))
			s.advance(120)
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
