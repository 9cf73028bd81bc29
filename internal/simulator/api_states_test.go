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
func (api *client) checkBurn(when string, want any) {
	api.t.Helper()
	equal(api.t, when+": burn_kop_h", asJSON(api.balance()["burn_kop_h"]), asJSON(want))
}

func TestState_StopAndStart(t *testing.T) {
	api := newFundedClient(t)
	o := api.createInstance(object{"disk_gb": 200})
	id := o.text("id")
	checkPath(t, "creation", api.waitFor(id, "running"), "creating", "starting", "running")
	for range 2 {
		stopped := api.action(id, "stop").ok()
		equal(t, "desired_state after stop", stopped.text("desired_state"), "stopped")
		api.action(id, "stop").failsWith("conflict")
		checkPath(t, "stop", api.waitFor(id, "stopped"), "running", "stopping", "stopped")
		equal(t, "stop_reason", api.instance(id).text("stop_reason"), "user")
		api.checkBurn("stopped", o.value("price.stopped_kop_h"))

		started := api.action(id, "start").ok()
		equal(t, "desired_state after start", started.text("desired_state"), "running")
		api.action(id, "start").failsWith("conflict")
		checkPath(t, "start", api.waitFor(id, "running"), "stopped", "creating", "starting", "running")
		api.checkBurn("started again", o.value("price.running_kop_h"))
		equal(t, "stop_reason of a running instance", api.instance(id)["stop_reason"], nil)
	}
	// An instance that is stopped during its boot never runs.
	booting := api.createInstance(nil).text("id")
	api.action(booting, "stop").ok()
	api.waitFor(booting, "stopped")
	api.Advance(10 * time.Minute)
	equal(t, "started_at of one that was stopped during its boot", api.instance(booting)["started_at"], nil)
}

// Each status with each action: 200, or 409 without an effect. A destroyed instance can still be read and renamed, so
// actions on it are a 409 as well.
func TestState_Actions(t *testing.T) {
	api := newFundedClient(t)
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
			"start":  func(path string) response { return api.post(path+"/start", nil) },
			"stop":   func(path string) response { return api.post(path+"/stop", nil) },
			"patch":  func(path string) response { return api.patch(path, object{"name": "new"}) },
			"logs":   func(path string) response { return api.get(path + "/logs") },
			"get":    api.get,
			"delete": api.delete,
		} {
			id := api.runningInstance(object{"type": "interruptible"}).text("id")
			api.setInstance(id, object{"status": status, "desired_state": c.desired})
			a := send("/instances/" + id)
			a.request = action + " while " + status
			if slices.Contains(strings.Fields(c.allowed), action) {
				o := a.want(http.StatusOK).object()
				if action == "delete" {
					equal(t, a.request, o.text("status")+" "+o.text("desired_state"), "destroying destroyed")
					checkPath(t, a.request, api.waitFor(id, "destroyed"), "destroying", "destroyed")
				}
			} else {
				a.failsWith("conflict")
				o := api.instance(id)
				equal(t, a.request+": the state", o.text("status")+o.text("desired_state"), status+c.desired)
			}
			api.setInstance(id, object{"status": "destroyed"})
		}
	}
}

// The market price rises above the bid: the GPU is taken away and not billed, the disk still is. A start places a new
// bid at the current price.
func TestState_Outbid(t *testing.T) {
	api := newFundedClient(t)
	i := api.runningInstance(object{"disk_gb": 150, "type": "interruptible"})
	id, offer := i.text("id"), api.offerOf(i.text("id"))
	bid := api.get("/offers/" + offer).ok().integer("price.interruptible_kop_h")
	for _, price := range []int64{bid, max(bid-100, 1)} {
		api.setOffer(offer, object{"interruptible_kop_h": price})
		api.Advance(300 * time.Second)
		equal(t, "status with the market not above the bid", api.instance(id).text("status"), "running")
		equal(t, "price with the market not above the bid", asJSON(api.instance(id)["price"]), asJSON(i["price"]))
	}
	api.setOffer(offer, object{"interruptible_kop_h": bid + 1})
	api.waitFor(id, "outbid")
	api.checkBurn("outbid", i.value("price.stopped_kop_h"))
	equal(t, "ssh while outbid", api.instance(id)["ssh"], nil)

	api.setOffer(offer, object{"interruptible_kop_h": bid + 500})
	api.action(id, "start").ok()
	checkPath(t, "start", api.waitFor(id, "running"), "outbid", "creating", "starting", "running")
	rebid := api.instance(id)
	equal(t, "running_kop_h with the new bid", rebid.integer("price.running_kop_h")-i.integer("price.running_kop_h"),
		500)
	api.checkBurn("with the new bid", rebid.value("price.running_kop_h"))
	api.setOffer(offer, object{"interruptible_kop_h": bid + 501})
	api.waitFor(id, "outbid")
}

// Only a running interruptible instance of the offer is outbid.
func TestState_OutbidOnlyWhileRunning(t *testing.T) {
	api := newFundedClient(t)
	other := api.runningInstance(object{"type": "interruptible"}).text("id")
	for _, c := range []struct{ kind, status, want string }{
		{"interruptible", "creating", "creating"}, {"interruptible", "starting", "starting"},
		{"interruptible", "stopping", "stopping"}, {"interruptible", "stopped", "stopped"},
		{"interruptible", "failed", "failed"}, {"interruptible", "running", "outbid"}, {"on_demand", "running", "running"},
	} {
		id := api.runningInstance(object{"type": c.kind}).text("id")
		api.setInstance(id, object{"status": c.status})
		api.setOffer(api.offerOf(id), object{"on_demand_kop_h": 9_500_000, "interruptible_kop_h": 9_000_000})
		api.Advance(time.Minute)
		equal(t, "status of an instance that is "+c.status, api.instance(id).text("status"), c.want)
	}
	booting := api.createInstance(object{"type": "interruptible"}).text("id")
	api.setOffer(api.offerOf(booting), object{"on_demand_kop_h": 9_500_000, "interruptible_kop_h": 9_000_000})
	api.waitFor(booting, "outbid")
	check(t, api.instance(booting)["started_at"] != nil, "an instance was outbid that never ran")
	equal(t, "status of an instance of another offer", api.instance(other).text("status"), "running")
}
