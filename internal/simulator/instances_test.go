package simulator_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestServerComesUpStopsStartsAndGoes(t *testing.T) {
	r := newRig(t)
	o := r.cheapest()[0]
	var i instance
	r.rent("k", m{"offer_id": o.ID, "name": "box"}).want(201).into(&i)
	if i.Status != "creating" || i.DesiredState != "running" || i.SSH != nil || i.StartedAt != nil || *i.Name != "box" {
		t.Fatalf("new instance %+v", i)
	}
	if r.cheapest()[0].ID == o.ID {
		t.Error("a rented offer is still listed")
	}
	var taken offer
	r.do("GET", "/offers/"+o.ID, nil).want(200).into(&taken)
	if taken.Available {
		t.Error("a rented offer is available")
	}

	share := func(percent int) time.Duration { return boot * time.Duration(percent) / 100 }
	expect := func(after time.Duration, status, desired string, ssh bool) instance {
		t.Helper()
		r.Advance(after)
		i := r.instance(i.ID)
		link := len(i.URLs) == 1 && i.URLs[0].Label == "TensorBoard" && i.URLs[0].URL != nil
		if i.Status != status || i.DesiredState != desired || (i.SSH != nil) != ssh || link != ssh {
			t.Fatalf("%s (desired %s, ssh %t, url %t), want %s (%s, %t)", i.Status, i.DesiredState, i.SSH != nil, link, status, desired, ssh)
		}
		return i
	}
	expect(share(29), "creating", "running", false)
	expect(share(1), "starting", "running", false)
	expect(share(69), "starting", "running", false)
	up := expect(share(1), "running", "running", false)
	if !up.StartedAt.Equal(up.CreatedAt.Add(boot)) {
		t.Errorf("started_at %v, want %v after %v", up.StartedAt, boot, up.CreatedAt)
	}
	up = expect(share(20), "running", "running", true)
	if want := fmt.Sprintf("ssh -p %d root@%s", up.SSH.Port, up.SSH.Host); up.SSH.Command != want || up.SSH.User != "root" {
		t.Errorf("ssh %+v", up.SSH)
	}

	r.do("POST", "/instances/"+i.ID+"/start", nil).refused(409, "conflict")
	r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
	expect(0, "running", "stopped", false)
	r.do("POST", "/instances/"+i.ID+"/stop", nil).refused(409, "conflict")
	expect(share(12), "stopping", "stopped", false)
	r.do("POST", "/instances/"+i.ID+"/start", nil).refused(409, "conflict")
	down := expect(share(12), "stopped", "stopped", false)
	if *down.StopReason != "user" {
		t.Errorf("stop_reason %q", *down.StopReason)
	}

	var again instance
	r.do("POST", "/instances/"+i.ID+"/start", nil).want(200).into(&again)
	if again.Status != "stopped" || again.DesiredState != "running" || again.StopReason != nil {
		t.Errorf("just after start: %+v", again)
	}
	r.do("POST", "/instances/"+i.ID+"/start", nil).refused(409, "conflict")
	expect(share(12), "starting", "running", false)
	expect(share(88), "running", "running", false)
	if back := expect(share(20), "running", "running", true); !back.StartedAt.Equal(*up.StartedAt) {
		t.Error("started_at is the first time of running")
	}

	var end instance
	r.do("DELETE", "/instances/"+i.ID, nil).want(200).into(&end)
	if end.Status != "destroying" || end.DesiredState != "destroyed" {
		t.Errorf("after DELETE: %+v", end)
	}
	for _, action := range []string{"/start", "/stop"} {
		r.do("POST", "/instances/"+i.ID+action, nil).refused(409, "conflict")
	}
	r.do("DELETE", "/instances/"+i.ID, nil).refused(409, "conflict")
	expect(share(12), "destroyed", "destroyed", false)
	r.do("DELETE", "/instances/"+i.ID, nil).refused(404, "not_found")
	r.do("PATCH", "/instances/"+i.ID, m{"name": "x"}).refused(404, "not_found")
	r.do("GET", "/instances/"+i.ID+"/logs", nil).refused(404, "not_found")
	if n := len(list[instance](r, "/instances", 5)); n != 0 {
		t.Errorf("%d active instances", n)
	}
	if n := len(list[instance](r, "/instances?status=all", 5)); n != 1 {
		t.Errorf("%d instances in all", n)
	}
	if r.cheapest()[0].ID != o.ID {
		t.Error("the offer did not come back")
	}
}

