package simulator_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/apidoc"
)

// The table of states and transitions. The random histories check statuses and charges over time.

// statuses are all statuses of an instance in an order in which they can be set: destroyed is the last one.
var statuses = append(slices.DeleteFunc(apidoc.Enum("Instance", "status"),
	func(s string) bool { return s == "destroyed" }), "destroyed")

// checkPath checks that statuses occur in the given order. Some may be missing, because they were too short.
func checkPath(t *testing.T, what string, seen []string, allowed ...string) {
	t.Helper()
	at := 0
	for _, status := range seen {
		n := slices.Index(allowed[at:], status)
		if n < 0 {
			t.Errorf("%s: statuses %v, want %v", what, seen, allowed)
			return
		}
		at += n
	}
}

// checkBurn checks the burn rate of the balance.
func (r *client) checkBurn(when string, want any) {
	r.t.Helper()
	equal(r.t, when+": burn_kop_h", asJSON(r.balance()["burn_kop_h"]), asJSON(want))
}

func TestState_StopAndStart(t *testing.T) {
	r := newFundedClient(t)
	o := r.createInstance(object{"disk_gb": 200})
	id := o.text("id")
	checkPath(t, "creation", r.waitFor(id, "running"), "creating", "starting", "running")
	for range 2 {
		stopped := r.action(id, "stop").ok()
		equal(t, "desired_state after stop", stopped.text("desired_state"), "stopped")
		r.action(id, "stop").failsWith("conflict")
		checkPath(t, "stop", r.waitFor(id, "stopped"), "running", "stopping", "stopped")
		equal(t, "stop_reason", r.instance(id).text("stop_reason"), "user")
		r.checkBurn("stopped", o.value("price.stopped_kop_h"))

		started := r.action(id, "start").ok()
		equal(t, "desired_state after start", started.text("desired_state"), "running")
		r.action(id, "start").failsWith("conflict")
		checkPath(t, "start", r.waitFor(id, "running"), "stopped", "creating", "starting", "running")
		r.checkBurn("started again", o.value("price.running_kop_h"))
		equal(t, "stop_reason of a running instance", r.instance(id)["stop_reason"], nil)
	}
	// An instance that is stopped during its boot never runs.
	booting := r.createInstance(nil).text("id")
	r.action(booting, "stop").ok()
	r.waitFor(booting, "stopped")
	r.Advance(10 * time.Minute)
	equal(t, "started_at of one that was stopped during its boot", r.instance(booting)["started_at"], nil)
}

func TestState_Delete(t *testing.T) {
	r := newFundedClient(t)
	for _, status := range []string{"creating", "starting", "running", "stopping", "stopped", "failed", "outbid"} {
		id := r.runningInstance(nil).text("id")
		r.setInstance(id, object{"status": status})
		o := r.delete("/instances/" + id).ok()
		equal(t, status+": the response to DELETE", o.text("status"), "destroying")
		equal(t, status+": desired_state after DELETE", o.text("desired_state"), "destroyed")
		r.delete("/instances/" + id).failsWith("conflict")
		checkPath(t, status, r.waitFor(id, "destroyed"), "destroying", "destroyed")
		r.Advance(24 * time.Hour)
		equal(t, status+": status a day later", r.instance(id).text("status"), "destroyed")
	}
}

// Each status with each action: 200, or 409 without an effect. A destroyed instance can still be read and renamed, so
// actions on it are a 409 as well.
func TestState_Actions(t *testing.T) {
	r := newFundedClient(t)
	for status, c := range map[string]struct {
		desired, allowed string
	}{
		"creating":   {"running", "stop patch logs get delete"},
		"starting":   {"running", "stop patch logs get delete"},
		"running":    {"running", "stop patch logs get delete"},
		"stopping":   {"stopped", "patch logs get delete"},
		"stopped":    {"stopped", "start patch logs get delete"},
		"outbid":     {"running", "start stop patch logs get delete"},
		"failed":     {"running", "patch logs get delete"},
		"destroying": {"destroyed", "patch logs get"},
		"destroyed":  {"destroyed", "patch logs get"},
	} {
		for action, send := range map[string]func(path string) response{
			"start":  func(path string) response { return r.post(path+"/start", nil) },
			"stop":   func(path string) response { return r.post(path+"/stop", nil) },
			"patch":  func(path string) response { return r.patch(path, object{"name": "new"}) },
			"logs":   func(path string) response { return r.get(path + "/logs") },
			"get":    r.get,
			"delete": r.delete,
		} {
			id := r.runningInstance(object{"type": "interruptible"}).text("id")
			r.setInstance(id, object{"status": status, "desired_state": c.desired})
			a := send("/instances/" + id)
			a.request = action + " while " + status
			if slices.Contains(strings.Fields(c.allowed), action) {
				a.want(http.StatusOK)
			} else {
				a.failsWith("conflict")
				o := r.instance(id)
				equal(t, a.request+": the state", o.text("status")+o.text("desired_state"), status+c.desired)
			}
			r.setInstance(id, object{"status": "destroyed"})
		}
	}
}

