package simulator_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// One test for each quirk: it does what is in its description, and nothing else.

func TestQuirk_SmallPages(t *testing.T) {
	api := newClient(t, withQuirks("small-pages"))
	items, next := api.page("/offers?limit=200")
	check(t, len(items) == 3 && next != "", "a page of %d, next %q", len(items), next)
	equal(t, "offers in small pages", len(api.listInPages("/offers?gpu=rtx_4090", 3, nil)),
		len(newClient(t).list("/offers?gpu=rtx_4090")))
	api.get("/offers?limit=201").failsWith("validation_error")
}

func TestQuirk_PriceMovesOnCreate(t *testing.T) {
	api := newClient(t, withQuirks("price-moves-on-create"))
	moves := map[bool]int{}
	for _, o := range api.list("/offers?num_gpus=1")[:8] {
		price := o.integer("price.on_demand_kop_h")
		by := api.createInstance(object{"offer_id": o["id"]}).integer("price.running_kop_h") - price
		moves[by > 0]++
		check(t, by != 0 && 25*max(by, -by) <= price, "%d more for an offer of %d", by, price)
	}
	if len(moves) != 2 {
		t.Errorf("the price moves in one direction only: %v", moves)
	}
}

func TestQuirk_PriceMovesOnStart(t *testing.T) {
	api := newClient(t, withQuirks("price-moves-on-start"))
	i := api.runningInstance(nil)
	id, before := i.text("id"), i.integer("price.running_kop_h")
	moves := map[bool]int{}
	for range 2 {
		api.action(id, "stop").want(200)
		api.Advance(bootComplete)
		api.action(id, "start").want(200)
		api.Advance(bootComplete)
		after := api.instance(id).integer("price.running_kop_h")
		by := after - before
		moves[by > 0]++
		check(t, by != 0 && 25*max(by, -by) <= before, "%d after %d", after, before)
		api.checkBurn("after the start", after)
		before = after
	}
	if len(moves) != 2 {
		t.Error("the price moved twice in one direction")
	}
}

func TestQuirk_OutbidSoonAfterStart(t *testing.T) {
	api := newClient(t, withQuirks("outbid-soon-after-start"))
	api.runningInstance(nil) // on demand
	id := api.createInstance(object{"type": "interruptible"}).text("id")
	api.Advance(bootComplete)
	i := api.instance(id)
	if i.text("status") != "outbid" || i["started_at"] == nil || i["ssh"] != nil {
		t.Fatalf("not outbid after its start: %v", i)
	}
	api.action(id, "start").want(200)
	api.Advance(bootComplete)
	again := api.instance(id)
	check(t, again.text("status") == "running" && again["ssh"] != nil &&
		again.integer("price.running_kop_h") > i.integer("price.running_kop_h"), "after the next start: %v", again)
}

func TestQuirk_ForbiddenBalance(t *testing.T) {
	api := newClient(t, withQuirks("forbidden-balance"))
	api.get("/balance").failsWith("forbidden")
	api.withKey("").get("/balance").failsWith("unauthorized")
	api.get("/transactions").want(200)
}

func TestQuirk_LimitHeadersAbsent(t *testing.T) {
	api := newClient(t, withQuirks("limit-headers-absent"))
	api.SetRateLimit(2, 2)
	for n, path := range []string{"/me", "/instances/none", "/me"} {
		a := api.get(path).want([]int{200, 404, 429}[n])
		for name := range a.header {
			if strings.HasPrefix(name, "X-Ratelimit") {
				t.Errorf("%d has %s", a.status, name)
			}
		}
		if (a.header.Get("Retry-After") != "") != (a.status == 429) {
			t.Errorf("%d: Retry-After %q", a.status, a.header.Get("Retry-After"))
		}
	}
}

func TestQuirk_LaggingList(t *testing.T) {
	api := newClient(t, withQuirks("lagging-list"))
	count := func() int {
		return len(api.list("/templates")) + len(api.list("/ssh-keys")) + len(api.list("/instances"))
	}
	before := count()
	id := api.createInstance(nil).text("id")
	api.newTemplate()
	api.newSSHKey(1)
	api.get("/instances/" + id).want(200)
	for _, step := range []struct {
		wait time.Duration
		want int
	}{{2900 * time.Millisecond, before}, {10 * time.Second, before + 3}} {
		api.Advance(step.wait)
		equal(t, "items that are listed", count(), step.want)
	}
}

