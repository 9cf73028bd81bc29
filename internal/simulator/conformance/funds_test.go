package conformance

import "testing"

// purse sets what is available to spend, without the credit limit, to the kopeck.
func (s *service) purse(kop int64) {
	s.t.Helper()
	o := s.get("/balance").ok()
	s.account(object{"balance_kop": whole(o, "balance_kop") - whole(o, "available_kop") + kop})
	equal(s.t, "available_kop", whole(s.get("/balance").ok(), "available_kop"), kop)
}

// The balance must cover two hours of runtime, not a kopeck less; a credit limit counts as money.
func TestFundsToRent(t *testing.T) {
	s := start(t)
	for _, disk := range []int64{10, 200} {
		for _, kind := range []string{"on_demand", "interruptible"} {
			body := s.ready()
			body["disk_gb"], body["type"] = disk, kind
			trial := s.order(fresh("k"), body).created()
			need := 2 * whole(trial, "price.running_kop_h")
			s.delete("/instances/" + text(trial, "id")).ok()
			s.advance(120)
			for _, credit := range []int64{0, 1, need - 1, need, need + 500} {
				s.account(object{"credit_limit_kop": credit})
				for _, short := range []int64{1, 2, need - 1, need, need + 7} {
					s.purse(need - credit - short)
					details := s.order(fresh("k"), body).fails("insufficient_funds")
					equal(t, "short_kop", whole(details, "short_kop"), short)
				}
				s.purse(need - credit)
				a := s.order(fresh("k"), body)
				if check(t, a.status == 201, "the money just covers two hours: %d %.200s", a.status, a.raw) {
					s.delete("/instances/" + text(a.object(), "id")).ok()
					s.advance(120)
				}
			}
			s.account(object{"credit_limit_kop": 0, "balance_kop": 100_000_000})
		}
	}
}

// What is accrued and not yet posted is spent.
func TestFundsBesideOthers(t *testing.T) {
	s := start(t)
	s.running(nil)
	s.advance(1799)
	body := s.ready()
	need := 2 * whole(s.get("/offers/"+text(body, "offer_id")).ok(), "price.on_demand_kop_h")
	s.purse(need - 1)
	equal(t, "short_kop", whole(s.order(fresh("k"), body).fails("insufficient_funds"), "short_kop"), 1)
	s.purse(need)
	s.order(fresh("k"), body).created()
}

// The same holds for a start, of a stopped and of an outbid server.
func TestFundsToStart(t *testing.T) {
	s := start(t)
	for status, desired := range map[string]string{"stopped": "stopped", "outbid": "running"} {
		i := s.running(object{"disk_gb": 100, "type": "interruptible"})
		id := text(i, "id")
		need := 2 * whole(i, "price.running_kop_h")
		s.force(id, object{"status": status, "desired_state": desired})
		for _, credit := range []int64{0, 100} {
			s.account(object{"credit_limit_kop": credit})
			for _, short := range []int64{1, need} {
				s.purse(need - credit - short)
				details := s.act(id, "start").fails("insufficient_funds")
				equal(t, status+": short_kop", whole(details, "short_kop"), short)
				equal(t, "status after a refused start", text(s.instance(id), "status"), status)
			}
		}
		s.purse(need - 100)
		s.act(id, "start").ok()
		s.account(object{"credit_limit_kop": 0, "balance_kop": 100_000_000})
		s.settle(id, "running")
		s.delete("/instances/" + id).ok()
		s.advance(120)
	}
}
