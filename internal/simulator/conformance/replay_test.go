package conformance

import "testing"

// replays judges a repeat: the same instance, 200, and the header that says so.
func (s *service) replays(when, key string, body object, id string) {
	s.t.Helper()
	a := s.order(key, body)
	if !check(s.t, a.status == 200, "%s: a repeat answers %d: %.200s", when, a.status, a.raw) {
		return
	}
	equal(s.t, when+": Idempotent-Replayed", a.header.Get("Idempotent-Replayed"), "true")
	equal(s.t, when+": id", text(a.object(), "id"), id)
	equal(s.t, when+": the instance", brief(a.object()["status"]), brief(s.instance(id)["status"]))
}

// A repeat is answered with the instance whatever became of it, and of the market, and of the account.
func TestReplay(t *testing.T) {
	s := start(t)
	body, other := s.ready(), s.ready()
	other["offer_id"] = s.list("/offers?order=-price")[0]["id"]
	other["disk_gb"], other["name"], other["type"] = 50, "another", "on_demand"
	first := s.order("the key", body).want(201)
	equal(t, "Idempotent-Replayed of a creation", first.header.Get("Idempotent-Replayed"), "")
	id := text(first.object(), "id")
	both := func(when string) {
		t.Helper()
		s.replays(when, "the key", body, id)
		s.replays(when+", another body", "the key", other, id)
	}
	both("at once")
	s.settle(id, "running")
	both("running")
	s.account(object{"balance_kop": 1_000_000})
	spare := s.get("/balance").ok()
	s.account(object{"balance_kop": whole(spare, "balance_kop") - whole(spare, "available_kop") + 10})
	both("no money for two hours")
	s.account(object{"balance_kop": 100_000_000, "max_instances": 1})
	both("limit of instances reached")
	s.account(object{"max_instances": 1000})
	s.offer(text(body, "offer_id"), object{"available": false, "on_demand_kop_h": 99})
	both("the offer is gone")
	for _, status := range statuses {
		s.force(id, object{"status": status})
		both("status " + status)
	}
	s.advance(30 * 86400)
	both("a month later")
	equal(t, "instances", len(s.list("/instances?status=all")), 1)

	next := s.order("another key", other).want(201)
	check(t, text(next.object(), "id") != id, "another key replays the first instance")
}

// A refusal uses up no key: once its reason is gone, the same key creates.
func TestReplayAfterRefusal(t *testing.T) {
	s := start(t)
	body := s.ready()
	s.account(object{"balance_kop": 0})
	s.order("refused", body).fails("insufficient_funds")
	s.account(object{"balance_kop": 100_000_000, "email_verified": false})
	s.order("refused", body).fails("forbidden")
	s.account(object{"email_verified": true, "max_instances": 0})
	s.order("refused", body).fails("conflict")
	s.account(object{"max_instances": 10})
	s.order("refused", object{"offer_id": "none", "template": "ubuntu", "disk_gb": 10}).fails("not_found")
	s.order("refused", object{"disk_gb": 1}).invalid("disk_gb")
	equal(t, "instances", len(s.list("/instances?status=all")), 0)
	s.order("refused", body).created()
}

// A template that is deleted does not stand in the way of a repeat.
func TestReplayWithDeletedTemplate(t *testing.T) {
	s := start(t)
	slug := text(s.post("/templates", plainTemplateBody()).created(), "slug")
	body := s.ready()
	body["template"] = slug
	id := text(s.order("the key", body).created(), "id")
	s.delete("/templates/" + slug).want(204)
	s.replays("template deleted", "the key", body, id)
}

// The connection is cut after the work is done: the repeat finds the instance.
func TestReplayAfterLostAnswer(t *testing.T) {
	s := start(t)
	body := s.ready()
	s.steer("POST", "/faults", object{"method": "POST", "path": "/instances", "drop": "after", "times": 1})
	lost := s.with("Idempotency-Key", "lost")
	check(t, lost.cut("POST", "/instances", body), "the fault cut nothing")
	all := s.list("/instances")
	if equal(t, "instances after a lost answer", len(all), 1) {
		s.replays("after a lost answer", "lost", body, text(all[0], "id"))
	}
}