func TestQuirk_LaggingGet(t *testing.T) {
	api := newClient(t, withQuirks("lagging-get"))
	path := "/instances/" + api.createInstance(nil).text("id")
	api.get(path).failsWith("not_found")
	api.delete(path).failsWith("not_found")
	api.Advance(3 * time.Second)
	api.get(path).want(200)
}

func TestQuirk_LaggingStatus(t *testing.T) {
	api := newClient(t, withQuirks("lagging-status"))
	id := api.runningInstance(nil).text("id")
	path := "/instances/" + id
	for _, step := range []struct{ method, path, before, after string }{
		{"POST", path + "/stop", "running", "stopped"}, {"POST", path + "/start", "stopped", "running"},
		{"DELETE", path, "running", "destroyed"},
	} {
		a := api.do(step.method, step.path, nil)
		status := a.ok().text("status")
		check(t, step.method != "DELETE" || status == "destroying", "the response to DELETE: %s", status)
		api.Advance(1900 * time.Millisecond)
		for _, got := range append(api.list("/instances"), api.instance(id)) {
			equal(t, a.request+": status soon after it", got.text("status"), step.before)
		}
		api.Advance(bootComplete)
		equal(t, a.request+": status in the end", api.instance(id).text("status"), step.after)
	}
}

func TestQuirk_CachedOffers(t *testing.T) {
	api := newClient(t, withQuirks("cached-offers"))
	const query = "/offers?gpu=rtx_4090"
	first := api.list(query)
	path := "/offers/" + first[0].text("id")
	api.get(path).want(200)
	api.createInstance(object{"offer_id": first[0]["id"]})
	for _, step := range []struct {
		wait time.Duration
		want bool
	}{{0, true}, {59 * time.Second, true}, {2 * time.Second, false}} {
		api.Advance(step.wait)
		equal(t, fmt.Sprint("available after ", step.wait), api.get(path).ok()["available"], any(step.want))
		equal(t, fmt.Sprint("listed after ", step.wait), len(api.list(query)) == len(first), step.want)
	}
}

func TestQuirk_ForgottenKeys(t *testing.T) {
	api := newClient(t, withQuirks("forgotten-keys"))
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
}

func TestQuirk_FirstAnswerReplays(t *testing.T) {
	api := newClient(t, withQuirks("first-answer-replays"))
	first := api.create("a", api.instanceBody(nil)).want(201)
	id := first.object().text("id")
	for _, status := range []string{"running", "failed", "destroyed"} {
		api.Advance(bootComplete)
		api.setInstance(id, object{"status": status})
		again := api.create("a", api.instanceBody(object{"name": "other"})).want(200)
		equal(t, status+": the response", string(again.body), string(first.body))
		equal(t, status+": Idempotent-Replayed", again.header.Get("Idempotent-Replayed"), "true")
		equal(t, "status", api.instance(id).text("status"), status)
	}
}

func TestQuirk_BusyWhileBooting(t *testing.T) {
	api := newClient(t, withQuirks("busy-while-booting"))
	id := api.createInstance(nil).text("id")
	for _, status := range []string{"creating", "starting"} {
		api.delete("/instances/" + id).failsWith("conflict")
		equal(t, "status", api.instance(id).text("status"), status)
		equal(t, "desired_state", api.instance(id).text("desired_state"), "running")
		api.Advance(boot / 2)
	}
	api.Advance(boot)
	api.delete("/instances/" + id).want(200)
}

func TestQuirk_FailedIsBilled(t *testing.T) {
	api := newClient(t, withQuirks("failed-is-billed"))
	i := api.runningInstance(nil)
	api.setInstance(i.text("id"), object{"status": "failed"})
	available := api.balance()["available_kop"]
	api.checkBurn("failed", i.value("price.running_kop_h"))
	api.Advance(time.Hour)
	equal(t, "available_kop an hour later", api.balance()["available_kop"], available)
	api.delete("/instances/" + i.text("id")).want(200)
	api.checkBurn("after the DELETE", 0)
}

func TestQuirk_RefusedDisks(t *testing.T) {
	api := newClient(t, withQuirks("refused-disks"))
	offers := api.list("/offers?num_gpus=1")[:30]
	refused := 0
	for _, o := range offers {
		body := api.instanceBody(object{"offer_id": o["id"]})
		if api.create(unique("first"), body).status == 201 {
			continue
		}
		refused++
		api.create(unique("again"), body).invalid("disk_gb")
		equal(t, "available", api.get("/offers/" + o.text("id")).ok()["available"], any(true))
	}
	if refused < 4 || refused > 16 {
		t.Errorf("%d of %d offers are refused", refused, len(offers))
	}
}

