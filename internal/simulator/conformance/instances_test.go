package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Chapter "Instances" without renting, states and costs.

func TestInstanceList(t *testing.T) {
	s := start(t)
	var made []string
	for range 4 {
		made = append(made, text(s.running(nil), "id"))
	}
	s.delete("/instances/" + made[0]).ok()
	check(t, slices.Contains(ids(s.list("/instances")), made[0]), "active leaves out one that is being destroyed")
	s.waitForStatus(made[0], "destroyed")
	s.setInstance(made[1], object{"status": "failed"})
	s.setInstance(made[2], object{"status": "outbid"})
	has := func(query string, id string) bool { return slices.Contains(ids(s.list("/instances"+query)), id) }
	for _, query := range []string{"", "?status=active"} {
		check(t, !has(query, made[0]), "%q lists a destroyed instance", query)
		for _, id := range made[1:] {
			check(t, has(query, id), "%q does not list %s", query, id)
		}
	}
	for _, id := range made {
		check(t, has("?status=all", id), "all does not list %s", id)
	}
	for _, o := range s.list("/instances?status=all") {
		equal(t, "an instance alone and in the list", short(o), short(s.instance(text(o, "id"))))
	}
	s.get("/instances?status=all&status=all").invalid("status")
}

func TestInstanceNotFound(t *testing.T) {
	s := start(t)
	for _, id := range []string{"none", "ins_000000000000", "%D0%B9", "a%2Fb", "%20", strings.Repeat("x", 2000)} {
		s.get("/instances/" + id).failsWith("not_found")
		s.get("/instances/" + id + "/logs").failsWith("not_found")
		s.action(id, "start").failsWith("not_found")
		s.action(id, "stop").failsWith("not_found")
		s.delete("/instances/" + id).failsWith("not_found")
		s.call(http.MethodPatch, "/instances/"+id, object{"name": "x"}).failsWith("not_found")
	}
}

func TestInstancePatch(t *testing.T) {
	s := start(t)
	before := s.running(object{"name": "first"})
	path := "/instances/" + text(before, "id")
	send := func(body object) response { return s.call(http.MethodPatch, path, body) }
	checkBounds("InstanceUpdate", object{"name": "x"}, send)
	for _, name := range []any{"new", nil, "имя 🦊", nil} {
		o := send(object{"name": name}).ok()
		equal(t, "name", short(o["name"]), short(name))
		equal(t, "name when read again", short(s.instance(text(before, "id"))["name"]), short(name))
		for _, field := range []string{"status", "desired_state", "disk_gb", "type", "price", "gpu", "template",
			"ssh"} {
			equal(t, field+" after a new name", short(o[field]), short(before[field]))
		}
	}
}

func TestInstanceLogs(t *testing.T) {
	s := start(t)
	path := "/instances/" + text(s.running(nil), "id") + "/logs"
	lines := func(query string) []any { return s.get(path + query).ok()["lines"].([]any) }
	all := lines("?tail=1000")
	check(t, len(all) > 1, "a startup log of %d lines", len(all))
	for _, n := range []int{1, 2, len(all), len(all) + 1, 200, 1000} {
		want := all[max(0, len(all)-n):]
		check(t, slices.Equal(lines(fmt.Sprintf("?tail=%d", n)), want), "tail=%d: not the last %d lines", n, len(want))
	}
	check(t, slices.Equal(lines(""), all[max(0, len(all)-200):]), "without tail: not the last 200 lines")
	s.get(path + "?tail=1&tail=1").invalid("tail")
}

// The address appears when the port is assigned. The time of the first start, the disk and the type do not change.
func TestInstanceFields(t *testing.T) {
	s := start(t)
	s.post("/ssh-keys", object{"public_key": publicKey(1)}).created()
	body := s.rentBodyWithDisk(123)
	offer := s.get("/offers/" + text(body, "offer_id")).ok()
	began := s.now()
	o := s.rent(object{"name": "a name", "disk_gb": 123})
	id := text(o, "id")
	check(t, slices.Contains([]string{"creating", "starting", "running"}, text(o, "status")),
		"status of a new instance: %v", o["status"])
	equal(t, "desired_state", text(o, "desired_state"), "running")
	equal(t, "type", text(o, "type"), "on_demand")
	equal(t, "name", text(o, "name"), "a name")
	equal(t, "disk_gb", integer(o, "disk_gb"), 123)
	equal(t, "template.slug", o["template"].(object)["slug"], body["template"])
	for _, field := range []string{"slug", "name", "count", "vram_gb"} {
		equal(t, "gpu."+field, fmt.Sprint(at(o, "gpu."+field)), fmt.Sprint(at(offer, "gpu."+field)))
	}
	equal(t, "country", o["country"], offer["country"])
	equal(t, "price.traffic_kop_gb", integer(o, "price.traffic_kop_gb"), integer(offer, "price.traffic_kop_gb"))
	check(t, timeOf(o, "created_at").Equal(began), "created_at %v, now %v", o["created_at"], began)
	equal(t, "ssh of a new instance", o["ssh"], nil)
	equal(t, "started_at of a new instance", o["started_at"], nil)
	equal(t, "stop_reason of a new instance", o["stop_reason"], nil)

	running := s.waitForStatus(id, "running")
	started := timeOf(running, "started_at")
	check(t, !started.Before(began) && !started.After(s.now()), "started_at %v", running["started_at"])
	s.advance(60)
	o = s.instance(id)
	port := integer(o, "ssh.port")
	check(t, port > 0 && port < 65536, "ssh.port %v", at(o, "ssh.port"))
	for _, part := range []string{text(o, "ssh.host"), text(o, "ssh.user"), fmt.Sprint(port), "ssh"} {
		check(t, part != "" && strings.Contains(text(o, "ssh.command"), part), "ssh.command %q lacks %q",
			text(o, "ssh.command"), part)
	}
	s.action(id, "stop").ok()
	s.waitForStatus(id, "stopped")
	s.action(id, "start").ok()
	s.waitForStatus(id, "running")
	check(t, timeOf(s.instance(id), "started_at").Equal(started), "started_at moved with the second start")
	check(t, s.now().Sub(started) > time.Second, "the clock did not advance")
}

// Web interfaces depend on the template. Instances of templates with an entry point have no SSH.
func TestInstanceURLs(t *testing.T) {
	s := start(t)
	for _, template := range s.as("").list("/templates") {
		slug := text(template, "slug")
		if slug == "custom" {
			continue
		}
		o := s.running(object{"template": slug, "disk_gb": max(integer(template, "min_disk_gb"), 10)})
		equal(t, slug+": image", text(o, "image"), text(template, "image"))
		equal(t, slug+": has ssh", o["ssh"] != nil, text(template, "launch_mode") != "entrypoint")
		for _, u := range o["urls"].([]any) {
			address := text(u.(object), "url")
			check(t, strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://"), "%s: url %q",
				slug, address)
			check(t, text(u.(object), "label") != "", "%s: a url without a label", slug)
		}
	}
}