// The market price rises above the bid: the GPU is taken away and not billed, the disk still is. A start places a new
// bid at the current price.
func TestState_Outbid(t *testing.T) {
	r := newFundedClient(t)
	i := r.runningInstance(object{"disk_gb": 150, "type": "interruptible"})
	id, offer := i.text("id"), r.offerOf(i.text("id"))
	bid := r.get("/offers/" + offer).ok().integer("price.interruptible_kop_h")
	for _, price := range []int64{bid, max(bid-100, 1)} {
		r.setOffer(offer, object{"interruptible_kop_h": price})
		r.Advance(300 * time.Second)
		equal(t, "status with the market not above the bid", r.instance(id).text("status"), "running")
		equal(t, "price with the market not above the bid", asJSON(r.instance(id)["price"]), asJSON(i["price"]))
	}
	r.setOffer(offer, object{"interruptible_kop_h": bid + 1})
	r.waitFor(id, "outbid")
	r.checkBurn("outbid", i.value("price.stopped_kop_h"))
	equal(t, "ssh while outbid", r.instance(id)["ssh"], nil)

	r.setOffer(offer, object{"interruptible_kop_h": bid + 500})
	r.action(id, "start").ok()
	checkPath(t, "start", r.waitFor(id, "running"), "outbid", "creating", "starting", "running")
	rebid := r.instance(id)
	equal(t, "running_kop_h with the new bid", rebid.integer("price.running_kop_h")-i.integer("price.running_kop_h"),
		500)
	r.checkBurn("with the new bid", rebid.value("price.running_kop_h"))
	r.setOffer(offer, object{"interruptible_kop_h": bid + 501})
	r.waitFor(id, "outbid")
}

// Only a running interruptible instance of the offer is outbid.
func TestState_OutbidOnlyWhileRunning(t *testing.T) {
	r := newFundedClient(t)
	raise := func(i object) {
		r.setOffer(r.offerOf(i.text("id")), object{"on_demand_kop_h": 9_500_000, "interruptible_kop_h": 9_000_000})
	}
	for _, status := range []string{"creating", "starting", "stopping", "stopped", "failed"} {
		i := r.runningInstance(object{"type": "interruptible"})
		r.setInstance(i.text("id"), object{"status": status})
		raise(i)
		r.Advance(time.Minute)
		equal(t, "status of an instance that is "+status, r.instance(i.text("id")).text("status"), status)
	}
	fixed, other, booting := r.runningInstance(nil), r.runningInstance(object{"type": "interruptible"}), r.createInstance(object{
		"type": "interruptible"})
	raise(fixed)
	raise(booting)
	r.waitFor(booting.text("id"), "outbid")
	check(t, r.instance(booting.text("id"))["started_at"] != nil, "an instance was outbid that never ran")
	for what, i := range map[string]object{"on-demand": fixed, "other": other} {
		equal(t, "status of the "+what+" instance", r.instance(i.text("id")).text("status"), "running")
	}
}

// The host goes offline and online again.
func TestState_HostOffline(t *testing.T) {
	r := newFundedClient(t)
	i := r.runningInstance(nil)
	id, offer := i.text("id"), r.offerOf(i.text("id"))
	r.setOffer(offer, object{"online": false})
	r.waitFor(id, "stopped")
	equal(t, "stop_reason", r.instance(id).text("stop_reason"), "provider")
	r.checkBurn("stopped", i.value("price.stopped_kop_h"))
	r.action(id, "start").failsWith("conflict")
	r.get("/instances/" + id + "/logs").failsWith("provider_unavailable")
	r.setOffer(offer, object{"online": true})
	r.get("/instances/" + id + "/logs").ok()
	r.action(id, "start").ok()
	r.waitFor(id, "running")
	r.action(id, "stop").ok()
	r.setOffer(offer, object{"online": false})
	equal(t, "stop_reason of one that was stopped before", r.instance(id).text("stop_reason"), "user")
	r.destroy(id)
}

// A boot that fails ends in failed. The instance can be deleted and is not billed as running.
func TestState_FailedBoot(t *testing.T) {
	r := newFundedClient(t)
	body := r.instanceBody(nil)
	r.setOffer(body.text("offer_id"), object{"fail_boots": true})
	id := r.create(unique("k"), body).created().text("id")
	checkPath(t, "a failed boot", r.waitFor(id, "failed"), "creating", "starting", "failed")
	equal(t, "started_at", r.instance(id)["started_at"], nil)
	r.checkBurn("failed", 0)
	r.destroy(id)
}