func TestQuirk_PhantomOffers(t *testing.T) {
	api := newClient(t, withQuirks("phantom-offers"))
	servers := api.offers()
	const query = "/offers?gpu=rtx_4090&num_gpus=1"
	all := api.listInPages(query, 2, nil)
	id, price := all[0].text("id"), all[0].integer("price.on_demand_kop_h")
	equal(t, "offers with the phantom", asJSON(ids(all)), asJSON(append([]string{id}, ids(servers)...)))
	equal(t, "gpu", asJSON(all[0]["gpu"]), asJSON(servers[0]["gpu"]))
	check(t, price < servers[0].integer("price.on_demand_kop_h"), "the phantom costs %d: %v", price, servers[0])
	last := ids(api.list(query + "&order=-price"))
	equal(t, "the last in the other order", last[len(last)-1], id)
	equal(t, "offers below the phantom", len(api.list(fmt.Sprintf("%s&max_price_kop_h=%d", query, price-1))), 0)
	api.create("a", api.instanceBody(object{"offer_id": id})).failsWith("conflict")
	equal(t, "available", api.get("/offers/" + id).ok()["available"], any(true))
	// It stays when no server with these properties is available.
	for _, o := range servers {
		api.setOffer(o.text("id"), object{"available": false})
	}
	equal(t, "offers that are left", asJSON(ids(api.list(query))), asJSON([]string{id}))
}

func TestQuirk_ImageSpelling(t *testing.T) {
	api := newClient(t, withQuirks("image-spelling"))
	for image, want := range map[string][]string{
		"ubuntu:24.04":                      {"docker.io/library/ubuntu:24.04", "index.docker.io/library/ubuntu:24.04"},
		"pytorch/pytorch:2":                 {"docker.io/pytorch/pytorch:2", "index.docker.io/pytorch/pytorch:2"},
		"docker.io/library/ubuntu:1":        {"ubuntu:1"},
		"docker.io/a/b:1":                   {"a/b:1"},
		"registry.example:5000/team/tool:1": {"registry.example:5000/team/tool:1"},
	} {
		created := api.post("/templates", object{"name": "own", "image": image}).created()
		all := api.list("/templates")
		listed := all[len(all)-1]
		check(t, slices.Contains(want, created.text("image")) && listed["image"] == created["image"] &&
			listed["slug"] == created["slug"], "%s: created %v, listed %v", image, created, listed)
	}
	image := api.runningInstance(object{"template": "pytorch", "disk_gb": 50}).text("image")
	check(t, strings.Contains(image, "docker.io/pytorch/"), "instance: %s", image)
}

func TestQuirk_OtherGPU(t *testing.T) {
	api := newClient(t, withQuirks("other-gpu"))
	offer := api.list("/offers")[0]
	want, got := offer.object("gpu"), api.createInstance(object{"offer_id": offer["id"]}).object("gpu")
	check(t, got["slug"] != want["slug"] && got["count"] == want["count"] && got["vram_gb"] == want["vram_gb"],
		"%v for an offer of %v", got, want)
}

func TestQuirk_UnknownEnums(t *testing.T) {
	api := newClient(t, withQuirks("unknown-enums"))
	for range 8 {
		api.newKey("user:read")
		api.createInstance(nil)
	}
	unknown := func(path, field, known string) (n int) {
		for _, item := range api.list(path) {
			if value, _ := item[field].(string); value != "" && !slices.Contains(strings.Fields(known), value) {
				n++
			}
		}
		return n
	}
	const statuses = "creating starting running stopping stopped destroying destroyed failed outbid"
	for _, c := range []struct{ path, field, known string }{
		{"/gpus", "tier", "consumer workstation datacenter legacy"},
		{"/templates", "launch_mode", "ssh jupyter entrypoint"}, {"/api-keys", "source", "console cli api"},
		{"/instances", "status", statuses},
	} {
		if n := unknown(c.path, c.field, c.known); n == 0 || n == len(api.list(c.path)) {
			t.Errorf("%s: %d values of %s are unknown", c.path, n, c.field)
		}
	}
	api.Advance(bootComplete)
	if n := unknown("/instances", "status", "running"); n > 0 {
		t.Errorf("%d instances without a pending change have an unknown status", n)
	}
}

