package conformance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Helpers that use the control API or prepare resources.

// control calls the control API. It fails the test on an error.
func (s *service) control(method, path string, body any) object {
	s.t.Helper()
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			s.t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.controlURL+path, bytes.NewReader(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	a := s.do(req)
	if a.status/100 != 2 {
		s.t.Fatalf("control: %s %s: %d: %s", method, path, a.status, a.raw)
	}
	if len(a.raw) == 0 {
		return nil
	}
	return a.object()
}

func (s *service) setAccount(set object) { s.t.Helper(); s.control(http.MethodPatch, "/account", set) }

func (s *service) setOffer(id string, set object) {
	s.t.Helper()
	s.control(http.MethodPatch, "/offers/"+url.PathEscape(id), set)
}

func (s *service) setInstance(id string, set object) {
	s.t.Helper()
	s.control(http.MethodPatch, "/instances/"+url.PathEscape(id), set)
}

// reset resets the service, including shown prices, and lifts the rate limits.
func (s *service) reset() {
	s.t.Helper()
	s.control(http.MethodPost, "/reset", nil)
	s.control(http.MethodPost, "/rate-limit", object{"per_minute_key": 0, "per_minute_address": 0})
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
	data, isArray := o["data"].([]any)
	if !check(s.t, isArray, "%s: data is %T", path, o["data"]) {
		s.t.FailNow()
	}
	for _, item := range data {
		items = append(items, item.(object))
	}
	cursor, present := o["next_cursor"]
	next, isString := cursor.(string)
	check(s.t, len(o) == 2 && present && (cursor == nil || isString && next != ""), "%s: next_cursor %v, %d members",
		path, cursor, len(o))
	return items, next
}

// join adds a query to a path that may already have one.
func join(path, query string) string {
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}

// readPages reads a list page by page. It calls between after each page but the last.
func (s *service) readPages(path string, limit int, between func(page int)) []object {
	s.t.Helper()
	path = join(path, fmt.Sprintf("limit=%d", limit))
	var all []object
	items, next := s.page(path)
	for n := 1; ; n++ {
		all = append(all, items...)
		check(s.t, len(items) <= limit, "%s: %d items on a page", path, len(items))
		if next == "" {
			return all
		}
		check(s.t, len(items) > 0, "%s: an empty page that is not the last", path)
		if n > 1000 {
			s.t.Fatalf("%s: no end", path)
		}
		if between != nil {
			between(n)
		}
		items, next = s.page(path + "&cursor=" + url.QueryEscape(next))
	}
}

// list reads a list in large pages.
func (s *service) list(path string) []object { s.t.Helper(); return s.readPages(path, 200, nil) }

// ids returns the ids of a list in its order.
func ids(items []object) []string {
	var all []string
	for _, o := range items {
		id, ok := o["id"].(string)
		if !ok {
			id, _ = o["slug"].(string)
		}
		all = append(all, id)
	}
	return all
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
func integer(o object, path string) int64 {
	n, _ := at(o, path).(json.Number)
	if v, err := n.Int64(); err == nil {
		return v
	}
	return 0
}

// number returns a number; ok is false if it is null or missing.
func number(o object, path string) (v float64, ok bool) {
	n, ok := at(o, path).(json.Number)
	if !ok {
		return 0, false
	}
	v, err := n.Float64()
	return v, err == nil
}

func timeOf(o object, path string) time.Time {
	if at, err := time.Parse(time.RFC3339Nano, text(o, path)); err == nil {
		return at
	}
	return time.Time{}
}

var serial atomic.Int64

// uniqueName returns a name that no other test uses.
func uniqueName(prefix string) string { return fmt.Sprintf("%s-%d", prefix, serial.Add(1)) }

// short formats a value for a message.
func short(value any) string {
	if _, leave := value.(absent); leave {
		return "(left out)"
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	if len(raw) > 60 {
		return fmt.Sprintf("%s… (%d bytes)", raw[:60], len(raw))
	}
	return string(raw)
}

// rentBody returns a valid body of POST /instances.
func (s *service) rentBody() object { s.t.Helper(); return s.rentBodyWithDisk(200) }

// rentBodyWithDisk returns a valid body for the cheapest offer with both prices and a disk of that size in GB.
func (s *service) rentBodyWithDisk(diskGB int64) object {
	s.t.Helper()
	few, _ := s.page(fmt.Sprintf("/offers?min_disk_gb=%d&limit=10", diskGB))
	for _, o := range few {
		if at(o, "price.interruptible_kop_h") != nil {
			return object{"offer_id": o["id"], "template": s.plainTemplate(), "disk_gb": 10}
		}
	}
	s.t.Fatal("no offer for a rental")
	return nil
}

// offerWithTraffic returns an available offer with a traffic price.
func (s *service) offerWithTraffic() object {
	s.t.Helper()
	for _, o := range s.list("/offers") {
		if integer(o, "price.traffic_kop_gb") > 0 {
			return o
		}
	}
	s.t.Fatal("no offer whose traffic costs money")
	return nil
}

// plainTemplate returns the slug of a catalog template with SSH and the smallest disk.
func (s *service) plainTemplate() string {
	s.t.Helper()
	if slug := s.cache["plain template"]; slug != "" {
		return slug
	}
	for _, o := range s.as("").list("/templates") {
		if text(o, "launch_mode") == "ssh" && integer(o, "min_disk_gb") == 10 && text(o, "slug") != "custom" {
			s.cache["plain template"] = text(o, "slug")
			return text(o, "slug")
		}
	}
	s.t.Fatal("no plain template")
	return ""
}

// create sends POST /instances with an Idempotency-Key.
func (s *service) create(key string, body any) response {
	s.t.Helper()
	return s.with("Idempotency-Key", key).post("/instances", body)
}

// rent creates an instance from a valid body with changes.
func (s *service) rent(change object) object {
	s.t.Helper()
	body := object{"template": s.plainTemplate(), "disk_gb": 10}
	if change["offer_id"] == nil {
		var disk int64
		if _, err := fmt.Sscan(fmt.Sprint(change["disk_gb"]), &disk); err != nil {
			disk = 10
		}
		body = s.rentBodyWithDisk(disk)
	}
	for name, value := range change {
		body[name] = value
	}
	o := s.create(uniqueName("rent"), body).created()
	s.cache[text(o, "id")] = text(body, "offer_id")
	return o
}

// instance reads an instance.
func (s *service) instance(id string) object { s.t.Helper(); return s.get("/instances/" + id).ok() }

// waitForStatus advances the clock by seconds until the instance has a status.
func (s *service) waitForStatus(id, status string) object {
	s.t.Helper()
	for range 600 {
		o := s.instance(id)
		if text(o, "status") == status {
			return o
		}
		s.advance(1)
	}
	s.t.Fatalf("instance %s: not %s after 600 s, but %s", id, status, text(s.instance(id), "status"))
	return nil
}

// running creates an instance and waits until it is running and has its address.
func (s *service) running(change object) object {
	s.t.Helper()
	id := text(s.rent(change), "id")
	s.waitForStatus(id, "running")
	s.advance(60)
	return s.instance(id)
}

// action sends start or stop.
func (s *service) action(id, action string) response {
	s.t.Helper()
	return s.post("/instances/"+id+"/"+action, nil)
}

// newKey creates an API key with scopes.
func (s *service) newKey(scopes ...string) (secret, id string) {
	s.t.Helper()
	o := s.post("/api-keys", object{"name": uniqueName("key"), "scopes": scopes}).created()
	return text(o, "secret"), text(o, "id")
}

// publicKey returns a valid SSH key. Different seeds return different keys.
func publicKey(seed byte) string {
	blob := append([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"), bytes.Repeat([]byte{seed}, 32)...)
	return "ssh-ed25519 " + base64.StdEncoding.EncodeToString(blob) + " someone@example"
}

// offerOf returns the offer of an instance. The API does not return it.
func (s *service) offerOf(i object) string {
	s.t.Helper()
	id, found := s.cache[text(i, "id")]
	if !found {
		s.t.Fatalf("instance %v was not rented here", i["id"])
	}
	return id
}

// connectionCut sends a request and reports whether the connection was cut.
func (s *service) connectionCut(method, path string, body any) bool {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.baseURL+path, bytes.NewReader(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = s.header.Clone()
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", "application/json")
	// On a used connection, the transport retries a request with an Idempotency-Key by itself.
	once := &http.Client{Timeout: httpClient.Timeout, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := once.Do(req)
	if err != nil {
		return true
	}
	return res.Body.Close() != nil
}
