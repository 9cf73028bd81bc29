package conformance

import "testing"

// setAvailable sets available_kop exactly.
func (s *service) setAvailable(kop int64) {
	s.t.Helper()
	o := s.get("/balance").ok()
	s.setAccount(object{"balance_kop": integer(o, "balance_kop") - integer(o, "available_kop") + kop})
	equal(s.t, "available_kop", integer(s.get("/balance").ok(), "available_kop"), kop)
}

// The funds, credit limit included, must cover exactly two hours of runtime.
func TestFundsToRent(t *testing.T) {
	s := start(t)
	for _, disk := range []int64{10, 200} {
		for _, kind := range []string{"on_demand", "interruptible"} {
			body := s.rentBody()
			body["disk_gb"], body["type"] = disk, kind
			trial := s.create(uniqueName("k"), body).created()
			need := 2 * integer(trial, "price.running_kop_h")
			s.delete("/instances/" + text(trial, "id")).ok()
			s.advance(120)
			for _, credit := range []int64{0, 1, need - 1, need, need + 500} {
				s.setAccount(object{"credit_limit_kop": credit})
				for _, short := range []int64{1, 2, need - 1, need, need + 7} {
					s.setAvailable(need - credit - short)
					details := s.create(uniqueName("k"), body).failsWith("insufficient_funds")
					equal(t, "short_kop", integer(details, "short_kop"), short)
				}
				s.setAvailable(need - credit)
				a := s.create(uniqueName("k"), body)
				if check(t, a.status == 201, "the money just covers two hours: %d %.200s", a.status, a.raw) {
					s.delete("/instances/" + text(a.object(), "id")).ok()
					s.advance(120)
				}
			}
			s.setAccount(object{"credit_limit_kop": 0, "balance_kop": 100_000_000})
		}
	}
}

// Usage that is accrued but not posted reduces the funds.
func TestFundsAccruedUsage(t *testing.T) {
	s := start(t)
	s.running(nil)
	s.advance(1799)
	body := s.rentBody()
	need := 2 * integer(s.get("/offers/"+text(body, "offer_id")).ok(), "price.on_demand_kop_h")
	s.setAvailable(need - 1)
	equal(t, "short_kop", integer(s.create(uniqueName("k"), body).failsWith("insufficient_funds"), "short_kop"), 1)
	s.setAvailable(need)
	s.create(uniqueName("k"), body).created()
}

// The same applies to starts of stopped and outbid instances.
func TestFundsToStart(t *testing.T) {
	s := start(t)
	for status, desired := range map[string]string{"stopped": "stopped", "outbid": "running"} {
		i := s.running(object{"disk_gb": 100, "type": "interruptible"})
		id := text(i, "id")
		need := 2 * integer(i, "price.running_kop_h")
		s.setInstance(id, object{"status": status, "desired_state": desired})
		for _, credit := range []int64{0, 100} {
			s.setAccount(object{"credit_limit_kop": credit})
			for _, short := range []int64{1, need} {
				s.setAvailable(need - credit - short)
				details := s.action(id, "start").failsWith("insufficient_funds")
				equal(t, status+": short_kop", integer(details, "short_kop"), short)
				equal(t, "status after a refused start", text(s.instance(id), "status"), status)
			}
		}
		s.setAvailable(need - 100)
		s.action(id, "start").ok()
		s.setAccount(object{"credit_limit_kop": 0, "balance_kop": 100_000_000})
		s.waitForStatus(id, "running")
		s.delete("/instances/" + id).ok()
		s.advance(120)
	}
}