func TestQuirk_OptionalFieldsAbsent(t *testing.T) {
	api := newClient(t, withQuirks("optional-fields-absent"))
	id := api.createInstance(nil)["id"].(string)
	api.Advance(bootComplete)
	const reads = 100
	present := map[string]int{}
	for range reads {
		for field := range api.instance(id) {
			present[field]++
		}
	}
	for fields, bounds := range map[string][2]int{
		"id status type gpu price":                   {reads, reads},
		"stop_reason name":                           {0, 0},
		"desired_state template image ssh urls":      {reads * 3 / 4, reads - 1},
		"disk_gb country cost_so_far_kop started_at": {reads * 3 / 4, reads - 1},
	} {
		for _, field := range strings.Fields(fields) {
			if n := present[field]; n < bounds[0] || n > bounds[1] {
				t.Errorf("%s is in %d of %d responses", field, n, reads)
			}
		}
	}
}

func TestQuirk_UnknownFields(t *testing.T) {
	api := newClient(t, withQuirks("unknown-fields"))
	api.post("/templates", object{"name": "own", "image": "a:1", "env": object{"A": "1"}}).want(201)
	for _, path := range []string{"/me", "/templates", "/offers", "/instances/none"} {
		raw := string(api.get(path).body)
		for _, field := range []string{`"x_text":"`, `"x_number":1e+30`, `"x_flag":true`, `"x_nothing":null`,
			`"x_list":[`, `"x_object":{`} {
			if !strings.Contains(raw, field) {
				t.Errorf("%s has no %s", path, field)
			}
		}
	}
	all := api.list("/templates")
	env := all[len(all)-1].object("env")
	check(t, len(env) == 1, "the environment of a template is %v", env)
}

func TestQuirk_SortedDifferently(t *testing.T) {
	api := newClient(t, withQuirks("sorted-differently"))
	for path, want := range map[string]bool{"/templates": true, "/api-keys": true, "/offers": false,
		"/transactions": false} {
		orders := map[string]bool{}
		for range 10 {
			orders[asJSON(api.get(path).ok()["data"])] = true
		}
		if (len(orders) > 1) != want {
			t.Errorf("%s has %d orders", path, len(orders))
		}
	}
}

func TestQuirk_StrangeNeighbours(t *testing.T) {
	api := newClient(t, withQuirks("strange-neighbours"))
	mine := api.runningInstance(nil)
	statuses := map[string]bool{}
	all := api.listInPages("/instances", 2, nil)
	for _, i := range all {
		id := i.text("id")
		statuses[i.text("status")] = true
		if id == mine.text("id") {
			continue
		}
		api.get("/instances/" + id).want(200)
		api.action(id, "start").failsWith("conflict")
		api.action(id, "stop").failsWith("conflict")
		api.delete("/instances/" + id).failsWith("conflict")
	}
	check(t, len(all) == 4 && statuses["hibernating"], "%d instances, statuses %v", len(all), statuses)
	api.checkBurn("with foreign instances", mine.value("price.running_kop_h"))
	isForeign := func(o object) bool { return o.integer("price.on_demand_kop_h") < 0 }
	offers := api.list("/offers")
	foreign := offers[slices.IndexFunc(offers, isForeign)]
	api.create("b", api.instanceBody(object{"offer_id": foreign["id"]})).failsWith("not_found")
	check(t, !slices.ContainsFunc(api.list("/offers?country=RU"), isForeign),
		"a foreign offer passes a filter that it does not fit")
	for path, want := range map[string]string{"/templates": "stranger-1", "/ssh-keys": "ssh_stranger1",
		"/api-keys": "key_stranger1"} {
		if raw := api.get(path).want(200).body; !strings.Contains(string(raw), want) {
			t.Errorf("%s has no %s", path, want)
		}
		api.delete(path + "/" + want).failsWith("not_found")
	}
	api.withKey("").get("/instances?cursor=nb_1").failsWith("unauthorized")
}

// failures sends 60 requests until each has succeeded. It returns the counts of all statuses and the maximum of
// consecutive failures. At most one failure of a request may be a 4xx.
func failures(api *client, method string, path func(n int) string, body any) (statuses map[int]int, longest int) {
	statuses = map[int]int{}
	for n := range 60 {
		foreign4xx := 0
		for inRow := 1; ; inRow++ {
			a := api.try(method, path(n), body)
			statuses[a.status]++
			if !a.failed() {
				break
			}
			longest = max(longest, inRow)
			if a.status/100 == 4 {
				foreign4xx++
			}
		}
		if foreign4xx > 1 {
			api.t.Errorf("%s %s: %d failures are a 4xx", method, path(n), foreign4xx)
		}
	}
	return statuses, longest
}

