package conformance

import "testing"

// checkReplay repeats a create. It must return the same instance with 200 and the header Idempotent-Replayed.
func (s *service) checkReplay(when, key string, body object, id string) {
	s.t.Helper()
	a := s.create(key, body)
	if !check(s.t, a.status == 200, "%s: a repeated create returns %d: %.200s", when, a.status, a.raw) {
		return
	}
	equal(s.t, when+": Idempotent-Replayed", a.header.Get("Idempotent-Replayed"), "true")
	equal(s.t, when+": id", text(a.object(), "id"), id)
	equal(s.t, when+": the instance", short(a.object()["status"]), short(s.instance(id)["status"]))
}

// A repeated create returns the instance, whatever the state of the instance, the market and the account is.
func TestReplay(t *testing.T) {
	s := start(t)
	body, other := s.rentBody(), s.rentBody()
	other["offer_id"] = s.list("/offers?order=-price")[0]["id"]
	other["disk_gb"], other["name"], other["type"] = 50, "another", "on_demand"
	first := s.create("the key", body).want(201)
	equal(t, "Idempotent-Replayed of a creation", first.header.Get("Idempotent-Replayed"), "")
	id := text(first.object(), "id")
	both := func(when string) {
		t.Helper()
		s.checkReplay(when, "the key", body, id)
		s.checkReplay(when+", another body", "the key", other, id)
	}
	both("at once")
	s.waitForStatus(id, "running")
	both("running")
	s.setAccount(object{"balance_kop": 1_000_000})
	spare := s.get("/balance").ok()
	s.setAccount(object{"balance_kop": integer(spare, "balance_kop") - integer(spare, "available_kop") + 10})
	both("no money for two hours")
	s.setAccount(object{"balance_kop": 100_000_000, "max_instances": 1})
	both("limit of instances reached")
	s.setAccount(object{"max_instances": 1000})
	s.setOffer(text(body, "offer_id"), object{"available": false, "on_demand_kop_h": 99})
	both("offer not available")
	for _, status := range statuses {
		s.setInstance(id, object{"status": status})
		both("status " + status)
	}
	s.advance(30 * 86400)
	both("a month later")
	equal(t, "instances", len(s.list("/instances?status=all")), 1)

	next := s.create("another key", other).want(201)
	check(t, text(next.object(), "id") != id, "another key replays the first instance")
}

// An error does not use up the key.
func TestReplayAfterError(t *testing.T) {
	s := start(t)
	body := s.rentBody()
	s.setAccount(object{"balance_kop": 0})
	s.create("refused", body).failsWith("insufficient_funds")
	s.setAccount(object{"balance_kop": 100_000_000, "email_verified": false})
	s.create("refused", body).failsWith("forbidden")
	s.setAccount(object{"email_verified": true, "max_instances": 0})
	s.create("refused", body).failsWith("conflict")
	s.setAccount(object{"max_instances": 10})
	s.create("refused", object{"offer_id": "none", "template": "ubuntu", "disk_gb": 10}).failsWith("not_found")
	s.create("refused", object{"disk_gb": 1}).invalid("disk_gb")
	equal(t, "instances", len(s.list("/instances?status=all")), 0)
	s.create("refused", body).created()
}

// A deleted template does not affect a repeated create.
func TestReplayWithDeletedTemplate(t *testing.T) {
	s := start(t)
	slug := text(s.post("/templates", plainTemplateBody()).created(), "slug")
	body := s.rentBody()
	body["template"] = slug
	id := text(s.create("the key", body).created(), "id")
	s.delete("/templates/" + slug).want(204)
	s.checkReplay("template deleted", "the key", body, id)
}

// The connection is cut after the work. The repeated create returns the instance.
func TestReplayAfterLostResponse(t *testing.T) {
	s := start(t)
	body := s.rentBody()
	s.control("POST", "/faults", object{"method": "POST", "path": "/instances", "drop": "after", "times": 1})
	lost := s.with("Idempotency-Key", "lost")
	check(t, lost.connectionCut("POST", "/instances", body), "the fault cut nothing")
	all := s.list("/instances")
	if equal(t, "instances after a lost response", len(all), 1) {
		s.checkReplay("after a lost response", "lost", body, text(all[0], "id"))
	}
}
