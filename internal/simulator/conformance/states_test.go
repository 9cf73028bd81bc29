package conformance

import (
	"slices"
	"testing"
)

// The document's table of states and transitions, row by row.

// path follows an instance second by second until it has a status, and returns the statuses on the way.
func (s *service) path(id, to string) []string {
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

// only judges that a way led through the given statuses, in their order, though some may have been too short to be seen.
func only(t *testing.T, what string, way []string, allowed ...string) {
	t.Helper()
	at := 0
	for _, status := range way {
		n := slices.Index(allowed[at:], status)
		if check(t, n >= 0, "%s: the way %v, want %v", what, way, allowed) {
			at += n
		}
	}
}

func TestStateCreation(t *testing.T) {
	s := start(t)
	for _, kind := range []string{"on_demand", "interruptible"} {
		id := text(s.rent(object{"type": kind}), "id")
		only(t, kind, s.path(id, "running"), "creating", "starting", "running")
		equal(t, "desired_state", text(s.instance(id), "desired_state"), "running")
	}
}

func TestStateStopAndStart(t *testing.T) {
	s := start(t)
	i := s.running(object{"disk_gb": 200})
	id := text(i, "id")
	for range 2 {
		o := s.act(id, "stop").ok()
		equal(t, "id in the answer to stop", text(o, "id"), id)
		equal(t, "desired_state after stop", text(o, "desired_state"), "stopped")
		only(t, "stop", s.path(id, "stopped"), "running", "stopping", "stopped")
		o = s.instance(id)
		equal(t, "stop_reason", text(o, "stop_reason"), "user")
		equal(t, "burn while stopped", whole(s.get("/balance").ok(), "burn_kop_h"), whole(i, "price.stopped_kop_h"))

		o = s.act(id, "start").ok()
		equal(t, "id in the answer to start", text(o, "id"), id)
		equal(t, "desired_state after start", text(o, "desired_state"), "running")
		only(t, "start", s.path(id, "running"), "stopped", "creating", "starting", "running")
		equal(t, "burn when started again", whole(s.get("/balance").ok(), "burn_kop_h"),
			whole(i, "price.running_kop_h"))
		o = s.instance(id)
		equal(t, "price after stop and start", brief(o["price"]), brief(i["price"]))
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
		s.force(id, object{"status": status})
		o := s.delete("/instances/" + id).ok()
		equal(t, status+": the answer to DELETE", text(o, "status"), "destroying")
		equal(t, status+": desired_state after DELETE", text(o, "desired_state"), "destroyed")
		s.delete("/instances/" + id).fails("conflict")
		only(t, status, s.path(id, "destroyed"), "destroying", "destroyed")
		s.delete("/instances/" + id).fails("conflict")
		s.advance(86400)
		equal(t, status+": status a day later", text(s.instance(id), "status"), "destroyed")
	}
}

// The market rises above the bid: the GPU is taken away and not billed, the disk still is.
func TestStateOutbid(t *testing.T) {
	s := start(t)
	i := s.running(object{"disk_gb": 150, "type": "interruptible"})
	id, offer := text(i, "id"), s.ofInstance(i)
	bid := whole(s.get("/offers/"+offer).ok(), "price.interruptible_kop_h")

	s.offer(offer, object{"interruptible_kop_h": bid})
	s.advance(300)
	equal(t, "status with the market at the bid", text(s.instance(id), "status"), "running")
	s.offer(offer, object{"interruptible_kop_h": max(bid-100, 1)})
	s.advance(300)
	equal(t, "status with the market below the bid", text(s.instance(id), "status"), "running")
	equal(t, "price with the market below the bid", brief(s.instance(id)["price"]), brief(i["price"]))

	higher := bid + 1
	s.offer(offer, object{"interruptible_kop_h": higher})
	o := s.settle(id, "outbid")
	equal(t, "burn while outbid", whole(s.get("/balance").ok(), "burn_kop_h"), whole(o, "price.stopped_kop_h"))
	s.advance(3600)
	equal(t, "status an hour later", text(s.instance(id), "status"), "outbid")

	// A new bid is placed: at the price of now.
	higher = bid + 500
	s.offer(offer, object{"interruptible_kop_h": higher})
	s.act(id, "start").ok()
	only(t, "start", s.path(id, "running"), "outbid", "creating", "starting", "running")
	rebid := s.instance(id)
	equal(t, "running_kop_h with the new bid", whole(rebid, "price.running_kop_h")-whole(i, "price.running_kop_h"),
		higher-bid)
	before := whole(rebid, "cost_so_far_kop")
	s.advance(36_000)
	cost := whole(s.instance(id), "cost_so_far_kop") - before
	check(t, near(cost, 10*whole(rebid, "price.running_kop_h")), "ten hours at the new bid cost %d, want %d", cost,
		10*whole(rebid, "price.running_kop_h"))
	s.offer(offer, object{"interruptible_kop_h": higher + 1})
	s.settle(id, "outbid")
}

// Only a server that runs is outbid: not one that boots, stops or is stopped.
func TestStateOutbidOnlyWhileRunning(t *testing.T) {
	s := start(t)
	for _, status := range []string{"creating", "starting", "stopping", "stopped", "failed"} {
		i := s.running(object{"type": "interruptible"})
		id, offer := text(i, "id"), s.ofInstance(i)
		s.force(id, object{"status": status})
		s.offer(offer, object{"interruptible_kop_h": 9_000_000})
		s.advance(60)
		equal(t, "status of a server that is "+status, text(s.instance(id), "status"), status)
	}

	i := s.rent(object{"type": "interruptible"})
	id := text(i, "id")
	s.offer(s.ofInstance(i), object{"interruptible_kop_h": 9_000_000})
	check(t, text(s.instance(id), "status") != "outbid", "a new server was outbid before it ran")
	o := s.settle(id, "outbid")
	check(t, o["started_at"] != nil, "a server was outbid that never ran")
}

// A bid is placed by interruptible rentals only, and only for the server that it is for.
func TestStateOutbidOthers(t *testing.T) {
	s := start(t)
	fixed := s.running(nil)
	stopped := s.running(object{"type": "interruptible"})
	other := s.running(object{"type": "interruptible"})
	s.act(text(stopped, "id"), "stop").ok()
	s.settle(text(stopped, "id"), "stopped")
	for _, i := range []object{fixed, stopped} {
		s.offer(s.ofInstance(i), object{"on_demand_kop_h": 9_000_000, "interruptible_kop_h": 8_000_000})
	}
	s.advance(3600)
	equal(t, "an on-demand rental", text(s.instance(text(fixed, "id")), "status"), "running")
	equal(t, "a stopped rental", text(s.instance(text(stopped, "id")), "status"), "stopped")
	equal(t, "the rental of another server", text(s.instance(text(other, "id")), "status"), "running")
}

// The host vanishes, and comes back.
func TestStateHostVanishes(t *testing.T) {
	s := start(t)
	i := s.running(nil)
	id, offer := text(i, "id"), s.ofInstance(i)
	s.offer(offer, object{"online": false})
	o := s.settle(id, "stopped")
	equal(t, "stop_reason", text(o, "stop_reason"), "provider")
	s.act(id, "start").fails("conflict")
	s.get("/instances/" + id + "/logs").fails("provider_unavailable")
	cost := whole(s.instance(id), "cost_so_far_kop")
	s.advance(3600)
	check(t, whole(s.instance(id), "cost_so_far_kop")-cost <= whole(i, "price.stopped_kop_h")+1,
		"a vanished host is billed for more than its disk")
	s.offer(offer, object{"online": true})
	s.get("/instances/" + id + "/logs").ok()
	s.act(id, "start").ok()
	s.settle(id, "running")

	s.offer(offer, object{"online": false})
	s.settle(id, "stopped")
	s.delete("/instances/" + id).ok()
	s.settle(id, "destroyed")

	body := s.ready()
	s.offer(text(body, "offer_id"), object{"online": false})
	s.order(fresh("k"), body).fails("provider_unavailable")
	s.offer(text(body, "offer_id"), object{"online": true})
	s.order(fresh("k"), body).created()
}

// A boot that fails ends in failed; such a server can be removed, and costs nothing for running.
func TestStateFailedBoot(t *testing.T) {
	s := start(t)
	body := s.ready()
	s.offer(text(body, "offer_id"), object{"fail_boots": true})
	id := text(s.order(fresh("k"), body).created(), "id")
	only(t, "a failed boot", s.path(id, "failed"), "creating", "starting", "failed")
	equal(t, "started_at", s.instance(id)["started_at"], nil)
	s.advance(3600)
	check(t, whole(s.instance(id), "cost_so_far_kop") <= whole(s.instance(id), "price.stopped_kop_h")+1,
		"a failed server is billed as running")
	s.act(id, "start").fails("conflict")
	s.delete("/instances/" + id).ok()
	s.settle(id, "destroyed")
}
