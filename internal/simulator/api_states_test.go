package simulator_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// The table of states and transitions. The random histories check statuses and charges over time.

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
func (r *rig) checkBurn(when string, want any) {
	r.t.Helper()
	equal(r.t, when+": burn_kop_h", short(r.get("/balance").ok()["burn_kop_h"]), short(want))
}

func TestState_StopAndStart(t *testing.T) {
	r := newAccount(t)
	o := r.rented(m{"disk_gb": 200})
	id := text(o, "id")
	checkPath(t, "creation", r.waitFor(id, "running"), "creating", "starting", "running")
	for range 2 {
		stopped := r.action(id, "stop").ok()
		equal(t, "desired_state after stop", text(stopped, "desired_state"), "stopped")
		r.action(id, "stop").failsWith("conflict")
		checkPath(t, "stop", r.waitFor(id, "stopped"), "running", "stopping", "stopped")
		equal(t, "stop_reason", text(r.fields(id), "stop_reason"), "user")
		r.checkBurn("stopped", at(o, "price.stopped_kop_h"))

		started := r.action(id, "start").ok()
		equal(t, "desired_state after start", text(started, "desired_state"), "running")
		r.action(id, "start").failsWith("conflict")
		checkPath(t, "start", r.waitFor(id, "running"), "stopped", "creating", "starting", "running")
		r.checkBurn("started again", at(o, "price.running_kop_h"))
		equal(t, "stop_reason of a running instance", r.fields(id)["stop_reason"], nil)
	}
	// An instance that is stopped during its boot never runs.
	booting := text(r.rented(nil), "id")
	r.action(booting, "stop").ok()
	r.waitFor(booting, "stopped")
	r.Advance(10 * time.Minute)
	equal(t, "started_at of one that was stopped during its boot", r.fields(booting)["started_at"], nil)
}

func TestState_Delete(t *testing.T) {
	r := newAccount(t)
	for _, status := range []string{"creating", "starting", "running", "stopping", "stopped", "failed", "outbid"} {
		id := text(r.booted(nil), "id")
		r.setInstance(id, m{"status": status})
		o := r.delete("/instances/" + id).ok()
		equal(t, status+": the response to DELETE", text(o, "status"), "destroying")
		equal(t, status+": desired_state after DELETE", text(o, "desired_state"), "destroyed")
		r.delete("/instances/" + id).failsWith("conflict")
		checkPath(t, status, r.waitFor(id, "destroyed"), "destroying", "destroyed")
		r.Advance(24 * time.Hour)
		equal(t, status+": status a day later", text(r.fields(id), "status"), "destroyed")
	}
}

// Each status with each action: 200, or 409 without an effect. A destroyed instance can still be read and renamed, so
// actions on it are a 409 as well.
func TestState_Actions(t *testing.T) {
	r := newAccount(t)
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
			"patch":  func(path string) response { return r.do(http.MethodPatch, path, m{"name": "new"}) },
			"logs":   func(path string) response { return r.get(path + "/logs") },
			"get":    r.get,
			"delete": r.delete,
		} {
			id := text(r.booted(m{"type": "interruptible"}), "id")
			r.setInstance(id, m{"status": status, "desired_state": c.desired})
			a := send("/instances/" + id)
			a.request = action + " while " + status
			if slices.Contains(strings.Fields(c.allowed), action) {
				a.want(http.StatusOK)
			} else {
				a.failsWith("conflict")
				o := r.fields(id)
				equal(t, a.request+": the state", text(o, "status")+text(o, "desired_state"), status+c.desired)
			}
			r.setInstance(id, m{"status": "destroyed"})
		}
	}
}