func TestQuirk_StatusAfterWork(t *testing.T) {
	set := quirks.New()
	api := newClient(t, func(c *simulator.Config) { c.Hooks = set })
	path := "/instances/" + api.runningInstance(nil).text("id")
	set.Switch("status-after-work")
	statuses, longest := failures(api, "PATCH", func(int) string { return path }, object{"name": "x"})
	for _, status := range []int{0, 500, 503, 502, 504, 200} {
		if statuses[status] == 0 || len(statuses) != 6 || longest != 2 {
			t.Errorf("status %d: %v, at most %d failures in a row", status, statuses, longest)
		}
	}
	// The work is done whatever the response is.
	for n := range 30 {
		name := fmt.Sprint("name ", n)
		api.try("PATCH", path, object{"name": name})
		equal(t, "name after a PATCH", api.withoutQuirks(path).text("name"), name)
	}
	// A refusal is not replaced.
	for range 20 {
		api.delete("/ssh-keys/none").failsWith("not_found")
	}
}

func TestQuirk_GatewayErrors(t *testing.T) {
	api := newClient(t, withQuirks("gateway-errors"))
	_, longestWrite := failures(api, "DELETE", func(n int) string { return fmt.Sprintf("/ssh-keys/%d", n) }, nil)
	reads, longest := failures(api, "GET", func(n int) string { return fmt.Sprintf("/instances?limit=%d", n+1) }, nil)
	foreign4xx := reads[403] + reads[404] + reads[409] + reads[422]
	if longestWrite > 2 || longest > 2 || reads[502]+reads[504] == 0 || reads[500] == 0 || foreign4xx == 0 {
		t.Errorf("at most %d and %d failures in a row, %v", longestWrite, longest, reads)
	}
	for _, request := range api.Requests() {
		if request.Status == 0 {
			t.Error("the request log misses a status")
		}
	}
}

// The outcome of a failed creation without an idempotency key is unknown, so no quirk makes one fail.
func TestQuirks_SpareCreationsWithoutKeys(t *testing.T) {
	api := newClient(t, withQuirks("status-after-work", "gateway-errors"))
	for path, body := range map[string]object{
		"/ssh-keys":  {"public_key": publicKey(1)},
		"/templates": {"name": "own", "image": "alpine:3.20"},
		"/api-keys":  {"name": "k", "scopes": []string{"user:read"}},
	} {
		for range 15 {
			equal(t, "status of POST "+path, api.try("POST", path, body).status, 201)
		}
	}
}

// After a cut on a used connection, the next new connection is cut, too. Otherwise the transport, which retries on a
// new connection, would hide every cut.
func TestQuirk_StatusAfterWork_ReusedConnection(t *testing.T) {
	set := quirks.New()
	server, err := set.Start(t.Context(), simulator.Config{Seed: 7, Clock: simulator.ClockManual, APIKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.SetRateLimit(0, 0)
	path := "/instances/" + clientOf(t, server.Simulator, testKey).createInstance(nil).text("id")
	set.Switch("status-after-work")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	send := func(method, path, body, key string) (status int, err error) {
		req, err := http.NewRequestWithContext(t.Context(), method, server.BaseURL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+server.APIKey)
		req.Header.Set("Content-Type", "application/json")
		if key != "" { // with it, the transport retries a write by itself
			req.Header.Set("Idempotency-Key", key)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, err
	}
	body := func(n int) string { return fmt.Sprintf(`{"name":"n%d"}`, n) }
	longest := 0
	for n := range 200 {
		for inRow := 1; ; inRow++ {
			if status, err := send("PATCH", path, body(n), ""); err == nil && status < 500 {
				break
			}
			longest = max(longest, inRow)
		}
	}
	if longest != 2 {
		t.Errorf("at most %d failures in a row without an idempotency key, want 2", longest)
	}
	server.ClearRequests()
	seen, made := 0, 0
	for n := range 200 {
		if _, err := send("GET", "/me", "", ""); err != nil { // leaves a used connection
			t.Fatal(err)
		}
		if _, err := send("PATCH", path, body(1000+n), fmt.Sprint(n)); err != nil {
			seen++
		}
	}
	for _, request := range server.Requests() {
		if request.Status == 0 {
			made++
		}
	}
	if seen == 0 || made != 2*seen {
		t.Errorf("the client saw %d cuts, the service made %d: want two for each that is seen", seen, made)
	}
}
