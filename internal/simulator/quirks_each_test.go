package simulator_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestQuirk_SmallPages(t *testing.T) {
	r := newRig(t, withQuirks("small-pages"))
	var p page[offer]
	r.do("GET", "/offers?limit=200", nil).want(200).into(&p)
	if len(p.Data) != 3 || p.NextCursor == nil {
		t.Errorf("a page of %d, next %v", len(p.Data), p.NextCursor)
	}
	seen := map[string]bool{}
	for _, o := range list[offer](r, "/offers?gpu=rtx_4090", 3) {
		seen[o.ID] = true
	}
	if want := len(list[offer](newRig(t), "/offers?gpu=rtx_4090", 50)); len(seen) != want {
		t.Errorf("%d offers in small pages, want %d", len(seen), want)
	}
	r.do("GET", "/offers?limit=201", nil).refused(422, "validation_error")
}

func TestQuirk_PriceMovesOnCreate(t *testing.T) {
	r := newRig(t, withQuirks("price-moves-on-create"))
	higher, lower := 0, 0
	for n, o := range list[offer](r, "/offers?num_gpus=1", 50)[:8] {
		var i instance
		r.rent(fmt.Sprint(n), m{"offer_id": o.ID, "disk_gb": 10, "template": "ubuntu"}).want(201).into(&i)
		switch by := i.Price.Running - o.Price.OnDemand; {
		case by == 0 || 25*max(by, -by) > o.Price.OnDemand:
			t.Errorf("%d for an offer of %d", i.Price.Running, o.Price.OnDemand)
		case by > 0:
			higher++
		default:
			lower++
		}
	}
	if higher == 0 || lower == 0 {
		t.Errorf("%d times higher and %d times lower", higher, lower)
	}
}

func TestQuirk_PriceMovesOnStart(t *testing.T) {
	r := newRig(t, withQuirks("price-moves-on-start"))
	i := r.running("a", nil)
	var directions []bool
	for range 2 {
		r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
		r.Advance(bootComplete)
		r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
		r.Advance(bootComplete)
		after := r.instance(i.ID)
		if after.Price.Running == i.Price.Running {
			t.Fatal("a start left the price")
		}
		directions = append(directions, after.Price.Running > i.Price.Running)
		i = after
	}
	if directions[0] == directions[1] {
		t.Error("the price moved twice in one direction")
	}
	if b := r.balance(); b.Burn != i.Price.Running {
		t.Errorf("burns %d at a price of %d", b.Burn, i.Price.Running)
	}
}

func TestQuirk_OutbidSoonAfterStart(t *testing.T) {
	r := newRig(t, withQuirks("outbid-soon-after-start"))
	if i := r.running("demand", nil); i.Status != "running" {
		t.Errorf("on demand: %s", i.Status)
	}
	i := r.running("bid", m{"type": "interruptible"})
	if i.Status != "outbid" || i.StartedAt == nil || i.SSH != nil {
		t.Fatalf("%s, started %v, SSH %v", i.Status, i.StartedAt, i.SSH)
	}
	r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
	r.Advance(bootComplete)
	if again := r.instance(i.ID); again.Status != "running" || again.SSH == nil ||
		again.Price.Running <= i.Price.Running {
		t.Errorf("after the next start: %s, SSH %v, price %d after %d", again.Status, again.SSH, again.Price.Running,
			i.Price.Running)
	}
}

func TestQuirk_ForbiddenBalance(t *testing.T) {
	r := newRig(t, withQuirks("forbidden-balance"))
	r.do("GET", "/balance", nil).refused(403, "forbidden")
	r.as("").do("GET", "/balance", nil).refused(401, "unauthorized")
	r.do("GET", "/transactions", nil).want(200)
}

