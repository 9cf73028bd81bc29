package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"
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
func (s *service) checkBurn(when string, want any) {
	s.t.Helper()
	equal(s.t, when+": burn_kop_h", short(s.get("/balance").ok()["burn_kop_h"]), short(want))
}

func TestState_StopAndStart(t *testing.T) {
	s := start(t)
	o := s.rent(object{"disk_gb": 200})
	id := text(o, "id")
	checkPath(t, "creation", s.waitFor(id, "running"), "creating", "starting", "running")
	for range 2 {
		stopped := s.action(id, "stop").ok()
		equal(t, "desired_state after stop", text(stopped, "desired_state"), "stopped")
		s.action(id, "stop").failsWith("conflict")
		checkPath(t, "stop", s.waitFor(id, "stopped"), "running", "stopping", "stopped")
		equal(t, "stop_reason", text(s.instance(id), "stop_reason"), "user")
		s.checkBurn("stopped", at(o, "price.stopped_kop_h"))

		started := s.action(id, "start").ok()
		equal(t, "desired_state after start", text(started, "desired_state"), "running")
		s.action(id, "start").failsWith("conflict")
		checkPath(t, "start", s.waitFor(id, "running"), "stopped", "creating", "starting", "running")
		s.checkBurn("started again", at(o, "price.running_kop_h"))
		equal(t, "stop_reason of a running instance", s.instance(id)["stop_reason"], nil)
	}
	// An instance that is stopped during its boot never runs.
	booting := text(s.rent(nil), "id")
	s.action(booting, "stop").ok()
	s.waitFor(booting, "stopped")
	s.advance(600)
	equal(t, "started_at of one that was stopped during its boot", s.instance(booting)["started_at"], nil)
}

func TestState_Delete(t *testing.T) {
	s := start(t)
	for _, status := range []string{"creating", "starting", "running", "stopping", "stopped", "failed", "outbid"} {
		id := text(s.running(nil), "id")
		s.setInstance(id, object{"status": status})
		o := s.delete("/instances/" + id).ok()
		equal(t, status+": the response to DELETE", text(o, "status"), "destroying")
		equal(t, status+": desired_state after DELETE", text(o, "desired_state"), "destroyed")
		s.delete("/instances/" + id).failsWith("conflict")
		checkPath(t, status, s.waitFor(id, "destroyed"), "destroying", "destroyed")
		s.advance(86400)
		equal(t, status+": status a day later", text(s.instance(id), "status"), "destroyed")
	}
}

// Each status with each action: 200, or 409 without an effect. A destroyed instance can still be read and renamed, so
// actions on it are a 409 as well.
func TestState_Actions(t *testing.T) {
	s := start(t)
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
			"start":  func(path string) response { return s.post(path+"/start", nil) },
			"stop":   func(path string) response { return s.post(path+"/stop", nil) },
			"patch":  func(path string) response { return s.call(http.MethodPatch, path, object{"name": "new"}) },
			"logs":   func(path string) response { return s.get(path + "/logs") },
			"get":    s.get,
			"delete": s.delete,
		} {
			id := text(s.running(object{"type": "interruptible"}), "id")
			s.setInstance(id, object{"status": status, "desired_state": c.desired})
			a := send("/instances/" + id)
			a.request = action + " while " + status
			if slices.Contains(strings.Fields(c.allowed), action) {
				a.want(http.StatusOK)
			} else {
				a.failsWith("conflict")
				o := s.instance(id)
				equal(t, a.request+": the state", text(o, "status")+text(o, "desired_state"), status+c.desired)
			}
			s.setInstance(id, object{"status": "destroyed"})
		}
	}
}

