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

// What sets the stage: the control API, and the shortest way to a thing that a test is about.

// steer calls the control API, which must do as it is told.
func (s *service) steer(method, path string, body any) object {
	s.t.Helper()
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			s.t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.control+path, bytes.NewReader(raw))
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

func (s *service) account(set object) { s.t.Helper(); s.steer(http.MethodPatch, "/account", set) }

func (s *service) offer(id string, set object) {
	s.t.Helper()
	s.steer(http.MethodPatch, "/offers/"+url.PathEscape(id), set)
}

func (s *service) force(id string, set object) {
	s.t.Helper()
	s.steer(http.MethodPatch, "/instances/"+url.PathEscape(id), set)
}

// reset returns to the first state: nobody has been shown anything. The request limits stay lifted.
func (s *service) reset() {
	s.t.Helper()
	s.steer(http.MethodPost, "/reset", nil)
	s.steer(http.MethodPost, "/rate-limit", object{"per_minute_key": 0, "per_minute_address": 0})
}

func (s *service) advance(seconds float64) {
	s.t.Helper()
	s.steer(http.MethodPost, "/clock", object{"advance_seconds": seconds})
}

func (s *service) now() time.Time {
	s.t.Helper()
	return instant(s.steer(http.MethodGet, "/health", nil), "now")
}

// page reads one page of a list.
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

// join adds a query to a path that may have one.
func join(path, query string) string {
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}

// walk reads a list to its end, page by page; between is called after each page but the last.
func (s *service) walk(path string, limit int, between func(page int)) []object {
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

// list reads all of a list in large pages.
func (s *service) list(path string) []object { s.t.Helper(); return s.walk(path, 200, nil) }

// ids of a list, in its order.
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

// at reads a member by its path, "gpu.slug"; nil when it is null or missing.
func at(o object, path string) any {
	var value any = o
	for name := range strings.SplitSeq(path, ".") {
		members, _ := value.(object)
		value = members[name]
	}
	return value
}

func text(o object, path string) string { v, _ := at(o, path).(string); return v }

// whole reads an integer; 0 when it is null or missing.
func whole(o object, path string) int64 {
	n, _ := at(o, path).(json.Number)
	if v, err := n.Int64(); err == nil {
		return v
	}
	return 0
}

// decimal reads a number; ok is false when it is null or missing.
func decimal(o object, path string) (v float64, ok bool) {
	n, ok := at(o, path).(json.Number)
	if !ok {
		return 0, false
	}
	v, err := n.Float64()
	return v, err == nil
}

func instant(o object, path string) time.Time {
	if at, err := time.Parse(time.RFC3339Nano, text(o, path)); err == nil {
		return at
	}
	return time.Time{}
}

var serial atomic.Int64

// fresh is a name that no test used before.
func fresh(prefix string) string { return fmt.Sprintf("%s-%d", prefix, serial.Add(1)) }

// brief is a value for a message.
func brief(value any) string {
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

// ready is a body of POST /instances that must succeed.
func (s *service) ready() object { s.t.Helper(); return s.roomy(200) }

// roomy is a ready body on the cheapest server that can be rented both ways and has so much disk, GB.
func (s *service) roomy(diskGB int64) object {
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

// metered is an available offer whose traffic costs money.
func (s *service) metered() object {
	s.t.Helper()
	for _, o := range s.list("/offers") {
		if whole(o, "price.traffic_kop_gb") > 0 {
			return o
		}
	}
	s.t.Fatal("no offer whose traffic costs money")
	return nil
}

// plainTemplate is a template of the catalogue that has SSH and the least disk.
func (s *service) plainTemplate() string {
	s.t.Helper()
	if slug := s.known["plain template"]; slug != "" {
		return slug
	}
	for _, o := range s.as("").list("/templates") {
		if text(o, "launch_mode") == "ssh" && whole(o, "min_disk_gb") == 10 && text(o, "slug") != "custom" {
			s.known["plain template"] = text(o, "slug")
			return text(o, "slug")
		}
	}
	s.t.Fatal("no plain template")
	return ""
}

// order sends POST /instances under an Idempotency-Key.
func (s *service) order(key string, body any) answer {
	s.t.Helper()
	return s.with("Idempotency-Key", key).post("/instances", body)
}

// rent makes an instance from the ready body with some fields changed.
func (s *service) rent(change object) object {
	s.t.Helper()
	body := object{"template": s.plainTemplate(), "disk_gb": 10}
	if change["offer_id"] == nil {
		var disk int64
		if _, err := fmt.Sscan(fmt.Sprint(change["disk_gb"]), &disk); err != nil {
			disk = 10
		}
		body = s.roomy(disk)
	}
	for name, value := range change {
		body[name] = value
	}
	o := s.order(fresh("rent"), body).created()
	s.known[text(o, "id")] = text(body, "offer_id")
	return o
}

// instance reads one.
func (s *service) instance(id string) object { s.t.Helper(); return s.get("/instances/" + id).ok() }

// settle lets time go by, second by second, until the instance has a status.
func (s *service) settle(id, status string) object {
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

// running makes an instance that runs and has its address.
func (s *service) running(change object) object {
	s.t.Helper()
	id := text(s.rent(change), "id")
	s.settle(id, "running")
	s.advance(60)
	return s.instance(id)
}

// act calls start or stop.
func (s *service) act(id, action string) answer {
	s.t.Helper()
	return s.post("/instances/"+id+"/"+action, nil)
}

// newKey issues an API key with scopes.
func (s *service) newKey(scopes ...string) (secret, id string) {
	s.t.Helper()
	o := s.post("/api-keys", object{"name": fresh("key"), "scopes": scopes}).created()
	return text(o, "secret"), text(o, "id")
}

// publicKey is an SSH key that is well formed; each seed gives another one.
func publicKey(seed byte) string {
	blob := append([]byte("\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20"), bytes.Repeat([]byte{seed}, 32)...)
	return "ssh-ed25519 " + base64.StdEncoding.EncodeToString(blob) + " someone@example"
}

// ofInstance is the offer that an instance was rented from, which the instance does not tell.
func (s *service) ofInstance(i object) string {
	s.t.Helper()
	id, found := s.known[text(i, "id")]
	if !found {
		s.t.Fatalf("instance %v was not rented here", i["id"])
	}
	return id
}

// cut sends a request whose connection is to be cut, and tells whether it was.
func (s *service) cut(method, path string, body any) bool {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, bytes.NewReader(raw))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header = s.header.Clone()
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", "application/json")
	// On a connection that was used before, the transport would repeat what has an Idempotency-Key by itself.
	once := &http.Client{Timeout: wire.Timeout, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := once.Do(req)
	if err != nil {
		return true
	}
	return res.Body.Close() != nil
}