func TestQuirk_LimitHeadersAbsent(t *testing.T) {
	r := newRig(t, withQuirks("limit-headers-absent"))
	r.SetRateLimit(2, 2)
	for _, status := range []int{200, 404, 429} {
		path := map[int]string{200: "/me", 404: "/instances/none", 429: "/me"}[status]
		a := r.do("GET", path, nil).want(status)
		for name := range a.header {
			if strings.HasPrefix(name, "X-Ratelimit") {
				t.Errorf("%d has %s", status, name)
			}
		}
		if (a.header.Get("Retry-After") != "") != (status == 429) {
			t.Errorf("%d: Retry-After %q", status, a.header.Get("Retry-After"))
		}
	}
}

func TestQuirk_LaggingList(t *testing.T) {
	r := newRig(t, withQuirks("lagging-list"))
	var i instance
	r.rent("a", nil).want(201).into(&i)
	if left := list[instance](r, "/instances", 50); len(left) != 0 {
		t.Errorf("the list has the new instance at once: %v", left)
	}
	r.do("GET", "/instances/"+i.ID, nil).want(200)
	r.do("POST", "/templates", m{"name": "own", "image": "a:1"}).want(201)
	r.do("POST", "/ssh-keys", m{"public_key": ed25519A}).want(201)
	count := func() int {
		return len(list[m](r, "/templates", 200)) + len(list[m](r, "/ssh-keys", 50)) + len(list[m](r, "/instances", 50))
	}
	before := count()
	r.Advance(13 * 1e9)
	if got := count(); got != before+3 {
		t.Errorf("%d items later, %d at first: want 3 more", got, before)
	}
}

func TestQuirk_LaggingGet(t *testing.T) {
	r := newRig(t, withQuirks("lagging-get"))
	var i instance
	r.rent("a", nil).want(201).into(&i)
	for _, method := range []string{"GET", "DELETE"} {
		r.do(method, "/instances/"+i.ID, nil).refused(404, "not_found")
	}
	r.Advance(3e9)
	r.do("GET", "/instances/"+i.ID, nil).want(200)
}

func TestQuirk_ForgottenKeys(t *testing.T) {
	r := newRig(t, withQuirks("forgotten-keys"))
	i := r.running("a", nil)
	var again instance
	r.rent("a", nil).want(200).into(&again)
	r.do("DELETE", "/instances/"+i.ID, nil).want(200)
	r.rent("a", nil).want(200)
	r.Advance(bootComplete)
	var next instance
	r.rent("a", nil).want(201).into(&next)
	if again.ID != i.ID || next.ID == i.ID {
		t.Errorf("%s, then %s while it exists and %s after it is destroyed", i.ID, again.ID, next.ID)
	}
	r.rent("a", nil).want(200).into(&again)
	if again.ID != next.ID {
		t.Errorf("a repeat returns %s, want %s", again.ID, next.ID)
	}
}

func TestQuirk_FirstAnswerReplays(t *testing.T) {
	r := newRig(t, withQuirks("first-answer-replays"))
	first := r.rent("a", nil).want(201)
	var i instance
	first.into(&i)
	for _, status := range []string{"running", "failed", "destroyed"} {
		r.Advance(bootComplete)
		if err := r.SetInstance(i.ID, simulator.InstancePatch{Status: &status}); err != nil {
			t.Fatal(err)
		}
		again := r.rent("a", m{"name": "other"}).want(200)
		if string(again.raw) != string(first.raw) || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: %s, first %s", status, again.raw, first.raw)
		}
		if now := r.instance(i.ID); now.Status != status {
			t.Errorf("GET returns %s, want %s", now.Status, status)
		}
	}
}

func TestQuirk_BusyWhileBooting(t *testing.T) {
	r := newRig(t, withQuirks("busy-while-booting"))
	var i instance
	r.rent("a", nil).want(201).into(&i)
	for _, status := range []string{"creating", "starting"} {
		r.do("DELETE", "/instances/"+i.ID, nil).refused(409, "conflict")
		if now := r.instance(i.ID); now.Status != status || now.DesiredState != "running" {
			t.Errorf("%s, desired %s, want %s", now.Status, now.DesiredState, status)
		}
		r.Advance(boot / 2)
	}
	r.Advance(boot)
	r.do("DELETE", "/instances/"+i.ID, nil).want(200)
}