// The market price rises above the bid: the GPU is taken away and not billed, the disk still is. A start places a new
// bid at the current price.
func TestState_Outbid(t *testing.T) {
	s := start(t)
	i := s.running(object{"disk_gb": 150, "type": "interruptible"})
	id, offer := text(i, "id"), s.offers[text(i, "id")]
	bid := integer(s.get("/offers/"+offer).ok(), "price.interruptible_kop_h")
	for _, price := range []int64{bid, max(bid-100, 1)} {
		s.setOffer(offer, object{"interruptible_kop_h": price})
		s.advance(300)
		equal(t, "status with the market not above the bid", text(s.instance(id), "status"), "running")
		equal(t, "price with the market not above the bid", short(s.instance(id)["price"]), short(i["price"]))
	}
	s.setOffer(offer, object{"interruptible_kop_h": bid + 1})
	s.waitFor(id, "outbid")
	s.checkBurn("outbid", at(i, "price.stopped_kop_h"))
	equal(t, "ssh while outbid", s.instance(id)["ssh"], nil)

	s.setOffer(offer, object{"interruptible_kop_h": bid + 500})
	s.action(id, "start").ok()
	checkPath(t, "start", s.waitFor(id, "running"), "outbid", "creating", "starting", "running")
	rebid := s.instance(id)
	equal(t, "running_kop_h with the new bid", integer(rebid, "price.running_kop_h")-integer(i, "price.running_kop_h"),
		500)
	s.checkBurn("with the new bid", at(rebid, "price.running_kop_h"))
	s.setOffer(offer, object{"interruptible_kop_h": bid + 501})
	s.waitFor(id, "outbid")
}

// Only a running interruptible instance of the offer is outbid.
func TestState_OutbidOnlyWhileRunning(t *testing.T) {
	s := start(t)
	raise := func(i object) {
		s.setOffer(s.offers[text(i, "id")], object{"on_demand_kop_h": 9_500_000, "interruptible_kop_h": 9_000_000})
	}
	for _, status := range []string{"creating", "starting", "stopping", "stopped", "failed"} {
		i := s.running(object{"type": "interruptible"})
		s.setInstance(text(i, "id"), object{"status": status})
		raise(i)
		s.advance(60)
		equal(t, "status of an instance that is "+status, text(s.instance(text(i, "id")), "status"), status)
	}
	fixed, other, booting := s.running(nil), s.running(object{"type": "interruptible"}), s.rent(object{
		"type": "interruptible"})
	raise(fixed)
	raise(booting)
	s.waitFor(text(booting, "id"), "outbid")
	check(t, s.instance(text(booting, "id"))["started_at"] != nil, "an instance was outbid that never ran")
	for what, i := range map[string]object{"on-demand": fixed, "other": other} {
		equal(t, "status of the "+what+" instance", text(s.instance(text(i, "id")), "status"), "running")
	}
}

// The host goes offline and online again.
func TestState_HostOffline(t *testing.T) {
	s := start(t)
	i := s.running(nil)
	id, offer := text(i, "id"), s.offers[text(i, "id")]
	s.setOffer(offer, object{"online": false})
	s.waitFor(id, "stopped")
	equal(t, "stop_reason", text(s.instance(id), "stop_reason"), "provider")
	s.checkBurn("stopped", at(i, "price.stopped_kop_h"))
	s.action(id, "start").failsWith("conflict")
	s.get("/instances/" + id + "/logs").failsWith("provider_unavailable")
	s.setOffer(offer, object{"online": true})
	s.get("/instances/" + id + "/logs").ok()
	s.action(id, "start").ok()
	s.waitFor(id, "running")
	s.action(id, "stop").ok()
	s.setOffer(offer, object{"online": false})
	equal(t, "stop_reason of one that was stopped before", text(s.instance(id), "stop_reason"), "user")
	s.destroy(id)
}

// A boot that fails ends in failed. The instance can be deleted and is not billed as running.
func TestState_FailedBoot(t *testing.T) {
	s := start(t)
	body := s.rentBody()
	s.setOffer(text(body, "offer_id"), object{"fail_boots": true})
	id := text(s.create(unique("k"), body).created(), "id")
	checkPath(t, "a failed boot", s.waitFor(id, "failed"), "creating", "starting", "failed")
	equal(t, "started_at", s.instance(id)["started_at"], nil)
	s.checkBurn("failed", 0)
	s.destroy(id)
}
