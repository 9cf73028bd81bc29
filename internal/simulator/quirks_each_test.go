package simulator_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// One test for each quirk: it does what is in its description, and nothing else.

func TestQuirk_SmallPages(t *testing.T) {
	r := newRig(t, withQuirks("small-pages"))
	var p page[offer]
	if r.get("/offers?limit=200").want(200).into(&p); len(p.Data) != 3 || p.NextCursor == nil {
		t.Errorf("a page of %d, next %v", len(p.Data), p.NextCursor)
	}
	small, all := list[offer](r, "/offers?gpu=rtx_4090", 3), list[offer](newRig(t), "/offers?gpu=rtx_4090", 50)
	if len(small) != len(all) {
		t.Errorf("%d offers in small pages, want %d", len(small), len(all))
	}
	r.get("/offers?limit=201").failsWith("validation_error")
}

func TestQuirk_PriceMovesOnCreate(t *testing.T) {
	r := newRig(t, withQuirks("price-moves-on-create"))
	moves := map[bool]int{}
	for n, o := range list[offer](r, "/offers?num_gpus=1", 50)[:8] {
		var i instance
		r.rent(fmt.Sprint(n), object{"offer_id": o.ID, "disk_gb": 10, "template": "ubuntu"}).want(201).into(&i)
		by := i.Price.Running - o.Price.OnDemand
		moves[by > 0]++
		if by == 0 || 25*max(by, -by) > o.Price.OnDemand {
			t.Errorf("%d for an offer of %d", i.Price.Running, o.Price.OnDemand)
		}
	}
	if len(moves) != 2 {
		t.Errorf("the price moves in one direction only: %v", moves)
	}
}

func TestQuirk_PriceMovesOnStart(t *testing.T) {
	r := newRig(t, withQuirks("price-moves-on-start"))
	i := r.running("a", nil)
	moves := map[bool]int{}
	for range 2 {
		r.action(i.ID, "stop").want(200)
		r.Advance(bootComplete)
		r.action(i.ID, "start").want(200)
		r.Advance(bootComplete)
		after := r.instance(i.ID)
		by := after.Price.Running - i.Price.Running
		moves[by > 0]++
		if b := r.balance(); by == 0 || 25*max(by, -by) > i.Price.Running || b.Burn != after.Price.Running {
			t.Errorf("%d after %d, burn %d", after.Price.Running, i.Price.Running, b.Burn)
		}
		i = after
	}
	if len(moves) != 2 {
		t.Error("the price moved twice in one direction")
	}
}

func TestQuirk_OutbidSoonAfterStart(t *testing.T) {
	r := newRig(t, withQuirks("outbid-soon-after-start"))
	if i := r.running("demand", nil); i.Status != "running" {
		t.Errorf("on demand: %s", i.Status)
	}
	i := r.running("bid", object{"type": "interruptible"})
	if i.Status != "outbid" || i.StartedAt == nil || i.SSH != nil {
		t.Fatalf("%s, started %v, SSH %v", i.Status, i.StartedAt, i.SSH)
	}
	r.action(i.ID, "start").want(200)
	r.Advance(bootComplete)
	if again := r.instance(i.ID); again.Status != "running" || again.SSH == nil ||
		again.Price.Running <= i.Price.Running {
		t.Errorf("after the next start: %+v", again)
	}
}

func TestQuirk_ForbiddenBalance(t *testing.T) {
	r := newRig(t, withQuirks("forbidden-balance"))
	r.get("/balance").failsWith("forbidden")
	r.as("").get("/balance").failsWith("unauthorized")
	r.get("/transactions").want(200)
}

