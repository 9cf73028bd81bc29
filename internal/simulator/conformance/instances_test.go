package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Chapter "Instances" without renting and states.

func TestInstance_List(t *testing.T) {
	s := start(t)
	var made []string
	for range 4 {
		made = append(made, text(s.running(nil), "id"))
	}
	s.delete("/instances/" + made[0]).ok()
	check(t, s.lists("/instances", made[0]), "active leaves out one that is being destroyed")
	s.waitFor(made[0], "destroyed")
	s.setInstance(made[1], object{"status": "failed"})
	s.setInstance(made[2], object{"status": "outbid"})
	for n, id := range made {
		for query, want := range map[string]bool{"": n > 0, "?status=active": n > 0, "?status=all": true} {
			equal(t, fmt.Sprintf("%q lists instance %d", query, n), s.lists("/instances"+query, id), want)
		}
	}
	for _, o := range s.list("/instances?status=all") {
		equal(t, "an instance alone and in the list", short(o), short(s.instance(text(o, "id"))))
	}
}

// Patch changes only the name.
func TestInstance_Patch(t *testing.T) {
	s := start(t)
	before := s.running(object{"name": "first"})
	path := "/instances/" + text(before, "id")
	send := func(body object) response { return s.call(http.MethodPatch, path, body) }
	checkBounds("InstanceUpdate", object{"name": "x"}, send)
	for _, name := range []any{"new", nil, "имя 🦊", nil} {
		o := send(object{"name": name, "disk_gb": 20, "status": "stopped"}).ok()
		equal(t, "the instance when read again", short(s.instance(text(before, "id"))), short(o))
		equal(t, "name", short(o["name"]), short(name))
		o["name"], o["cost_so_far_kop"] = before["name"], before["cost_so_far_kop"]
		equal(t, "all but the name", short(o), short(before))
	}
}

func TestInstance_Logs(t *testing.T) {
	s := start(t)
	id := text(s.running(nil), "id")
	for range 300 {
		s.setInstance(id, object{"log_line": unique("line")})
	}
	lines := func(query string) []any { return s.get("/instances/" + id + "/logs" + query).ok()["lines"].([]any) }
	all := lines("?tail=1000")
	for query, n := range map[string]int{"": 200, "?tail=1": 1, "?tail=2": 2, "?tail=299": 299, "?tail=1000": len(all)} {
		check(t, n <= len(all) && slices.Equal(lines(query), all[len(all)-n:]), "%q: not the last %d of %d lines", query,
			n, len(all))
	}
}

// The address appears when the port is assigned. The time of the first start, the disk and the type do not change.
func TestInstance_Fields(t *testing.T) {
	s := start(t)
	began := s.now()
	created := s.rent(object{"name": "a name", "disk_gb": 123})
	id := text(created, "id")
	offer := s.get("/offers/" + s.offers[id]).ok()
	for field, want := range map[string]any{
		"desired_state": "running", "type": "on_demand", "name": "a name", "disk_gb": 123, "template.slug": "ubuntu",
		"gpu": object{"slug": at(offer, "gpu.slug"), "name": at(offer, "gpu.name"), "count": at(offer, "gpu.count"),
			"vram_gb": at(offer, "gpu.vram_gb")},
		"country": offer["country"], "price.traffic_kop_gb": at(offer, "price.traffic_kop_gb"), "ssh": nil,
		"started_at": nil, "stop_reason": nil, "created_at": began.Format(time.RFC3339),
	} {
		equal(t, field+" of a new instance", short(at(created, field)), short(want))
	}
	s.waitFor(id, "running")
	started := timeOf(s.instance(id), "started_at")
	check(t, started.After(began) && !started.After(s.now()), "started_at %v, created at %v, now %v", started, began,
		s.now())
	s.advance(60)
	o := s.instance(id)
	port := integer(o, "ssh.port")
	check(t, port > 0 && port < 65536, "ssh.port %d", port)
	for _, part := range []string{text(o, "ssh.host"), text(o, "ssh.user"), fmt.Sprint(port), "ssh"} {
		check(t, part != "" && strings.Contains(text(o, "ssh.command"), part), "ssh.command %q lacks %q",
			text(o, "ssh.command"), part)
	}
	s.action(id, "stop").ok()
	s.waitFor(id, "stopped")
	s.action(id, "start").ok()
	s.waitFor(id, "running")
	check(t, timeOf(s.instance(id), "started_at").Equal(started), "started_at moved with the second start")
}

// Web interfaces depend on the template. Instances of templates with an entry point have no SSH.
func TestInstance_URLs(t *testing.T) {
	s := start(t)
	for _, template := range s.as("").list("/templates") {
		slug := text(template, "slug")
		if slug == "custom" {
			continue
		}
		o := s.running(object{"template": slug, "disk_gb": template["min_disk_gb"]})
		equal(t, slug+": image", text(o, "image"), text(template, "image"))
		equal(t, slug+": has ssh", o["ssh"] != nil, text(template, "launch_mode") != "entrypoint")
		for _, u := range o["urls"].([]any) {
			address, label := text(u.(object), "url"), text(u.(object), "label")
			check(t, strings.HasPrefix(address, "http") && label != "", "%s: url %q, label %q", slug, address, label)
		}
	}
}
