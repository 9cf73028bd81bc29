package simulator_test

import (
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Config.Boot documents the time to running, and 20% more to the SSH address.
func TestBoot_Times(t *testing.T) {
	r := newRig(t)
	var i instance
	r.rent("k", nil).want(201).into(&i)
	for _, want := range []struct {
		percent int // of the boot time, since creation
		status  string
		ssh     bool
	}{
		{0, "creating", false}, {29, "creating", false}, {30, "starting", false}, {99, "starting", false},
		{100, "running", false}, {119, "running", false}, {120, "running", true},
	} {
		r.Advance(i.CreatedAt.Add(boot * time.Duration(want.percent) / 100).Sub(r.Now()))
		if got := r.instance(i.ID); got.Status != want.status || (got.SSH != nil) != want.ssh ||
			(got.URLs[0].URL != nil) != want.ssh {
			t.Errorf("after %d%%: %s, SSH %v, want %s, %t", want.percent, got.Status, got.SSH, want.status, want.ssh)
		}
	}
	if started := r.instance(i.ID).StartedAt; !started.Equal(i.CreatedAt.Add(boot)) {
		t.Errorf("started_at %v, created_at %v", started, i.CreatedAt)
	}
}

func TestStop_DuringBootAndBeforeStartTakesEffect(t *testing.T) {
	for _, wait := range []time.Duration{0, boot / 2} {
		r := newRig(t)
		var i instance
		r.rent("k", nil).want(201).into(&i)
		r.Advance(wait)
		r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
		r.Advance(bootComplete)
		if got := r.instance(i.ID); got.Status != "stopped" || got.StartedAt != nil {
			t.Errorf("stopped after %v: %+v", wait, got)
		}
		r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
		r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
		r.Advance(bootComplete)
		if got := r.instance(i.ID).Status; got != "stopped" {
			t.Errorf("status %s after a start and a stop", got)
		}
	}
}

func TestSetInstance_StatusHoldsUntilTheNextRequest(t *testing.T) {
	r := newRig(t)
	i := r.running("k", nil)
	set := func(p simulator.InstancePatch) error { return r.SetInstance(i.ID, p) }
	if err := set(simulator.InstancePatch{Status: new("failed"), StopReason: new("provider")}); err != nil {
		t.Fatal(err)
	}
	r.Advance(time.Hour)
	if got := r.instance(i.ID); got.Status != "failed" || *got.StopReason != "provider" || got.SSH != nil {
		t.Errorf("failed instance %+v", got)
	}
	if b := r.balance(); b.Burn != 0 || b.Runway != nil {
		t.Errorf("balance with a failed instance: %+v", b)
	}
	r.do("POST", "/instances/"+i.ID+"/stop", nil).refused(409, "conflict")
	if err := set(simulator.InstancePatch{Status: new("stopped"), DesiredState: new("stopped")}); err != nil {
		t.Fatal(err)
	}
	r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
	r.Advance(bootComplete)
	if got := r.instance(i.ID); got.Status != "running" || got.SSH == nil {
		t.Errorf("started instance %+v", got)
	}
	r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
	if err := set(simulator.InstancePatch{Status: new("starting"), DesiredState: new("running")}); err != nil {
		t.Fatal(err)
	}
	r.Advance(bootComplete)
	if got := r.instance(i.ID).Status; got != "starting" {
		t.Errorf("the status that was set changed to %s", got)
	}
	if err := set(simulator.InstancePatch{Status: new("destroyed")}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"from destroyed": set(simulator.InstancePatch{Status: new("running")}),
		"unknown status": set(simulator.InstancePatch{Status: new("asleep")}),
		"unknown id":     r.SetInstance("ins_no", simulator.InstancePatch{}),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