func TestStopOnTheWayUp(t *testing.T) {
	for _, wait := range []time.Duration{0, boot / 2} {
		r := newRig(t)
		var i instance
		r.rent("k", nil).want(201).into(&i)
		r.Advance(wait)
		r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
		r.Advance(settled)
		if got := r.instance(i.ID); got.Status != "stopped" || got.StartedAt != nil {
			t.Errorf("stopped after %v: %+v", wait, got)
		}
		r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
		r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
		r.Advance(settled)
		if got := r.instance(i.ID).Status; got != "stopped" {
			t.Errorf("a stop right after a start: %s", got)
		}
	}
}

func TestEntrypointTemplatesHaveNoSSH(t *testing.T) {
	r := newRig(t)
	i := r.running("k", m{"template": "comfyui"})
	if i.SSH != nil || len(i.URLs) != 1 || i.URLs[0].URL == nil {
		t.Errorf("instance %+v", i)
	}
	j := r.running("k2", m{"template": "pytorch-jupyter"})
	if j.SSH == nil || len(j.URLs) != 2 || j.URLs[0].Label != "JupyterLab" {
		t.Errorf("instance %+v", j)
	}
}

func TestOutbid(t *testing.T) {
	r := newRig(t)
	o := r.cheapest()[0]
	i := r.running("k", m{"offer_id": o.ID, "type": "interruptible", "disk_gb": 100})
	bid := *o.Price.Interruptible
	price := func(kop int64) {
		t.Helper()
		if err := r.SetOffer(o.ID, simulator.OfferPatch{InterruptibleKopH: &kop}); err != nil {
			t.Fatal(err)
		}
	}
	price(bid)
	if got := r.instance(i.ID).Status; got != "running" {
		t.Fatalf("%s at the bid itself", got)
	}
	price(bid + 100)
	out := r.instance(i.ID)
	if out.Status != "outbid" || out.DesiredState != "running" || out.SSH != nil || out.StopReason != nil {
		t.Fatalf("outbid instance %+v", out)
	}
	if burn := r.balance().Burn; burn != i.Price.Stopped {
		t.Errorf("burn %d while outbid, want the disk's %d", burn, i.Price.Stopped)
	}
	r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
	r.do("POST", "/instances/"+i.ID+"/start", nil).refused(409, "conflict")
	r.Advance(settled)
	if back := r.instance(i.ID); back.Status != "running" || back.Price.Running != i.Price.Running+100 {
		t.Errorf("after a new bid %+v, price was %d", back, i.Price.Running)
	}
	price(bid + 101)
	r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
	r.Advance(settled)
	if got := r.instance(i.ID).Status; got != "stopped" {
		t.Errorf("stop of an outbid server: %s", got)
	}

	onDemand := r.running("k2", nil)
	if err := r.SetOffer(r.cheapest()[0].ID, simulator.OfferPatch{OnDemandKopH: new(int64(9_000_000))}); err != nil {
		t.Fatal(err)
	}
	if got := r.instance(onDemand.ID); got.Status != "running" || got.Price.Running != onDemand.Price.Running {
		t.Error("the market moved an on-demand rental")
	}
}

func TestOutbidOnTheWayUp(t *testing.T) {
	r := newRig(t)
	o := r.cheapest()[0]
	var i instance
	r.rent("k", m{"offer_id": o.ID, "type": "interruptible"}).want(201).into(&i)
	if err := r.SetOffer(o.ID, simulator.OfferPatch{InterruptibleKopH: new(*o.Price.Interruptible + 1)}); err != nil {
		t.Fatal(err)
	}
	r.Advance(settled)
	if got := r.instance(i.ID); got.Status != "outbid" || got.StartedAt != nil {
		t.Errorf("instance %+v", got)
	}
}

