package simulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Chapter "Instances" without renting and states.

func TestInstance_List(t *testing.T) {
	api := newFundedClient(t)
	var made []string
	for range 4 {
		made = append(made, api.runningInstance(nil).text("id"))
	}
	api.delete("/instances/" + made[0]).ok()
	check(t, api.listHas("/instances", made[0]), "active leaves out one that is being destroyed")
	api.waitFor(made[0], "destroyed")
	api.setInstance(made[1], object{"status": "failed"})
	api.setInstance(made[2], object{"status": "outbid"})
	for n, id := range made {
		for query, want := range map[string]bool{"": n > 0, "?status=active": n > 0, "?status=all": true} {
			equal(t, fmt.Sprintf("%q lists instance %d", query, n), api.listHas("/instances"+query, id), want)
		}
	}
	for _, o := range api.list("/instances?status=all") {
		equal(t, "an instance alone and in the list", asJSON(o), asJSON(api.instance(o.text("id"))))
	}
}

// Patch changes only the name.
func TestInstance_Patch(t *testing.T) {
	api := newFundedClient(t)
	before := api.runningInstance(object{"name": "first"})
	path := "/instances/" + before.text("id")
	send := func(body object) response { return api.patch(path, body) }
	for _, name := range []any{"new", nil, "имя 🦊", nil} {
		o := send(object{"name": name, "disk_gb": 20, "status": "stopped"}).ok()
		equal(t, "the instance when read again", asJSON(api.instance(before.text("id"))), asJSON(o))
		equal(t, "name", asJSON(o["name"]), asJSON(name))
		o["name"], o["cost_so_far_kop"] = before["name"], before["cost_so_far_kop"]
		equal(t, "all but the name", asJSON(o), asJSON(before))
	}
}

func TestInstance_Logs(t *testing.T) {
	api := newFundedClient(t)
	body := object{"name": "job", "image": "job:1", "onstart": strings.Repeat("step\n", 299) + "last"}
	template := api.post("/templates", body).created()
	id := api.runningInstance(object{"template": template["slug"]}).text("id")
	lines := func(query string) []any { return api.get("/instances/" + id + "/logs" + query).ok()["lines"].([]any) }
	all := lines("?tail=1000")
	log := fmt.Sprintln(all...) // the commands of the template are in it, after the first start
	check(t, strings.Count(log, " + step ") == 299 && strings.Contains(log, " + last "), "the log: %s", log)
	for query, n := range map[string]int{"": 200, "?tail=1": 1, "?tail=2": 2, "?tail=299": 299, "?tail=1000": len(all)} {
		check(t, n <= len(all) && slices.Equal(lines(query), all[len(all)-n:]), "%q: not the last %d of %d lines", query,
			n, len(all))
	}
}

// The address appears when the port is assigned. The time of the first start, the disk and the type do not change.
func TestInstance_Fields(t *testing.T) {
	api := newFundedClient(t)
	began := api.Now()
	created := api.createInstance(object{"name": "a name", "disk_gb": 123})
	id := created.text("id")
	offer := api.get("/offers/" + api.offerOf(id)).ok()
	for field, want := range map[string]any{
		"desired_state": "running", "type": "on_demand", "name": "a name", "disk_gb": 123, "template.slug": "ubuntu",
		"gpu": object{"slug": offer.value("gpu.slug"), "name": offer.value("gpu.name"), "count": offer.value("gpu.count"),
			"vram_gb": offer.value("gpu.vram_gb")},
		"country": offer["country"], "price.traffic_kop_gb": offer.value("price.traffic_kop_gb"), "ssh": nil,
		"started_at": nil, "stop_reason": nil, "created_at": began.Format(time.RFC3339),
	} {
		equal(t, field+" of a new instance", asJSON(created.value(field)), asJSON(want))
	}
	api.waitFor(id, "running")
	started := api.instance(id).time("started_at") // TestConfig_Boot checks it
	api.Advance(time.Minute)
	o := api.instance(id)
	port := o.integer("ssh.port")
	check(t, port > 0 && port < 65536, "ssh.port %d", port)
	for _, part := range []string{o.text("ssh.host"), o.text("ssh.user"), fmt.Sprint(port), "ssh"} {
		check(t, part != "" && strings.Contains(o.text("ssh.command"), part), "ssh.command %q lacks %q",
			o.text("ssh.command"), part)
	}
	api.action(id, "stop").ok()
	api.waitFor(id, "stopped")
	api.action(id, "start").ok()
	api.waitFor(id, "running")
	check(t, api.instance(id).time("started_at").Equal(started), "started_at moved with the second start")
}

// Web interfaces depend on the template. Instances of templates with an entry point have no SSH.
func TestInstance_URLs(t *testing.T) {
	api := newFundedClient(t)
	for _, template := range api.withKey("").list("/templates") {
		slug := template.text("slug")
		if slug == "custom" {
			continue
		}
		o := api.runningInstance(object{"template": slug, "disk_gb": template["min_disk_gb"]})
		equal(t, slug+": image", o.text("image"), template.text("image"))
		equal(t, slug+": has ssh", o["ssh"] != nil, template.text("launch_mode") != "entrypoint")
		for _, u := range o.objects("urls") {
			address, label := u.text("url"), u.text("label")
			check(t, strings.HasPrefix(address, "http") && label != "", "%s: url %q, label %q", slug, address, label)
		}
	}
}
