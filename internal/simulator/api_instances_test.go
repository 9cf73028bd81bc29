package simulator_test

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
	r := newAccount(t)
	var made []string
	for range 4 {
		made = append(made, text(r.booted(nil), "id"))
	}
	r.delete("/instances/" + made[0]).ok()
	check(t, r.lists("/instances", made[0]), "active leaves out one that is being destroyed")
	r.waitFor(made[0], "destroyed")
	r.setInstance(made[1], m{"status": "failed"})
	r.setInstance(made[2], m{"status": "outbid"})
	for n, id := range made {
		for query, want := range map[string]bool{"": n > 0, "?status=active": n > 0, "?status=all": true} {
			equal(t, fmt.Sprintf("%q lists instance %d", query, n), r.lists("/instances"+query, id), want)
		}
	}
	for _, o := range r.list("/instances?status=all") {
		equal(t, "an instance alone and in the list", short(o), short(r.fields(text(o, "id"))))
	}
}

// Patch changes only the name.
func TestInstance_Patch(t *testing.T) {
	r := newAccount(t)
	before := r.booted(m{"name": "first"})
	path := "/instances/" + text(before, "id")
	send := func(body m) response { return r.do(http.MethodPatch, path, body) }
	checkBounds("InstanceUpdate", m{"name": "x"}, send)
	for _, name := range []any{"new", nil, "имя 🦊", nil} {
		o := send(m{"name": name, "disk_gb": 20, "status": "stopped"}).ok()
		equal(t, "the instance when read again", short(r.fields(text(before, "id"))), short(o))
		equal(t, "name", short(o["name"]), short(name))
		o["name"], o["cost_so_far_kop"] = before["name"], before["cost_so_far_kop"]
		equal(t, "all but the name", short(o), short(before))
	}
}

func TestInstance_Logs(t *testing.T) {
	r := newAccount(t)
	id := text(r.booted(nil), "id")
	for range 300 {
		r.setInstance(id, m{"log_line": unique("line")})
	}
	lines := func(query string) []any { return r.get("/instances/" + id + "/logs" + query).ok()["lines"].([]any) }
	all := lines("?tail=1000")
	for query, n := range map[string]int{"": 200, "?tail=1": 1, "?tail=2": 2, "?tail=299": 299, "?tail=1000": len(all)} {
		check(t, n <= len(all) && slices.Equal(lines(query), all[len(all)-n:]), "%q: not the last %d of %d lines", query,
			n, len(all))
	}
}

// The address appears when the port is assigned. The time of the first start, the disk and the type do not change.
func TestInstance_Fields(t *testing.T) {
	r := newAccount(t)
	began := r.Now()
	created := r.rented(m{"name": "a name", "disk_gb": 123})
	id := text(created, "id")
	offer := r.get("/offers/" + r.offerOf(id)).ok()
	for field, want := range map[string]any{
		"desired_state": "running", "type": "on_demand", "name": "a name", "disk_gb": 123, "template.slug": "ubuntu",
		"gpu": m{"slug": at(offer, "gpu.slug"), "name": at(offer, "gpu.name"), "count": at(offer, "gpu.count"),
			"vram_gb": at(offer, "gpu.vram_gb")},
		"country": offer["country"], "price.traffic_kop_gb": at(offer, "price.traffic_kop_gb"), "ssh": nil,
		"started_at": nil, "stop_reason": nil, "created_at": began.Format(time.RFC3339),
	} {
		equal(t, field+" of a new instance", short(at(created, field)), short(want))
	}
	r.waitFor(id, "running")
	started := timeOf(r.fields(id), "started_at")
	check(t, started.After(began) && !started.After(r.Now()), "started_at %v, created at %v, now %v", started, began,
		r.Now())
	r.Advance(time.Minute)
	o := r.fields(id)
	port := integer(o, "ssh.port")
	check(t, port > 0 && port < 65536, "ssh.port %d", port)
	for _, part := range []string{text(o, "ssh.host"), text(o, "ssh.user"), fmt.Sprint(port), "ssh"} {
		check(t, part != "" && strings.Contains(text(o, "ssh.command"), part), "ssh.command %q lacks %q",
			text(o, "ssh.command"), part)
	}
	r.action(id, "stop").ok()
	r.waitFor(id, "stopped")
	r.action(id, "start").ok()
	r.waitFor(id, "running")
	check(t, timeOf(r.fields(id), "started_at").Equal(started), "started_at moved with the second start")
}

// Web interfaces depend on the template. Instances of templates with an entry point have no SSH.
func TestInstance_URLs(t *testing.T) {
	r := newAccount(t)
	for _, template := range r.as("").list("/templates") {
		slug := text(template, "slug")
		if slug == "custom" {
			continue
		}
		o := r.booted(m{"template": slug, "disk_gb": template["min_disk_gb"]})
		equal(t, slug+": image", text(o, "image"), text(template, "image"))
		equal(t, slug+": has ssh", o["ssh"] != nil, text(template, "launch_mode") != "entrypoint")
		for _, u := range o["urls"].([]any) {
			address, label := text(u.(m), "url"), text(u.(m), "label")
			check(t, strings.HasPrefix(address, "http") && label != "", "%s: url %q, label %q", slug, address, label)
		}
	}
}
