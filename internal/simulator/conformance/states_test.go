package conformance

import (
	"slices"
	"testing"
)

// The table of states and transitions, row by row.

// statusesUntil advances the clock by seconds until the instance has a status. It returns all statuses that it saw.
func (s *service) statusesUntil(id, to string) []string {
	s.t.Helper()
	var seen []string
	for range 600 {
		status := text(s.instance(id), "status")
		if len(seen) == 0 || seen[len(seen)-1] != status {
			seen = append(seen, status)
		}
		if status == to {
			return seen
		}
		s.advance(1)
	}
	s.t.Fatalf("instance %s: not %s after 600 s, but %v", id, to, seen)
	return nil
}

// checkPath checks that statuses occur in the given order. Some may be missing, because they were too short.
func checkPath(t *testing.T, what string, statuses []string, allowed ...string) {
	t.Helper()
	at := 0
	for _, status := range statuses {
		n := slices.Index(allowed[at:], status)
		if check(t, n >= 0, "%s: statuses %v, want %v", what, statuses, allowed) {
			at += n
		}
	}
}

func TestStateCreation(t *testing.T) {
	s := start(t)
	for _, kind := range []string{"on_demand", "interruptible"} {
		id := text(s.rent(object{"type": kind}), "id")
		checkPath(t, kind, s.statusesUntil(id, "running"), "creating", "starting", "running")
		equal(t, "desired_state", text(s.instance(id), "desired_state"), "running")
	}
}

func TestStateStopAndStart(t *testing.T) {
	s := start(t)
	i := s.running(object{"disk_gb": 200})
	id := text(i, "id")
	for range 2 {
		o := s.action(id, "stop").ok()
		equal(t, "id in the response to stop", text(o, "id"), id)
		equal(t, "desired_state after stop", text(o, "desired_state"), "stopped")
		checkPath(t, "stop", s.statusesUntil(id, "stopped"), "running", "stopping", "stopped")
		o = s.instance(id)
		equal(t, "stop_reason", text(o, "stop_reason"), "user")
		equal(t, "burn while stopped", integer(s.get("/balance").ok(), "burn_kop_h"), integer(i, "price.stopped_kop_h"))

		o = s.action(id, "start").ok()
		equal(t, "id in the response to start", text(o, "id"), id)
		equal(t, "desired_state after start", text(o, "desired_state"), "running")
		checkPath(t, "start", s.statusesUntil(id, "running"), "stopped", "creating", "starting", "running")
		equal(t, "burn when started again", integer(s.get("/balance").ok(), "burn_kop_h"),
			integer(i, "price.running_kop_h"))
		o = s.instance(id)
		equal(t, "price after stop and start", short(o["price"]), short(i["price"]))
	}
}

func TestStateDelete(t *testing.T) {
	s := start(t)
	for _, status := range statuses {
		if status == "destroying" || status == "destroyed" {
			continue
		}
		i := s.running(nil)
		id := text(i, "id")
		s.setInstance(id, object{"status": status})
		o := s.delete("/instances/" + id).ok()
		equal(t, status+": the response to DELETE", text(o, "status"), "destroying")
		equal(t, status+": desired_state after DELETE", text(o, "desired_state"), "destroyed")
		s.delete("/instances/" + id).failsWith("conflict")
		checkPath(t, status, s.statusesUntil(id, "destroyed"), "destroying", "destroyed")
		s.delete("/instances/" + id).failsWith("conflict")
		s.advance(86400)
		equal(t, status+": status a day later", text(s.instance(id), "status"), "destroyed")
	}
}

// The market price rises above the bid: the GPU is taken away and not billed, the disk still is.
func TestStateOutbid(t *testing.T) {
	s := start(t)
	i := s.running(object{"disk_gb": 150, "type": "interruptible"})
	id, offer := text(i, "id"), s.offerOf(i)
	bid := integer(s.get("/offers/"+offer).ok(), "price.interruptible_kop_h")

	s.setOffer(offer, object{"interruptible_kop_h": bid})
	s.advance(300)
	equal(t, "status with the market at the bid", text(s.instance(id), "status"), "running")
	s.setOffer(offer, object{"interruptible_kop_h": max(bid-100, 1)})
	s.advance(300)
	equal(t, "status with the market below the bid", text(s.instance(id), "status"), "running")
	equal(t, "price with the market below the bid", short(s.instance(id)["price"]), short(i["price"]))

	higher := bid + 1
	s.setOffer(offer, object{"interruptible_kop_h": higher})
	o := s.waitForStatus(id, "outbid")
	equal(t, "burn while outbid", integer(s.get("/balance").ok(), "burn_kop_h"), integer(o, "price.stopped_kop_h"))
	s.advance(3600)
	equal(t, "status an hour later", text(s.instance(id), "status"), "outbid")

	// A start places a new bid at the current price.
	higher = bid + 500
	s.setOffer(offer, object{"interruptible_kop_h": higher})
	s.action(id, "start").ok()
	checkPath(t, "start", s.statusesUntil(id, "running"), "outbid", "creating", "starting", "running")
	rebid := s.instance(id)
	equal(t, "running_kop_h with the new bid", integer(rebid, "price.running_kop_h")-integer(i, "price.running_kop_h"),
		higher-bid)
	before := integer(rebid, "cost_so_far_kop")
	s.advance(36_000)
	cost := integer(s.instance(id), "cost_so_far_kop") - before
	check(t, withinOne(cost, 10*integer(rebid, "price.running_kop_h")), "ten hours at the new bid cost %d, want %d",
		cost,
		10*integer(rebid, "price.running_kop_h"))
	s.setOffer(offer, object{"interruptible_kop_h": higher + 1})
	s.waitForStatus(id, "outbid")
}