func TestForcedStates(t *testing.T) {
	r := newRig(t)
	i := r.running("k", nil)
	force := func(p simulator.InstancePatch) error { return r.SetInstance(i.ID, p) }
	if err := force(simulator.InstancePatch{Status: new("failed"), StopReason: new("provider")}); err != nil {
		t.Fatal(err)
	}
	r.Advance(time.Hour)
	if got := r.instance(i.ID); got.Status != "failed" || *got.StopReason != "provider" || got.SSH != nil {
		t.Errorf("failed instance %+v", got)
	}
	if b := r.balance(); b.Burn != 0 || b.Runway != nil {
		t.Errorf("a failed server burns: %+v", b)
	}
	for _, action := range []string{"/start", "/stop"} {
		r.do("POST", "/instances/"+i.ID+action, nil).refused(409, "conflict")
	}
	if err := force(simulator.InstancePatch{Status: new("stopped"), DesiredState: new("stopped")}); err != nil {
		t.Fatal(err)
	}
	r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
	r.Advance(settled)
	if got := r.instance(i.ID); got.Status != "running" || got.SSH == nil {
		t.Errorf("restarted instance %+v", got)
	}
	r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
	if err := force(simulator.InstancePatch{Status: new("starting"), DesiredState: new("running")}); err != nil {
		t.Fatal(err)
	}
	r.Advance(settled)
	if got := r.instance(i.ID).Status; got != "starting" {
		t.Errorf("a forced state became %s by itself", got)
	}
	if err := force(simulator.InstancePatch{Status: new("destroyed")}); err != nil {
		t.Fatal(err)
	}
	if force(simulator.InstancePatch{Status: new("running")}) == nil {
		t.Error("a destroyed server came back")
	}
	if force(simulator.InstancePatch{Status: new("asleep")}) == nil || r.SetInstance("ins_no", simulator.InstancePatch{}) == nil {
		t.Error("nonsense was accepted")
	}
}

func TestOrderBounds(t *testing.T) {
	r := newRig(t)
	o := r.cheapest()[0]
	var noBids string
	for _, other := range list[offer](r, "/offers", 50) {
		if other.Price.Interruptible == nil {
			noBids = other.ID
		}
	}
	ids := func(n int) []string { return strings.Split(strings.TrimSuffix(strings.Repeat("ssh_x,", n), ","), ",") }
	for name, c := range map[string]struct {
		change m
		field  string
	}{
		"offer missing":          {m{"offer_id": nil}, "offer_id"},
		"disk low":               {m{"disk_gb": 9}, "disk_gb"},
		"disk high":              {m{"disk_gb": 2001}, "disk_gb"},
		"disk below template":    {m{"disk_gb": 19}, "disk_gb"},
		"disk above offer":       {m{"disk_gb": *o.Disk.MaxGB + 1}, "disk_gb"},
		"disk text":              {m{"disk_gb": "50"}, "disk_gb"},
		"name too long":          {m{"name": strings.Repeat("я", 61)}, "name"},
		"name null":              {m{"name": nil}, "name"},
		"unknown type":           {m{"type": "spot"}, "type"},
		"no interruptible price": {m{"type": "interruptible", "offer_id": noBids}, "type"},
		"eleven keys":            {m{"ssh_key_ids": ids(11)}, "ssh_key_ids"},
		"unknown key":            {m{"ssh_key_ids": ids(1)}, "ssh_key_ids"},
		"image of another":       {m{"image": "ubuntu:24.04"}, "image"},
		"image without tag":      {m{"template": "custom", "image": "ubuntu"}, "image"},
		"env":                    {m{"env": m{"A": "b"}}, "env"},
		"onstart":                {m{"onstart": "ls"}, "onstart"},
		"onstart empty":          {m{"onstart": ""}, "onstart"},
		"unknown field":          {m{"region": "eu"}, "region"},
	} {
		t.Run(name, func(t *testing.T) {
			change := m{"offer_id": o.ID}
			for k, v := range c.change {
				change[k] = v
			}
			r.rent("k-"+name, change).invalid(c.field)
		})
	}
	r.do("POST", "/instances", m{"offer_id": o.ID, "template": "pytorch", "disk_gb": 50}).invalid("Idempotency-Key")
	r.rent(strings.Repeat("k", 65), nil).invalid("Idempotency-Key")
	r.rent("k", m{"offer_id": "off_no"}).refused(404, "not_found")
	r.rent("k", m{"template": "no"}).refused(404, "not_found")

	var custom instance
	r.rent(strings.Repeat("k", 64), m{"template": "custom", "image": "a/b:1", "name": strings.Repeat("я", 60), "env": m{}, "onstart": nil, "ssh_key_ids": []string{}}).
		want(201).into(&custom)
	if custom.Image != "a/b:1" {
		t.Errorf("image %q", custom.Image)
	}
	var plain instance
	r.rent("k", m{"template": "custom"}).want(201).into(&plain)
	if plain.Image == "" {
		t.Error("the custom template has no image of its own")
	}
}

