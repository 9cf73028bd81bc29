package conformance

import (
	"math"
	"net/http"
	"slices"
	"testing"
)

// Chapter "Account" of the API document.

func TestAccountMe(t *testing.T) {
	s := start(t)
	equal(t, "email_verified", s.get("/me").ok()["email_verified"], any(true))
	s.setAccount(object{"email_verified": false})
	equal(t, "email_verified", s.get("/me").ok()["email_verified"], any(false))
	first, second := s.get("/me").ok(), s.get("/me").ok()
	equal(t, "id", first["id"], second["id"])
}

func TestAccountBalance(t *testing.T) {
	s := start(t)
	s.setAccount(object{"balance_kop": 1_000_000, "credit_limit_kop": 30_000})
	o := s.get("/balance").ok()
	equal(t, "balance_kop", integer(o, "balance_kop"), 1_000_000)
	equal(t, "available_kop", integer(o, "available_kop"), 1_000_000)
	equal(t, "credit_limit_kop", integer(o, "credit_limit_kop"), 30_000)
	equal(t, "burn_kop_h", integer(o, "burn_kop_h"), 0)
	equal(t, "currency", text(o, "currency"), "RUB")
	equal(t, "runway_hours", o["runway_hours"], nil)
}

// burnOfInstances returns the sum of the current prices of all instances.
func (s *service) burnOfInstances() (total int64) {
	s.t.Helper()
	for _, o := range s.list("/instances") {
		switch text(o, "status") {
		case "running":
			total += integer(o, "price.running_kop_h")
		case "stopped", "outbid":
			total += integer(o, "price.stopped_kop_h")
		}
	}
	return total
}

func TestAccountBurnAndRunway(t *testing.T) {
	s := start(t)
	s.setAccount(object{"balance_kop": 50_000_000})
	first := text(s.running(object{"disk_gb": 500}), "id")
	second := text(s.running(object{"disk_gb": 1000, "type": "interruptible"}), "id")
	checkBalance := func(when string) {
		t.Helper()
		o := s.get("/balance").ok()
		equal(t, when+": burn_kop_h", integer(o, "burn_kop_h"), s.burnOfInstances())
		runway, known := number(o, "runway_hours")
		if integer(o, "burn_kop_h") == 0 {
			check(t, !known, "%s: runway %v without burn", when, runway)
			return
		}
		want := float64(integer(o, "available_kop")) / float64(integer(o, "burn_kop_h"))
		check(t, known && math.Abs(runway-want) < 0.1, "%s: runway %v hours, want %v", when, runway, want)
	}
	checkBalance("two run")
	s.action(first, "stop").ok()
	s.waitForStatus(first, "stopped")
	checkBalance("one is stopped")
	s.setInstance(second, object{"status": "outbid"})
	checkBalance("one is stopped, one outbid")
	s.action(first, "start").ok()
	s.waitForStatus(first, "running")
	s.advance(5000)
	checkBalance("started again")
	s.delete("/instances/" + first).ok()
	s.waitForStatus(first, "destroyed")
	s.delete("/instances/" + second).ok()
	s.waitForStatus(second, "destroyed")
	checkBalance("none")
}

func TestAccountTransactions(t *testing.T) {
	s := start(t)
	ids := map[string]bool{}
	for range 3 {
		id := text(s.running(nil), "id")
		ids[id] = true
		s.advance(5 * 3600)
		s.delete("/instances/" + id).ok()
		s.advance(3600)
	}
	s.setAccount(object{"balance_kop": 123_456})
	entries := s.list("/transactions")
	var sum, usage int64
	for _, o := range entries {
		sum += integer(o, "amount_kop")
		check(t, !timeOf(o, "at").After(s.now()), "an entry in the future: %v", o)
		switch text(o, "type") {
		case "usage", "bandwidth":
			usage++
			check(t, integer(o, "amount_kop") < 0, "usage with a positive amount: %v", o)
			check(t, ids[text(o, "instance_id")], "usage of an unknown instance: %v", o)
		case "topup", "refund", "promo_grant":
			check(t, integer(o, "amount_kop") > 0, "a credit with a negative amount: %v", o)
		}
		check(t, integer(o, "amount_kop") != 0, "an entry with amount 0: %v", o)
	}
	check(t, usage >= 3, "%d entries of usage for three rentals", usage)
	equal(t, "sum of the ledger", sum, 123_456)
	equal(t, "balance_kop", integer(s.get("/balance").ok(), "balance_kop"), sum)
	sorted := slices.IsSortedFunc(entries, func(a, b object) int { return timeOf(b, "at").Compare(timeOf(a, "at")) })
	check(t, sorted, "the ledger is not newest first")
	s.get("/transactions?limit=201").invalid("limit")
	s.get("/transactions?type=no_such_filter").want(http.StatusOK)
}