// Only a running instance is outbid, not one that boots, stops or is stopped.
func TestStateOutbidOnlyWhileRunning(t *testing.T) {
	s := start(t)
	for _, status := range []string{"creating", "starting", "stopping", "stopped", "failed"} {
		i := s.running(object{"type": "interruptible"})
		id, offer := text(i, "id"), s.offerOf(i)
		s.setInstance(id, object{"status": status})
		s.setOffer(offer, object{"interruptible_kop_h": 9_000_000})
		s.advance(60)
		equal(t, "status of a server that is "+status, text(s.instance(id), "status"), status)
	}

	i := s.rent(object{"type": "interruptible"})
	id := text(i, "id")
	s.setOffer(s.offerOf(i), object{"interruptible_kop_h": 9_000_000})
	check(t, text(s.instance(id), "status") != "outbid", "a new instance was outbid before it ran")
	o := s.waitForStatus(id, "outbid")
	check(t, o["started_at"] != nil, "an instance was outbid that never ran")
}

// Only interruptible instances have a bid, each for its own offer.
func TestStateOutbidOthers(t *testing.T) {
	s := start(t)
	fixed := s.running(nil)
	stopped := s.running(object{"type": "interruptible"})
	other := s.running(object{"type": "interruptible"})
	s.action(text(stopped, "id"), "stop").ok()
	s.waitForStatus(text(stopped, "id"), "stopped")
	for _, i := range []object{fixed, stopped} {
		s.setOffer(s.offerOf(i), object{"on_demand_kop_h": 9_000_000, "interruptible_kop_h": 8_000_000})
	}
	s.advance(3600)
	equal(t, "an on-demand rental", text(s.instance(text(fixed, "id")), "status"), "running")
	equal(t, "a stopped rental", text(s.instance(text(stopped, "id")), "status"), "stopped")
	equal(t, "the rental of another server", text(s.instance(text(other, "id")), "status"), "running")
}

// The host goes offline and online again.
func TestStateHostOffline(t *testing.T) {
	s := start(t)
	i := s.running(nil)
	id, offer := text(i, "id"), s.offerOf(i)
	s.setOffer(offer, object{"online": false})
	o := s.waitForStatus(id, "stopped")
	equal(t, "stop_reason", text(o, "stop_reason"), "provider")
	s.action(id, "start").failsWith("conflict")
	s.get("/instances/" + id + "/logs").failsWith("provider_unavailable")
	cost := integer(s.instance(id), "cost_so_far_kop")
	s.advance(3600)
	check(t, integer(s.instance(id), "cost_so_far_kop")-cost <= integer(i, "price.stopped_kop_h")+1,
		"a vanished host is billed for more than its disk")
	s.setOffer(offer, object{"online": true})
	s.get("/instances/" + id + "/logs").ok()
	s.action(id, "start").ok()
	s.waitForStatus(id, "running")

	s.setOffer(offer, object{"online": false})
	s.waitForStatus(id, "stopped")
	s.delete("/instances/" + id).ok()
	s.waitForStatus(id, "destroyed")

	body := s.rentBody()
	s.setOffer(text(body, "offer_id"), object{"online": false})
	s.create(uniqueName("k"), body).failsWith("provider_unavailable")
	s.setOffer(text(body, "offer_id"), object{"online": true})
	s.create(uniqueName("k"), body).created()
}

// A boot that fails ends in failed. The instance can be deleted and is not billed as running.
func TestStateFailedBoot(t *testing.T) {
	s := start(t)
	body := s.rentBody()
	s.setOffer(text(body, "offer_id"), object{"fail_boots": true})
	id := text(s.create(uniqueName("k"), body).created(), "id")
	checkPath(t, "a failed boot", s.statusesUntil(id, "failed"), "creating", "starting", "failed")
	equal(t, "started_at", s.instance(id)["started_at"], nil)
	s.advance(3600)
	check(t, integer(s.instance(id), "cost_so_far_kop") <= integer(s.instance(id), "price.stopped_kop_h")+1,
		"a failed server is billed as running")
	s.action(id, "start").failsWith("conflict")
	s.delete("/instances/" + id).ok()
	s.waitForStatus(id, "destroyed")
}
