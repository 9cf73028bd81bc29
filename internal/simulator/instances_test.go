package simulator_test

import (
	"fmt"
	"strings"
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
	r.Advance(boot - time.Millisecond)
	if got := r.instance(i.ID); got.Status != "starting" {
		t.Errorf("while it boots: %+v", got)
	}
	r.Advance(time.Millisecond)
	if got := r.instance(i.ID); got.Status != "outbid" || got.StartedAt == nil {
		t.Errorf("when it has booted: %+v", got)
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
