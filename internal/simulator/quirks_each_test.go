package simulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// undocumented are the quirks of gateways, unknown fields, and values without a promise that they are all. The contract
// does not describe them.
var undocumented = []string{"status-after-work", "gateway-errors", "limit-headers-absent", "strange-neighbours",
	"unknown-enums", "unknown-fields"}

// TestQuirk checks for each quirk that it does what is in its description, and nothing else. Its responses match the
// contract.
func TestQuirk(t *testing.T) {
	for _, name := range quirks.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newClient(t, func(c *simulator.Config) { c.Hooks = quirks.New(name) })
			if !slices.Contains(undocumented, name) {
				api.handler = contracttest.New(t, contracttest.AllowInvalidRequests()).Wrap(api.Handler())
			}
			quirkTests[name](t, api)
		})
	}
}

var quirkTests = map[string]func(t *testing.T, api *client){
	"small-pages": func(t *testing.T, api *client) {
		items, next := api.page("/offers?limit=200")
		check(t, len(items) == 3 && next != "", "a page of %d, next %q", len(items), next)
		const query = "/offers?gpu=rtx_4090"
		equal(t, "offers in small pages", len(api.listInPages(query, 3, nil)), len(api.plain().list(query)))
		api.get("/offers?limit=201").failsWith("validation_error")
	},
	"price-moves-on-create": func(t *testing.T, api *client) {
		directions := map[bool]bool{}
		for _, o := range api.list("/offers?num_gpus=1")[:8] {
			i := api.createInstance(object{"offer_id": o["id"]})
			directions[rises(t, o.integer("price.on_demand_kop_h"), i.integer("price.running_kop_h"))] = true
		}
		equal(t, "directions", len(directions), 2)
	},
	"price-moves-on-start": func(t *testing.T, api *client) {
		i := api.runningInstance(nil)
		directions := map[bool]bool{}
		for range 2 {
			api.action(i.text("id"), "stop").want(200)
			api.Advance(bootComplete)
			api.action(i.text("id"), "start").want(200)
			api.Advance(bootComplete)
			after := api.instance(i.text("id"))
			directions[rises(t, i.integer("price.running_kop_h"), after.integer("price.running_kop_h"))] = true
			api.checkBurn("after the start", after.value("price.running_kop_h"))
			i = after
		}
		equal(t, "directions", len(directions), 2)
	},
	"outbid-soon-after-start": func(t *testing.T, api *client) {
		api.runningInstance(nil) // on demand
		id := api.createInstance(object{"type": "interruptible"}).text("id")
		api.Advance(bootComplete)
		i := api.instance(id)
		check(t, i.text("status") == "outbid" && i["started_at"] != nil && i["ssh"] == nil, "after its start: %v", i)
		api.action(id, "start").want(200)
		api.Advance(bootComplete)
		again := api.instance(id)
		check(t, again["ssh"] != nil && again.integer("price.running_kop_h") > i.integer("price.running_kop_h"),
			"after the next start: %v", again)
	},
	"forbidden-balance": func(_ *testing.T, api *client) {
		api.get("/balance").failsWith("forbidden")
		api.withKey("").get("/balance").failsWith("unauthorized")
		api.get("/transactions").want(200)
	},
	"limit-headers-absent": func(t *testing.T, api *client) {
		api.SetRateLimit(2, 2)
		for n, path := range []string{"/me", "/instances/none", "/me"} {
			a := api.get(path).want([]int{200, 404, 429}[n])
			check(t, !strings.Contains(asJSON(a.header), "X-Ratelimit"), "%d has %v", a.status, a.header)
			equal(t, "has Retry-After", a.header.Get("Retry-After") != "", a.status == 429)
		}
	},
	"lagging-list": func(t *testing.T, api *client) {
		count := func() int {
			return len(api.list("/templates")) + len(api.list("/ssh-keys")) + len(api.list("/instances"))
		}
		before := count()
		api.instance(api.createInstance(nil).text("id"))
		api.newTemplate()
		api.newSSHKey(1)
		api.Advance(2900 * time.Millisecond)
		equal(t, "items that are listed", count(), before)
		api.Advance(10 * time.Second)
		equal(t, "items that are listed later", count(), before+3)
	},
	"lagging-get": func(_ *testing.T, api *client) {
		path := "/instances/" + api.createInstance(nil).text("id")
		api.get(path).failsWith("not_found")
		api.delete(path).failsWith("not_found")
		api.Advance(3 * time.Second)
		api.get(path).want(200)
	},
	"lagging-status": func(t *testing.T, api *client) {
		path := "/instances/" + api.runningInstance(nil).text("id")
		for _, step := range []struct{ method, path, before, after string }{
			{"POST", path + "/stop", "running", "stopped"}, {"POST", path + "/start", "stopped", "running"},
			{"DELETE", path, "running", "destroyed"},
		} {
			a := api.do(step.method, step.path, nil)
			check(t, a.ok().text("status") == "destroying" || step.method != "DELETE", "the response to DELETE: %s", a.body)
			api.Advance(1900 * time.Millisecond)
			for _, got := range append(api.list("/instances"), api.get(path).ok()) {
				equal(t, a.request+": status soon after it", got.text("status"), step.before)
			}
			api.Advance(bootComplete)
			equal(t, a.request+": status in the end", api.get(path).ok().text("status"), step.after)
		}
	},
	"cached-offers": func(t *testing.T, api *client) {
		first := api.list("/offers?gpu=rtx_4090")
		path := "/offers/" + first[0].text("id")
		api.get(path).want(200)
		api.createInstance(object{"offer_id": first[0]["id"]})
		for _, wait := range []time.Duration{0, 59 * time.Second, 2 * time.Second} {
			api.Advance(wait)
			isCached := wait != 2*time.Second
			equal(t, fmt.Sprint("available after ", wait), api.get(path).ok()["available"], any(isCached))
			equal(t, fmt.Sprint("listed after ", wait), len(api.list("/offers?gpu=rtx_4090")) == len(first), isCached)
		}
	},
	"forgotten-keys": func(t *testing.T, api *client) {
		create := func(status int) string {
			t.Helper()
			return api.create("a", api.instanceBody(nil)).want(status).object().text("id")
		}
		id := create(201)
		api.Advance(bootComplete)
		api.delete("/instances/" + id).want(200)
		equal(t, "instance of the key before it is destroyed", create(200), id)
		api.Advance(bootComplete)
		next := create(201)
		check(t, next != id && create(200) == next, "after %s is destroyed, the key creates %s", id, next)
	},
	"first-answer-replays": func(t *testing.T, api *client) {
		first := api.create("a", api.instanceBody(nil)).want(201)
		for _, status := range []string{"running", "failed", "destroyed"} {
			api.setInstance(first.object().text("id"), object{"status": status})
			again := api.create("a", api.instanceBody(object{"name": "other"})).want(200)
			equal(t, status+": the response", string(again.body), string(first.body))
			equal(t, status+": Idempotent-Replayed", again.header.Get("Idempotent-Replayed"), "true")
			equal(t, "status", api.instance(first.object().text("id")).text("status"), status)
		}
	},
	"busy-while-booting": func(t *testing.T, api *client) {
		id := api.createInstance(nil).text("id")
		for _, status := range []string{"creating", "starting"} {
			api.delete("/instances/" + id).failsWith("conflict")
			i := api.instance(id)
			equal(t, "the state", i.text("status")+" "+i.text("desired_state"), status+" running")
			api.Advance(boot / 2)
		}
		api.Advance(boot)
		api.delete("/instances/" + id).want(200)
	},
	"failed-is-billed": func(t *testing.T, api *client) {
		i := api.runningInstance(nil)
		api.setInstance(i.text("id"), object{"status": "failed"})
		available := api.balance()["available_kop"]
		api.checkBurn("failed", i.value("price.running_kop_h"))
		api.Advance(time.Hour)
		equal(t, "available_kop an hour later", api.balance()["available_kop"], available)
		api.delete("/instances/" + i.text("id")).want(200)
		api.checkBurn("after the DELETE", 0)
	},
	"refused-disks": func(t *testing.T, api *client) {
		refused := 0
		for _, o := range api.list("/offers?num_gpus=1")[:30] {
			body := api.instanceBody(object{"offer_id": o["id"]})
			if api.create(unique("first"), body).status != 201 {
				refused++
				api.create(unique("again"), body).invalid("disk_gb")
				equal(t, "available", api.get("/offers/" + o.text("id")).ok()["available"], any(true))
			}
		}
		check(t, refused >= 4 && refused <= 16, "%d of 30 offers are refused", refused)
	},
	"phantom-offers": func(t *testing.T, api *client) {
		const query = "/offers?gpu=rtx_4090&num_gpus=1"
		servers, all := api.plain().list(query), api.listInPages(query, 2, nil)
		id, price := all[0].text("id"), all[0].integer("price.on_demand_kop_h")
		equal(t, "offers with the phantom", asJSON(ids(all)), asJSON(append([]string{id}, ids(servers)...)))
		equal(t, "gpu", asJSON(all[0]["gpu"]), asJSON(servers[0]["gpu"]))
		check(t, price < servers[0].integer("price.on_demand_kop_h"), "the phantom costs %d: %v", price, servers[0])
		api.create("a", api.instanceBody(object{"offer_id": id})).failsWith("conflict")
		equal(t, "available", api.get("/offers/" + id).ok()["available"], any(true))
		// It stays when no server with these properties is available.
		for _, o := range servers {
			api.setOffer(o.text("id"), object{"available": false})
		}
		equal(t, "offers that are left", asJSON(ids(api.list(query))), asJSON([]string{id}))
	},
	"image-spelling": func(t *testing.T, api *client) {
		for image, want := range map[string]string{
			"ubuntu:24.04":                      "docker.io/library/ubuntu:24.04",
			"pytorch/pytorch:2":                 "docker.io/pytorch/pytorch:2",
			"docker.io/library/ubuntu:1":        "ubuntu:1",
			"docker.io/a/b:1":                   "a/b:1",
			"registry.example:5000/team/tool:1": "registry.example:5000/team/tool:1",
		} {
			created := api.post("/templates", object{"name": "own", "image": image}).created().text("image")
			all := api.list("/templates")
			check(t, strings.TrimPrefix(created, "index.") == want && all[len(all)-1]["image"] == created,
				"%s: created %v, listed %v", image, created, all[len(all)-1])
		}
		image := api.createInstance(object{"template": "pytorch", "disk_gb": 50}).text("image")
		check(t, strings.Contains(image, "docker.io/pytorch/"), "instance: %s", image)
	},
	"other-gpu": func(t *testing.T, api *client) {
		offer := api.list("/offers")[0]
		want, got := offer.object("gpu"), api.createInstance(object{"offer_id": offer["id"]}).object("gpu")
		check(t, got["slug"] != want["slug"] && got["count"] == want["count"] && got["vram_gb"] == want["vram_gb"],
			"%v for an offer of %v", got, want)
	},
	"unknown-enums": func(t *testing.T, api *client) {
		for range 8 {
			api.newKey("user:read")
			api.createInstance(nil)
		}
		known := func(path, table, field string) (known, unknown bool) {
			for _, item := range api.list(path) {
				isKnown := slices.Contains(apidoc.Enum(table, field), item.text(field))
				known, unknown = known || isKnown, unknown || !isKnown
			}
			return known, unknown
		}
		for _, c := range []struct{ path, table, field string }{{"/gpus", "GpuModel", "tier"},
			{"/templates", "Template", "launch_mode"}, {"/api-keys", "ApiKey", "source"}, {"/instances", "Instance", "status"}} {
			known, unknown := known(c.path, c.table, c.field)
			check(t, known && unknown, "%s of %s: known %t, unknown %t", c.field, c.path, known, unknown)
		}
		api.Advance(bootComplete)
		_, unknown := known("/instances", "Instance", "status")
		check(t, !unknown, "an instance without a pending change has an unknown status")
	},
	"optional-fields-absent": func(t *testing.T, api *client) {
		id := api.runningInstance(nil).text("id")
		present := map[string]int{}
		for range 100 {
			for field := range api.instance(id) {
				present[field]++
			}
		}
		for _, f := range apidoc.Fields("Instance") {
			n, isNull := present[f.Name], f.Name == "stop_reason" || f.Name == "name"
			check(t, isNull && n == 0 || f.Required && n == 100 || !f.Required && n >= 75 && n < 100,
				"%s is in %d of 100 responses", f.Name, n)
		}
	},
	"unknown-fields": func(t *testing.T, api *client) {
		api.post("/templates", object{"name": "own", "image": "a:1", "env": object{"A": "1"}}).want(201)
		all := api.list("/templates")
		for _, o := range []object{api.get("/me").ok(), all[0], api.get("/instances/none").object().object("error")} {
			for _, field := range []string{"x_text", "x_number", "x_flag", "x_nothing", "x_list", "x_object"} {
				_, has := o[field]
				check(t, has, "%v has no %s", o, field)
			}
		}
		equal(t, "the environment of a template", asJSON(all[len(all)-1]["env"]), `{"A":"1"}`)
	},
	"sorted-differently": func(t *testing.T, api *client) {
		for path, want := range map[string]bool{"/templates": true, "/api-keys": true, "/offers": false,
			"/transactions": false} {
			orders := map[string]bool{}
			for range 10 {
				orders[asJSON(api.get(path).ok()["data"])] = true
			}
			equal(t, path+" has several orders", len(orders) > 1, want)
		}
	},
	"strange-neighbours": checkNeighbours,
	"status-after-work": func(t *testing.T, api *client) {
		path := "/instances/" + api.plain().createInstance(nil).text("id")
		statuses, longest := failures(api, "PATCH", func(int) string { return path }, object{"name": "x"})
		for _, status := range []int{0, 500, 503, 502, 504, 200} {
			check(t, statuses[status] > 0 && len(statuses) == 6, "no status %d: %v", status, statuses)
		}
		equal(t, "consecutive failures", longest, 2)
		// The work is done whatever the response is. No connection is used twice: on a used one, the transport would retry a
		// write with an idempotency key after a cut, which the client would not see.
		for n := range 30 {
			name := fmt.Sprint("name ", n)
			equal(t, "Connection", api.patch(path, object{"name": name}).header.Get("Connection"), "close")
			equal(t, "Connection", api.get(path).header.Get("Connection"), "close")
			equal(t, "name after a PATCH", api.plain().get(path).ok().text("name"), name)
		}
		// A refusal is not replaced.
		for range 20 {
			api.delete("/ssh-keys/none").failsWith("not_found")
		}
		checkSpared(api)
	},
	"gateway-errors": func(t *testing.T, api *client) {
		_, longestWrite := failures(api, "DELETE", func(n int) string { return fmt.Sprintf("/ssh-keys/%d", n) }, nil)
		reads, longest := failures(api, "GET", func(n int) string { return fmt.Sprintf("/instances?limit=%d", n+1) }, nil)
		foreign4xx := reads[403] + reads[404] + reads[409] + reads[422]
		check(t, longestWrite <= 2 && longest <= 2 && reads[502]+reads[504] > 0 && reads[500] > 0 && foreign4xx > 0,
			"at most %d and %d failures in a row, %v", longestWrite, longest, reads)
		for _, request := range api.Requests() {
			check(t, request.Status > 0, "the request log misses a status: %v", request)
		}
		checkSpared(api)
	},
}