// The market price rises above the bid: the GPU is taken away and not billed, the disk still is. A start places a new
// bid at the current price.
func TestState_Outbid(t *testing.T) {
	r := newAccount(t)
	i := r.booted(m{"disk_gb": 150, "type": "interruptible"})
	id, offer := text(i, "id"), r.offerOf(text(i, "id"))
	bid := integer(r.get("/offers/"+offer).ok(), "price.interruptible_kop_h")
	for _, price := range []int64{bid, max(bid-100, 1)} {
		r.setOffer(offer, m{"interruptible_kop_h": price})
		r.Advance(300 * time.Second)
		equal(t, "status with the market not above the bid", text(r.fields(id), "status"), "running")
		equal(t, "price with the market not above the bid", short(r.fields(id)["price"]), short(i["price"]))
	}
	r.setOffer(offer, m{"interruptible_kop_h": bid + 1})
	r.waitFor(id, "outbid")
	r.checkBurn("outbid", at(i, "price.stopped_kop_h"))
	equal(t, "ssh while outbid", r.fields(id)["ssh"], nil)

	r.setOffer(offer, m{"interruptible_kop_h": bid + 500})
	r.action(id, "start").ok()
	checkPath(t, "start", r.waitFor(id, "running"), "outbid", "creating", "starting", "running")
	rebid := r.fields(id)
	equal(t, "running_kop_h with the new bid", integer(rebid, "price.running_kop_h")-integer(i, "price.running_kop_h"),
		500)
	r.checkBurn("with the new bid", at(rebid, "price.running_kop_h"))
	r.setOffer(offer, m{"interruptible_kop_h": bid + 501})
	r.waitFor(id, "outbid")
}

// Only a running interruptible instance of the offer is outbid.
func TestState_OutbidOnlyWhileRunning(t *testing.T) {
	r := newAccount(t)
	raise := func(i m) {
		r.setOffer(r.offerOf(text(i, "id")), m{"on_demand_kop_h": 9_500_000, "interruptible_kop_h": 9_000_000})
	}
	for _, status := range []string{"creating", "starting", "stopping", "stopped", "failed"} {
		i := r.booted(m{"type": "interruptible"})
		r.setInstance(text(i, "id"), m{"status": status})
		raise(i)
		r.Advance(time.Minute)
		equal(t, "status of an instance that is "+status, text(r.fields(text(i, "id")), "status"), status)
	}
	fixed, other, booting := r.booted(nil), r.booted(m{"type": "interruptible"}), r.rented(m{
		"type": "interruptible"})
	raise(fixed)
	raise(booting)
	r.waitFor(text(booting, "id"), "outbid")
	check(t, r.fields(text(booting, "id"))["started_at"] != nil, "an instance was outbid that never ran")
	for what, i := range map[string]m{"on-demand": fixed, "other": other} {
		equal(t, "status of the "+what+" instance", text(r.fields(text(i, "id")), "status"), "running")
	}
}

// The host goes offline and online again.
func TestState_HostOffline(t *testing.T) {
	r := newAccount(t)
	i := r.booted(nil)
	id, offer := text(i, "id"), r.offerOf(text(i, "id"))
	r.setOffer(offer, m{"online": false})
	r.waitFor(id, "stopped")
	equal(t, "stop_reason", text(r.fields(id), "stop_reason"), "provider")
	r.checkBurn("stopped", at(i, "price.stopped_kop_h"))
	r.action(id, "start").failsWith("conflict")
	r.get("/instances/" + id + "/logs").failsWith("provider_unavailable")
	r.setOffer(offer, m{"online": true})
	r.get("/instances/" + id + "/logs").ok()
	r.action(id, "start").ok()
	r.waitFor(id, "running")
	r.action(id, "stop").ok()
	r.setOffer(offer, m{"online": false})
	equal(t, "stop_reason of one that was stopped before", text(r.fields(id), "stop_reason"), "user")
	r.destroy(id)
}

// A boot that fails ends in failed. The instance can be deleted and is not billed as running.
func TestState_FailedBoot(t *testing.T) {
	r := newAccount(t)
	body := r.rentBody()
	r.setOffer(text(body, "offer_id"), m{"fail_boots": true})
	id := text(r.create(unique("k"), body).created(), "id")
	checkPath(t, "a failed boot", r.waitFor(id, "failed"), "creating", "starting", "failed")
	equal(t, "started_at", r.fields(id)["started_at"], nil)
	r.checkBurn("failed", 0)
	r.destroy(id)
}