func TestQuirk_FailedIsBilled(t *testing.T) {
	r := newRig(t, withQuirks("failed-is-billed"))
	first, second := r.running("a", nil), r.running("b", nil)
	if err := r.SetInstance(first.ID, simulator.InstancePatch{Status: new("failed")}); err != nil {
		t.Fatal(err)
	}
	before := r.balance()
	if want := first.Price.Running + second.Price.Running; before.Burn != want {
		t.Errorf("burns %d, want %d", before.Burn, want)
	}
	r.Advance(3600e9)
	if spent := before.Available - r.balance().Available; spent > second.Price.Running+1 {
		t.Errorf("an hour costs %d, want the price of the second one, %d", spent, second.Price.Running)
	}
	r.do("DELETE", "/instances/"+first.ID, nil).want(200)
	if b := r.balance(); b.Burn != second.Price.Running {
		t.Errorf("after the DELETE: burns %d, want %d", b.Burn, second.Price.Running)
	}
}

func TestQuirk_RefusedDisks(t *testing.T) {
	r := newRig(t, withQuirks("refused-disks"))
	offers := list[offer](r, "/offers?num_gpus=1", 50)[:30]
	refused := 0
	for n, o := range offers {
		body := m{"offer_id": o.ID, "disk_gb": 10, "template": "ubuntu"}
		a := r.rent(fmt.Sprint(n), body)
		if a.status == 201 {
			continue
		}
		a.invalid("disk_gb")
		refused++
		r.rent(fmt.Sprint("again ", n), body).invalid("disk_gb")
		var now offer
		if r.do("GET", "/offers/"+o.ID, nil).want(200).into(&now); !now.Available {
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
	phantoms := func(path string) (found []offer) {
		t.Helper()
		for _, o := range list[offer](r, path, 2) {
			if !slices.ContainsFunc(servers, func(other offer) bool { return other.ID == o.ID }) {
				found = append(found, o)
			}
		}
		return found
	}
	const query = "/offers?gpu=rtx_4090&num_gpus=1"
	found := phantoms(query)
	if len(found) != 1 || found[0].Price.OnDemand >= servers[0].Price.OnDemand || found[0].GPU != servers[0].GPU {
		t.Fatalf("phantoms %+v, the first offer is %+v", found, servers[0])
	}
	phantom := found[0]
	if first := list[offer](r, query, 50)[0]; first.ID != phantom.ID {
		t.Errorf("the list begins with %s, want the phantom", first.ID)
	}
	if last := list[offer](r, query+"&order=-price", 50); last[len(last)-1].ID != phantom.ID {
		t.Errorf("the other order ends with %s, want the phantom", last[len(last)-1].ID)
	}
	if above := phantoms(fmt.Sprintf("%s&max_price_kop_h=%d", query, phantom.Price.OnDemand-1)); len(above) > 0 {
		t.Errorf("phantoms above the maximum price: %v", above)
	}
	r.rent("a", m{"offer_id": phantom.ID}).refused(409, "conflict")
	var now offer
	if r.do("GET", "/offers/"+phantom.ID, nil).want(200).into(&now); !now.Available {
		t.Error("GET returns the phantom as not available")
	}
	// It stays when no server with these properties is available.
	for _, o := range servers {
		if err := r.SetOffer(o.ID, simulator.OfferPatch{Available: new(false)}); err != nil {
			t.Fatal(err)
		}
	}
	if left := list[offer](r, query, 50); len(left) != 1 || left[0].ID != phantom.ID {
		t.Errorf("%v is left, want the phantom", left)
	}
	if err := r.SetQuirks(); err != nil {
		t.Fatal(err)
	}
	r.do("GET", "/offers/"+phantom.ID, nil).refused(404, "not_found")
}

func TestQuirk_CachedOffers(t *testing.T) {
	r := newRig(t, withQuirks("cached-offers"))
	first := list[offer](r, "/offers?gpu=rtx_4090", 200)
	id := first[0].ID
	r.do("GET", "/offers/"+id, nil).want(200)
	r.rent("a", m{"offer_id": id}).want(201)
	shows := func(want bool) {
		t.Helper()
		listed := list[offer](r, "/offers?gpu=rtx_4090", 200)
		var one m
		r.do("GET", "/offers/"+id, nil).want(200).into(&one)
		if (len(listed) == len(first)) != want || one["available"] != want {
			t.Errorf("%d of %d listed, available %v, want %t", len(listed), len(first), one["available"], want)
		}
	}
	shows(true)
	r.Advance(59 * 1e9)
	shows(true)
	r.Advance(2 * 1e9)
	shows(false)
}

func TestQuirk_LaggingStatus(t *testing.T) {
	r := newRig(t, withQuirks("lagging-status"))
	i := r.running("a", nil)
	shows := func(want string) {
		t.Helper()
		listed := list[instance](r, "/instances", 50)
		if got := r.instance(i.ID); got.Status != want || len(listed) == 1 && listed[0].Status != want {
			t.Errorf("%s and listed %v, want %s", got.Status, listed, want)
		}
	}
	r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
	r.Advance(1.9e9)
	shows("running")
	r.Advance(6.2e9)
	shows("stopped")
	r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
	r.Advance(1.9e9)
	shows("stopped")
	r.Advance(bootComplete)
	shows("running")
	var response instance
	r.do("DELETE", "/instances/"+i.ID, nil).want(200).into(&response)
	if response.Status != "destroying" {
		t.Errorf("the response to DELETE: %s", response.Status)
	}
	r.Advance(1.9e9)
	shows("running")
	r.Advance(6.2e9)
	if got := r.instance(i.ID); got.Status != "destroyed" {
		t.Errorf("in the end: %s", got.Status)
	}
}

func TestQuirk_ImageSpelling(t *testing.T) {
	r := newRig(t, withQuirks("image-spelling"))
	for image, want := range map[string][]string{
		"ubuntu:24.04":                      {"docker.io/library/ubuntu:24.04", "index.docker.io/library/ubuntu:24.04"},
		"pytorch/pytorch:2":                 {"docker.io/pytorch/pytorch:2", "index.docker.io/pytorch/pytorch:2"},
		"docker.io/library/ubuntu:1":        {"ubuntu:1"},
		"docker.io/a/b:1":                   {"a/b:1"},
		"registry.example:5000/team/tool:1": {"registry.example:5000/team/tool:1"},
	} {
		var created, listed struct{ Slug, Image string }
		r.do("POST", "/templates", m{"name": "own", "image": image}).want(201).into(&created)
		for _, item := range list[struct{ Slug, Image string }](r, "/templates", 200) {
			if item.Slug == created.Slug {
				listed = item
			}
		}
		if !slices.Contains(want, created.Image) || listed != created {
			t.Errorf("%s: created %v, listed %v", image, created, listed)
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
	has := func(path, field, known string) {
		t.Helper()
		unknown := 0
		for _, item := range list[m](r, path, 200) {
			if value, _ := item[field].(string); value != "" && !strings.Contains(known, value) {
				unknown++
			}
		}
		if unknown == 0 {
			t.Errorf("%s: every %s is known", path, field)
		}
	}
	has("/gpus", "tier", "consumer workstation datacenter legacy")
	has("/templates", "launch_mode", "ssh jupyter entrypoint")
	for range 6 {
		r.do("POST", "/api-keys", m{"name": "k", "scopes": []string{"user:read"}}).want(201)
	}
	has("/api-keys", "source", "console cli api")
	const statuses = "creating starting running stopping stopped destroying destroyed failed outbid"
	unknown := 0
	for n := range 8 {
		var i instance
		r.rent(fmt.Sprint(n), m{"offer_id": list[offer](r, "/offers?num_gpus=1", 50)[0].ID,
			"template": "ubuntu"}).want(201).into(&i)
		if !strings.Contains(statuses, i.Status) {
			unknown++
		}
		r.Advance(bootComplete)
		if i = r.instance(i.ID); i.Status != "running" {
			t.Errorf("an instance without a pending change is %s", i.Status)
		}
	}
	if unknown == 0 || unknown == 8 {
		t.Errorf("%d of 8 new instances have an unknown status", unknown)
	}
}

func TestQuirk_OptionalFieldsAbsent(t *testing.T) {
	r := newRig(t, withQuirks("optional-fields-absent"))
	i := r.running("a", nil)
	absent := map[string]int{}
	const reads = 100
	for range reads {
		var got m
		r.do("GET", "/instances/"+i.ID, nil).want(200).into(&got)
		for _, field := range strings.Fields("id status type gpu price name desired_state template image " +
			"ssh urls stop_reason") {
			if _, has := got[field]; !has {
				absent[field]++
			}
		}
	}
	for _, field := range strings.Fields("id status type gpu price") {
		if absent[field] > 0 {
			t.Errorf("%s is required, and absent %d times", field, absent[field])
		}
	}
	if absent["stop_reason"] != reads || absent["name"] != reads {
		t.Errorf("null fields are absent %d and %d of %d times", absent["stop_reason"], absent["name"], reads)
	}
	for _, field := range strings.Fields("desired_state template image ssh urls") {
		if absent[field] == 0 || absent[field] > reads/4 {
			t.Errorf("%s is absent %d of %d times", field, absent[field], reads)
		}
	}
}

func TestQuirk_UnknownFields(t *testing.T) {
	r := newRig(t, withQuirks("unknown-fields"))
	r.do("POST", "/templates", m{"name": "own", "image": "a:1", "env": m{"A": "1"}}).want(201)
	for _, path := range []string{"/me", "/templates", "/offers", "/instances/none"} {
		raw := string(r.do("GET", path, nil).raw)
		for _, field := range []string{`"x_text":"`, `"x_number":1e+30`, `"x_flag":true`, `"x_nothing":null`,
			`"x_list":[`, `"x_object":{`} {
			if !strings.Contains(raw, field) {
				t.Errorf("%s has no %s", path, field)
			}
		}
	}
	for _, template := range list[struct{ Env map[string]string }](r, "/templates", 200) {
		for name := range template.Env {
			if strings.HasPrefix(name, "x_") {
				t.Error("the environment of a template has another variable")
			}
		}
	}
}

func TestQuirk_SortedDifferently(t *testing.T) {
	r := newRig(t, withQuirks("sorted-differently"))
	orders := func(path string) (n int) {
		seen := map[string]bool{}
		for range 10 {
			var p page[m]
			r.do("GET", path, nil).want(200).into(&p)
			var names []string
			for _, item := range p.Data {
				names = append(names, fmt.Sprint(item["id"], item["slug"]))
			}
			seen[strings.Join(names, " ")] = true
		}
		return len(seen)
	}
	if n := orders("/templates"); n < 2 {
		t.Error("templates have one order")
	}
	if n := orders("/offers"); n > 1 {
		t.Errorf("offers have %d orders: the document defines it", n)
	}
	scopes := map[string]bool{}
	for range 10 {
		scopes[fmt.Sprint(list[m](r, "/api-keys", 50)[0]["scopes"])] = true
	}
	if len(scopes) < 2 {
		t.Error("scopes have one order")
	}
}

func TestQuirk_StrangeNeighbours(t *testing.T) {
	r := newRig(t, withQuirks("strange-neighbours"))
	mine := r.running("a", nil)
	statuses := map[string]bool{}
	strangers := 0
	for _, i := range list[instance](r, "/instances", 2) {
		statuses[i.Status] = true
		if i.ID == mine.ID {
			continue
		}
		strangers++
		r.do("GET", "/instances/"+i.ID, nil).want(200)
		for _, action := range []string{"/start", "/stop"} {
			r.do("POST", "/instances/"+i.ID+action, nil).refused(409, "conflict")
		}
		r.do("DELETE", "/instances/"+i.ID, nil).refused(409, "conflict")
	}
	if strangers != 3 || !statuses["hibernating"] || !statuses["running"] {
		t.Errorf("%d strangers, statuses %v", strangers, statuses)
	}
	if b := r.balance(); b.Burn != mine.Price.Running {
		t.Errorf("burn is %d: the strangers are billed", b.Burn)
	}
	offers := list[offer](r, "/offers", 50)
	last := offers[len(offers)-2]
	if last.Price.OnDemand >= 0 {
		t.Errorf("the last offer but one costs %d", last.Price.OnDemand)
	}
	r.rent("b", m{"offer_id": last.ID}).refused(404, "not_found")
	if all := list[offer](r, "/offers?country=RU", 50); slices.ContainsFunc(all,
		func(o offer) bool { return o.Price.OnDemand < 0 }) {
		t.Error("a stranger passes a filter that it does not fit")
	}
	for path, want := range map[string]string{"/templates": "stranger-1", "/ssh-keys": "ssh_stranger1",
		"/api-keys": "key_stranger1"} {
		if raw := r.do("GET", path, nil).want(200).raw; !strings.Contains(string(raw), want) {
			t.Errorf("%s has no %s", path, want)
		}
		r.do("DELETE", path+"/"+want, nil).refused(404, "not_found")
	}
	r.as("").do("GET", "/instances?cursor=nb_1", nil).refused(401, "unauthorized")
}

// consecutiveFailures sends writes until each has succeeded. It returns the counts of all statuses and the maximum of
// consecutive failures.
func consecutiveFailures(r *rig, method string, path func(n int) string, body any) (statuses map[string]int,
	longest int) {
	statuses = map[string]int{}
	for n := range 60 {
		inRow := 0
		for {
			a := r.try(method, path(n), body)
			kind := fmt.Sprintf("%d %v", a.status, a.isForeign())
			statuses[kind]++
			if a.status != 0 && a.status < 500 && !a.isForeign() {
				break
			}
			inRow++
			longest = max(longest, inRow)
		}
	}
	return statuses, longest
}

func TestQuirk_StatusAfterWork(t *testing.T) {
	r := newRig(t, withQuirks("status-after-work"))
	i := r.running("a", nil)
	statuses, longest := consecutiveFailures(r, "PATCH", func(int) string { return "/instances/" + i.ID },
		m{"name": "x"})
	for _, kind := range []string{"0 false", "500 true", "503 true", "502 true", "504 true", "200 false"} {
		if statuses[kind] == 0 {
			t.Errorf("never %s: %v", kind, statuses)
		}
	}
	if failed := len(statuses); longest != 2 || failed != 6 {
		t.Errorf("at most %d failures in a row, want 2: %v", longest, statuses)
	}
	// The work is done whatever the response is.
	for n := range 30 {
		name := fmt.Sprint("name ", n)
		r.try("PATCH", "/instances/"+i.ID, m{"name": name})
		var now instance
		r.withoutQuirks("/instances/" + i.ID).into(&now)
		if now.Name == nil || *now.Name != name {
			t.Fatalf("the name is %v after a PATCH to %q", now.Name, name)
		}
	}
	// A refusal is not replaced.
	for range 20 {
		r.do("DELETE", "/ssh-keys/none", nil).refused(404, "not_found")
	}
}

func TestQuirk_GatewayErrors(t *testing.T) {
	r := newRig(t, withQuirks("gateway-errors"))
	statuses, longest := consecutiveFailures(r, "DELETE", func(n int) string { return fmt.Sprintf("/ssh-keys/%d", n) },
		nil)
	statusesOfReads, mostOfReads := consecutiveFailures(r, "GET",
		func(n int) string { return fmt.Sprintf("/instances?limit=%d", n+1) }, nil)
	if longest > 2 || mostOfReads > 2 {
		t.Errorf("%d and %d failures in a row", longest, mostOfReads)
	}
	foreign4xx := 0
	for kind, n := range statusesOfReads {
		statuses[kind] += n
		if strings.HasPrefix(kind, "4") && strings.HasSuffix(kind, "true") {
			foreign4xx += n
		}
	}
	if statuses["504 true"]+statuses["502 true"] == 0 || statuses["500 true"] == 0 || foreign4xx == 0 {
		t.Errorf("not every kind: %v", statuses)
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
	server, err := simulator.Start(t.Context(), simulator.Config{
		Seed: 7, Clock: simulator.ClockManual, Market: simulator.MarketStill, APIKey: testKey,
		Quirks: []string{"status-after-work"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.SetRateLimit(0, 0)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	send := func(method, path, body, key string) error {
		req, err := http.NewRequestWithContext(t.Context(), method, server.BaseURL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+testKey)
		req.Header.Set("Content-Type", "application/json")
		if key != "" { // with it, the transport retries a POST by itself
			req.Header.Set("Idempotency-Key", key)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, err = io.Copy(io.Discard, resp.Body); err == nil && resp.StatusCode >= 500 {
			return fmt.Errorf("status %d", resp.StatusCode)
		}
		return err
	}
	failsInRow := 0
	for n := range 200 {
		for inRow := 1; send("PATCH", "/instances/none", fmt.Sprintf(`{"name":"%d"}`, n), "") != nil; inRow++ {
			failsInRow = max(failsInRow, inRow)
		}
		for inRow := 1; send("POST", "/ssh-keys", fmt.Sprintf(`{"name":"n%d","public_key":%q}`, n, ed25519A),
			"") != nil; inRow++ {
			failsInRow = max(failsInRow, inRow)
		}
	}
	if failsInRow != 2 {
		t.Errorf("at most %d failures in a row without an idempotency key, want 2", failsInRow)
	}
	server.ClearRequests()
	cut := 0
	for n := range 200 {
		// This leaves a used connection.
		if err := send("GET", "/me", "", ""); err != nil {
			t.Fatal(err)
		}
		if err := send("POST", "/ssh-keys", fmt.Sprintf(`{"name":"k%d","public_key":%q}`, n, ed25519A),
			fmt.Sprint(n)); err != nil && !strings.HasPrefix(err.Error(), "status") {
			cut++
		}
	}
	inLog := 0
	for _, request := range server.Requests() {
		if request.Status == 0 {
			inLog++
		}
	}
	if cut == 0 || inLog != 2*cut {
		t.Errorf("the client saw %d cuts, the service made %d: want two for each that is seen", cut, inLog)
	}
}

func TestQuirks_AllMatchContract(t *testing.T) {
	check := newBodyChecker(t)
	r := newRig(t, withQuirks("all"))
	for _, line := range runScenario(r) {
		method, rest, _ := strings.Cut(line, " ")
		path, rest, ok := strings.Cut(rest, " ")
		at := strings.Index(rest, "{")
		if !ok || at < 0 || !strings.HasPrefix(rest, "2") {
			continue
		}
		var body any
		if err := json.Unmarshal([]byte(rest[at:]), &body); err != nil {
			t.Fatal(err)
		}
		check(method, path, strings.TrimSpace(rest[:3]), body)
	}
}