func TestQuirk_LimitHeadersAbsent(t *testing.T) {
	r := newRig(t, withQuirks("limit-headers-absent"))
	r.SetRateLimit(2, 2)
	for n, path := range []string{"/me", "/instances/none", "/me"} {
		a := r.get(path).want([]int{200, 404, 429}[n])
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
	r := newRig(t, withQuirks("lagging-list"))
	count := func() int {
		return len(r.list("/templates")) + len(r.listInPages("/ssh-keys", 50, nil)) + len(r.listInPages("/instances", 50, nil))
	}
	before := count()
	var i instance
	r.rent("a", nil).want(201).into(&i)
	r.post("/templates", object{"name": "own", "image": "a:1"}).want(201)
	r.post("/ssh-keys", object{"public_key": ed25519A}).want(201)
	r.get("/instances/" + i.ID).want(200)
	for _, step := range []struct {
		wait time.Duration
		want int
	}{{2900 * time.Millisecond, before}, {10 * time.Second, before + 3}} {
		r.Advance(step.wait)
		if got := count(); got != step.want {
			t.Errorf("%d items are listed, want %d", got, step.want)
		}
	}
}

func TestQuirk_LaggingGet(t *testing.T) {
	r := newRig(t, withQuirks("lagging-get"))
	var i instance
	r.rent("a", nil).want(201).into(&i)
	for _, method := range []string{"GET", "DELETE"} {
		r.do(method, "/instances/"+i.ID, nil).failsWith("not_found")
	}
	r.Advance(3 * time.Second)
	r.get("/instances/" + i.ID).want(200)
}

func TestQuirk_LaggingStatus(t *testing.T) {
	r := newRig(t, withQuirks("lagging-status"))
	path := "/instances/" + r.running("a", nil).ID
	for _, step := range []struct{ method, path, before, after string }{
		{"POST", path + "/stop", "running", "stopped"}, {"POST", path + "/start", "stopped", "running"},
		{"DELETE", path, "running", "destroyed"},
	} {
		var i instance
		r.do(step.method, step.path, nil).want(200).into(&i)
		if step.method == "DELETE" && i.Status != "destroying" {
			t.Errorf("the response to DELETE: %s", i.Status)
		}
		r.Advance(1900 * time.Millisecond)
		for _, got := range append(list[instance](r, "/instances", 50), r.instance(i.ID)) {
			if got.Status != step.before {
				t.Errorf("%s %s: %s soon after it, want %s", step.method, step.path, got.Status, step.before)
			}
		}
		r.Advance(bootComplete)
		if got := r.instance(i.ID); got.Status != step.after {
			t.Errorf("%s %s: %s in the end, want %s", step.method, step.path, got.Status, step.after)
		}
	}
}

func TestQuirk_CachedOffers(t *testing.T) {
	r := newRig(t, withQuirks("cached-offers"))
	const query = "/offers?gpu=rtx_4090"
	first := list[offer](r, query, 200)
	path := "/offers/" + first[0].ID
	r.get(path).want(200)
	r.rent("a", object{"offer_id": first[0].ID}).want(201)
	for _, step := range []struct {
		wait time.Duration
		want bool
	}{{0, true}, {59 * time.Second, true}, {2 * time.Second, false}} {
		r.Advance(step.wait)
		var o offer
		r.get(path).want(200).into(&o)
		if listed := len(list[offer](r, query, 200)) == len(first); listed != step.want || o.Available != step.want {
			t.Errorf("%v later: listed %t, available %t", step.wait, listed, o.Available)
		}
	}
}

func TestQuirk_ForgottenKeys(t *testing.T) {
	r := newRig(t, withQuirks("forgotten-keys"))
	i := r.running("a", nil)
	rent := func(status int) string {
		t.Helper()
		var again instance
		r.rent("a", nil).want(status).into(&again)
		return again.ID
	}
	r.delete("/instances/" + i.ID).want(200)
	if rent(200) != i.ID {
		t.Error("the key was forgotten while the instance exists")
	}
	r.Advance(bootComplete)
	if next := rent(201); next == i.ID || rent(200) != next {
		t.Errorf("after %s is destroyed, the key rents %s", i.ID, next)
	}
}

func TestQuirk_FirstAnswerReplays(t *testing.T) {
	r := newRig(t, withQuirks("first-answer-replays"))
	first := r.rent("a", nil).want(201)
	var i instance
	first.into(&i)
	for _, status := range []string{"running", "failed", "destroyed"} {
		r.Advance(bootComplete)
		r.setInstance(i.ID, object{"status": status})
		again := r.rent("a", object{"name": "other"}).want(200)
		if string(again.raw) != string(first.raw) || again.header.Get("Idempotent-Replayed") != "true" ||
			r.instance(i.ID).Status != status {
			t.Errorf("%s: %s, first %s", status, again.raw, first.raw)
		}
	}
}

func TestQuirk_BusyWhileBooting(t *testing.T) {
	r := newRig(t, withQuirks("busy-while-booting"))
	var i instance
	r.rent("a", nil).want(201).into(&i)
	for _, status := range []string{"creating", "starting"} {
		r.delete("/instances/" + i.ID).failsWith("conflict")
		if now := r.instance(i.ID); now.Status != status || now.DesiredState != "running" {
			t.Errorf("%s, desired %s, want %s", now.Status, now.DesiredState, status)
		}
		r.Advance(boot / 2)
	}
	r.Advance(boot)
	r.delete("/instances/" + i.ID).want(200)
}

func TestQuirk_FailedIsBilled(t *testing.T) {
	r := newRig(t, withQuirks("failed-is-billed"))
	i := r.running("a", nil)
	r.setInstance(i.ID, object{"status": "failed"})
	before := r.balance()
	r.Advance(time.Hour)
	if after := r.balance(); before.Burn != i.Price.Running || after.Available != before.Available {
		t.Errorf("burn %d, want %d; an hour costs %d", before.Burn, i.Price.Running, before.Available-after.Available)
	}
	r.delete("/instances/" + i.ID).want(200)
	if b := r.balance(); b.Burn != 0 {
		t.Errorf("after the DELETE: burns %d", b.Burn)
	}
}

func TestQuirk_RefusedDisks(t *testing.T) {
	r := newRig(t, withQuirks("refused-disks"))
	offers := list[offer](r, "/offers?num_gpus=1", 50)[:30]
	refused := 0
	for n, o := range offers {
		body := object{"offer_id": o.ID, "disk_gb": 10, "template": "ubuntu"}
		if r.rent(fmt.Sprint(n), body).status == 201 {
			continue
		}
		refused++
		r.rent(fmt.Sprint("again ", n), body).invalid("disk_gb")
		var now offer
		if r.get("/offers/" + o.ID).want(200).into(&now); !now.Available {
			t.Errorf("offer %s is not available", o.ID)
		}
	}
	if refused < 4 || refused > 16 {
		t.Errorf("%d of %d offers are refused", refused, len(offers))
	}
}

func TestQuirk_PhantomOffers(t *testing.T) {
	r := newRig(t, withQuirks("phantom-offers"))
	servers := r.offers()
	const query = "/offers?gpu=rtx_4090&num_gpus=1"
	all := list[offer](r, query, 2)
	phantom := all[0]
	if len(all) != len(servers)+1 || all[1].ID != servers[0].ID ||
		phantom.Price.OnDemand >= servers[0].Price.OnDemand || phantom.GPU != servers[0].GPU {
		t.Fatalf("phantom %+v, the first offer is %+v", phantom, servers[0])
	}
	if last := list[offer](r, query+"&order=-price", 50); last[len(last)-1].ID != phantom.ID {
		t.Error("the other order does not end with the phantom")
	}
	if below := list[offer](r, fmt.Sprintf("%s&max_price_kop_h=%d", query, phantom.Price.OnDemand-1), 50); len(below) > 0 {
		t.Errorf("a phantom above the maximum price: %v", below)
	}
	r.rent("a", object{"offer_id": phantom.ID}).failsWith("conflict")
	var now offer
	if r.get("/offers/" + phantom.ID).want(200).into(&now); !now.Available {
		t.Error("GET returns the phantom as not available")
	}
	// It stays when no server with these properties is available.
	for _, o := range servers {
		r.setOffer(o.ID, object{"available": false})
	}
	if left := list[offer](r, query, 50); len(left) != 1 || left[0].ID != phantom.ID {
		t.Errorf("%v is left, want the phantom", left)
	}
}

func TestQuirk_ImageSpelling(t *testing.T) {
	r := newRig(t, withQuirks("image-spelling"))
	type template struct{ Slug, Image string }
	for image, want := range map[string][]string{
		"ubuntu:24.04":                      {"docker.io/library/ubuntu:24.04", "index.docker.io/library/ubuntu:24.04"},
		"pytorch/pytorch:2":                 {"docker.io/pytorch/pytorch:2", "index.docker.io/pytorch/pytorch:2"},
		"docker.io/library/ubuntu:1":        {"ubuntu:1"},
		"docker.io/a/b:1":                   {"a/b:1"},
		"registry.example:5000/team/tool:1": {"registry.example:5000/team/tool:1"},
	} {
		var created template
		r.post("/templates", object{"name": "own", "image": image}).want(201).into(&created)
		all := list[template](r, "/templates", 200)
		if !slices.Contains(want, created.Image) || all[len(all)-1] != created {
			t.Errorf("%s: created %v, listed %v", image, created, all[len(all)-1])
		}
	}
	if i := r.running("a", nil); !strings.Contains(i.Image, "docker.io/pytorch/") {
		t.Errorf("instance: %s", i.Image)
	}
}

func TestQuirk_OtherGPU(t *testing.T) {
	r := newRig(t, withQuirks("other-gpu"))
	var i struct{ GPU gpu }
	o := r.cheapest()[0]
	r.rent("a", nil).want(201).into(&i)
	if i.GPU.Slug == o.GPU.Slug || i.GPU.Count != o.GPU.Count || i.GPU.VRAMGB != o.GPU.VRAMGB {
		t.Errorf("%v for an offer of %v", i.GPU, o.GPU)
	}
}

func TestQuirk_UnknownEnums(t *testing.T) {
	r := newRig(t, withQuirks("unknown-enums"))
	for n := range 8 {
		r.post("/api-keys", object{"name": "k", "scopes": []string{"user:read"}}).want(201)
		r.rent(fmt.Sprint(n), object{"offer_id": list[offer](r, "/offers?num_gpus=1", 50)[0].ID, "template": "ubuntu"}).want(201)
	}
	unknown := func(path, field, known string) (n int) {
		for _, item := range r.list(path) {
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
		if n := unknown(c.path, c.field, c.known); n == 0 || n == len(r.list(c.path)) {
			t.Errorf("%s: %d values of %s are unknown", c.path, n, c.field)
		}
	}
	r.Advance(bootComplete)
	if n := unknown("/instances", "status", "running"); n > 0 {
		t.Errorf("%d instances without a pending change have an unknown status", n)
	}
}

func TestQuirk_OptionalFieldsAbsent(t *testing.T) {
	r := newRig(t, withQuirks("optional-fields-absent"))
	i := r.running("a", nil)
	const reads = 100
	present := map[string]int{}
	for range reads {
		var got object
		r.get("/instances/" + i.ID).want(200).into(&got)
		for field := range got {
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
	r := newRig(t, withQuirks("unknown-fields"))
	r.post("/templates", object{"name": "own", "image": "a:1", "env": object{"A": "1"}}).want(201)
	for _, path := range []string{"/me", "/templates", "/offers", "/instances/none"} {
		raw := string(r.get(path).raw)
		for _, field := range []string{`"x_text":"`, `"x_number":1e+30`, `"x_flag":true`, `"x_nothing":null`,
			`"x_list":[`, `"x_object":{`} {
			if !strings.Contains(raw, field) {
				t.Errorf("%s has no %s", path, field)
			}
		}
	}
	all := list[struct{ Env map[string]any }](r, "/templates", 200)
	if env := all[len(all)-1].Env; len(env) != 1 {
		t.Errorf("the environment of a template is %v", env)
	}
}

func TestQuirk_SortedDifferently(t *testing.T) {
	r := newRig(t, withQuirks("sorted-differently"))
	for path, want := range map[string]bool{"/templates": true, "/api-keys": true, "/offers": false,
		"/transactions": false} {
		orders := map[string]bool{}
		for range 10 {
			var p object
			r.get(path).want(200).into(&p)
			orders[fmt.Sprint(p["data"])] = true
		}
		if (len(orders) > 1) != want {
			t.Errorf("%s has %d orders", path, len(orders))
		}
	}
}

func TestQuirk_StrangeNeighbours(t *testing.T) {
	r := newRig(t, withQuirks("strange-neighbours"))
	mine := r.running("a", nil)
	statuses := map[string]bool{}
	all := list[instance](r, "/instances", 2)
	for _, i := range all {
		statuses[i.Status] = true
		if i.ID == mine.ID {
			continue
		}
		path := "/instances/" + i.ID
		r.get(path).want(200)
		r.post(path+"/start", nil).failsWith("conflict")
		r.post(path+"/stop", nil).failsWith("conflict")
		r.delete(path).failsWith("conflict")
	}
	if b := r.balance(); len(all) != 4 || !statuses["hibernating"] || b.Burn != mine.Price.Running {
		t.Errorf("%d instances, statuses %v, burn %d", len(all), statuses, b.Burn)
	}
	isForeign := func(o offer) bool { return o.Price.OnDemand < 0 }
	offers := list[offer](r, "/offers", 50)
	foreign := offers[slices.IndexFunc(offers, isForeign)]
	r.rent("b", object{"offer_id": foreign.ID}).failsWith("not_found")
	if slices.ContainsFunc(list[offer](r, "/offers?country=RU", 50), isForeign) {
		t.Error("a foreign offer passes a filter that it does not fit")
	}
	for path, want := range map[string]string{"/templates": "stranger-1", "/ssh-keys": "ssh_stranger1",
		"/api-keys": "key_stranger1"} {
		if raw := r.get(path).want(200).raw; !strings.Contains(string(raw), want) {
			t.Errorf("%s has no %s", path, want)
		}
		r.delete(path + "/" + want).failsWith("not_found")
	}
	r.as("").get("/instances?cursor=nb_1").failsWith("unauthorized")
}

// failures sends 60 requests until each has succeeded. It returns the counts of all statuses and the maximum of
// consecutive failures. At most one failure of a request may be a 4xx.
func failures(r *rig, method string, path func(n int) string, body any) (statuses map[int]int, longest int) {
	statuses = map[int]int{}
	for n := range 60 {
		foreign4xx := 0
		for inRow := 1; ; inRow++ {
			a := r.try(method, path(n), body)
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
			r.t.Errorf("%s %s: %d failures are a 4xx", method, path(n), foreign4xx)
		}
	}
	return statuses, longest
}

func TestQuirk_StatusAfterWork(t *testing.T) {
	r := newRig(t, withQuirks("status-after-work"))
	i := r.running("a", nil)
	path := "/instances/" + i.ID
	statuses, longest := failures(r, "PATCH", func(int) string { return path }, object{"name": "x"})
	for _, status := range []int{0, 500, 503, 502, 504, 200} {
		if statuses[status] == 0 || len(statuses) != 6 || longest != 2 {
			t.Errorf("status %d: %v, at most %d failures in a row", status, statuses, longest)
		}
	}
	// The work is done whatever the response is.
	for n := range 30 {
		name := fmt.Sprint("name ", n)
		r.try("PATCH", path, object{"name": name})
		var now instance
		if r.withoutQuirks(path).into(&now); now.Name == nil || *now.Name != name {
			t.Fatalf("the name is %v after a PATCH to %q", now.Name, name)
		}
	}
	// A refusal is not replaced.
	for range 20 {
		r.delete("/ssh-keys/none").failsWith("not_found")
	}
}

func TestQuirk_GatewayErrors(t *testing.T) {
	r := newRig(t, withQuirks("gateway-errors"))
	_, longestWrite := failures(r, "DELETE", func(n int) string { return fmt.Sprintf("/ssh-keys/%d", n) }, nil)
	reads, longest := failures(r, "GET", func(n int) string { return fmt.Sprintf("/instances?limit=%d", n+1) }, nil)
	foreign4xx := reads[403] + reads[404] + reads[409] + reads[422]
	if longestWrite > 2 || longest > 2 || reads[502]+reads[504] == 0 || reads[500] == 0 || foreign4xx == 0 {
		t.Errorf("at most %d and %d failures in a row, %v", longestWrite, longest, reads)
	}
	for _, request := range r.Requests() {
		if request.Status == 0 {
			t.Error("the request log misses a status")
		}
	}
}

// After a cut on a used connection, the next new connection is cut, too. Otherwise the transport, which retries on a
// new connection, would hide every cut.
func TestQuirk_StatusAfterWork_ReusedConnection(t *testing.T) {
	server := start(t, simulator.Config{Seed: 7, Clock: simulator.ClockManual, Quirks: []string{"status-after-work"}})
	server.SetRateLimit(0, 0)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	send := func(method, path, body, key string) (status int, err error) {
		req, err := http.NewRequestWithContext(t.Context(), method, server.BaseURL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+server.APIKey)
		req.Header.Set("Content-Type", "application/json")
		if key != "" { // with it, the transport retries a POST by itself
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
	body := func(n int) string { return fmt.Sprintf(`{"name":"n%d","public_key":%q}`, n, ed25519A) }
	longest := 0
	for n := range 200 {
		for inRow := 1; ; inRow++ {
			if status, err := send("POST", "/ssh-keys", body(n), ""); err == nil && status < 500 {
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
		if _, err := send("POST", "/ssh-keys", body(1000+n), fmt.Sprint(n)); err != nil {
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