// rises reports whether a price rises. It must move by at most 4%.
func rises(t *testing.T, before, after int64) bool {
	t.Helper()
	by := after - before
	check(t, by != 0 && 25*max(by, -by) <= before, "%d after %d", after, before)
	return by > 0
}

func checkNeighbours(t *testing.T, api *client) {
	mine := api.runningInstance(nil)
	all := api.list("/instances")
	for _, id := range ids(all)[1:] {
		api.get("/instances/" + id).want(200)
		api.action(id, "start").failsWith("conflict")
		api.action(id, "stop").failsWith("conflict")
		api.delete("/instances/" + id).failsWith("conflict")
	}
	check(t, len(all) == 3 && strings.Contains(asJSON(all), `"hibernating"`), "instances %v", all)
	api.checkBurn("with foreign instances", mine.value("price.running_kop_h"))
	isForeign := func(o object) bool { return o.integer("price.on_demand_kop_h") < 0 }
	offers := api.list("/offers")
	foreign := offers[slices.IndexFunc(offers, isForeign)]
	api.create("b", api.instanceBody(object{"offer_id": foreign["id"]})).failsWith("not_found")
	check(t, !slices.ContainsFunc(api.list("/offers?country=RU"), isForeign),
		"a foreign offer passes a filter that it does not fit")
	for _, path := range createPaths {
		items := ids(api.list(path))
		check(t, strings.Contains(items[len(items)-1], "stranger"), "%s: %v", path, items)
		if path != "/instances" {
			api.delete(path + "/" + items[len(items)-1]).failsWith("not_found")
		}
	}
}

// failures sends 60 requests until each has succeeded. It returns the counts of all statuses and the maximum of
// consecutive failures. At most one failure of a request may be a 4xx.
func failures(api *client, method string, path func(n int) string, body any) (statuses map[int]int, longest int) {
	statuses = map[int]int{}
	for n := range 60 {
		foreign4xx := 0
		for inRow := 1; ; inRow++ {
			a := api.do(method, path(n), body)
			statuses[a.status]++
			if !a.failed() {
				break
			}
			longest = max(longest, inRow)
			if a.status/100 == 4 {
				foreign4xx++
			}
		}
		check(api.t, foreign4xx <= 1, "%s %s: %d failures are a 4xx", method, path(n), foreign4xx)
	}
	return statuses, longest
}

// checkSpared creates items without an idempotency key. The outcome of a failed creation would be unknown, so no quirk
// makes one fail.
func checkSpared(api *client) {
	for n := range byte(15) {
		api.newSSHKey(n)
		api.newKey("user:read")
		api.newTemplate()
	}
}