func TestRentRefusals(t *testing.T) {
	r := newRig(t)
	set := func(p simulator.AccountPatch) {
		t.Helper()
		if err := r.SetAccount(p); err != nil {
			t.Fatal(err)
		}
	}
	o := r.cheapest()[0]
	set(simulator.AccountPatch{EmailVerified: new(false)})
	if got := r.rent("k", nil).refused(403, "forbidden").Error.Details.Reason; got != "email_not_verified" {
		t.Errorf("reason %q", got)
	}
	set(simulator.AccountPatch{EmailVerified: new(true), BalanceKop: new(int64(100))})
	extra := (o.Price.Storage*40 + 729) / 730
	if got, want := r.rent("k", nil).refused(402, "insufficient_funds").Error.Details.Short, 2*(o.Price.OnDemand+extra)-100; got != want {
		t.Errorf("short by %d, want %d", got, want)
	}
	set(simulator.AccountPatch{CreditLimitKop: new(int64(1_000_000)), MaxInstances: new(int64(1))})
	r.rent("k", m{"offer_id": o.ID}).want(201)
	r.rent("k2", nil).refused(409, "conflict")
	set(simulator.AccountPatch{MaxInstances: new(int64(5))})
	r.rent("k2", m{"offer_id": o.ID}).refused(409, "conflict")
	// What was refused is not remembered under its key.
	r.rent("k2", nil).want(201)
}

func TestIdempotency(t *testing.T) {
	r := newRig(t)
	o := r.cheapest()[0].ID
	const clients = 16
	ids, created := make([]string, clients), make([]bool, clients)
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			a := r.rent("one", m{"offer_id": o})
			var i instance
			a.into(&i)
			ids[n], created[n] = i.ID, a.status == 201
			if replayed := a.header.Get("Idempotent-Replayed") == "true"; replayed == created[n] {
				t.Errorf("status %d, replayed %t", a.status, replayed)
			}
		})
	}
	wg.Wait()
	firsts := 0
	for n := range clients {
		if created[n] {
			firsts++
		}
		if ids[n] != ids[0] {
			t.Errorf("instance %s, want %s", ids[n], ids[0])
		}
	}
	if firsts != 1 {
		t.Errorf("%d requests created, want 1", firsts)
	}
	r.do("DELETE", "/instances/"+ids[0], nil).want(200)
	r.Advance(settled)
	var i instance
	r.rent("one", m{"offer_id": o}).want(200).into(&i)
	if i.ID != ids[0] || i.Status != "destroyed" {
		t.Errorf("replay of a destroyed rental: %+v", i)
	}
}

func TestRenameAndLogs(t *testing.T) {
	r := newRig(t)
	var key struct{ ID string }
	r.do("POST", "/ssh-keys", m{"public_key": ed25519A}).want(201).into(&key)
	var i instance
	r.rent("k", nil).want(201).into(&i)
	path := "/instances/" + i.ID
	r.do("PATCH", path, m{"name": "новое"}).want(200).into(&i)
	if *i.Name != "новое" {
		t.Errorf("name %q", *i.Name)
	}
	r.do("PATCH", path, m{"name": nil}).want(200).into(&i)
	if i.Name != nil {
		t.Errorf("name %q, want null", *i.Name)
	}
	r.do("PATCH", path, m{}).invalid("name")
	r.do("PATCH", path, m{"name": strings.Repeat("n", 61)}).invalid("name")
	r.do("PATCH", path, m{"name": "x", "disk_gb": 5}).invalid("disk_gb")
	r.do("PATCH", "/instances/ins_no", m{"name": "x"}).refused(404, "not_found")

	lines := func(query string) []string {
		var l struct{ Lines []string }
		r.do("GET", path+"/logs"+query, nil).want(200).into(&l)
		return l.Lines
	}
	before := lines("")
	if !strings.Contains(strings.Join(before, "\n"), "SHA256:") {
		t.Errorf("no SSH key in the log: %q", before)
	}
	r.Advance(settled)
	after := lines("")
	if len(after) <= len(before) {
		t.Error("the log does not grow")
	}
	if last := lines("?tail=1"); len(last) != 1 || last[0] != after[len(after)-1] {
		t.Errorf("tail=1: %q", last)
	}
	for _, tail := range []string{"0", "1001", "x"} {
		r.do("GET", path+"/logs?tail="+tail, nil).invalid("tail")
	}
}
