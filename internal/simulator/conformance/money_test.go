package conformance

import "testing"

// charges returns the sum of the ledger entries of an instance in kopecks.
func (s *service) charges(id string) (usage, bandwidth int64) {
	s.t.Helper()
	for _, o := range s.list("/transactions") {
		if text(o, "instance_id") != id {
			continue
		}
		if text(o, "type") == "bandwidth" {
			bandwidth -= integer(o, "amount_kop")
		} else {
			usage -= integer(o, "amount_kop")
		}
	}
	return usage, bandwidth
}

// checkBalance checks the balance against the ledger and the costs. It returns the posted and the available balance.
func (s *service) checkBalance() (posted, available int64) {
	s.t.Helper()
	o := s.get("/balance").ok()
	posted, available = integer(o, "balance_kop"), integer(o, "available_kop")
	var sum, ledger, cost int64
	for _, e := range s.list("/transactions") {
		sum += integer(e, "amount_kop")
		if e["instance_id"] != nil {
			ledger -= integer(e, "amount_kop")
		}
	}
	for _, i := range s.list("/instances?status=all") {
		cost += integer(i, "cost_so_far_kop")
	}
	equal(s.t, "balance_kop against the ledger", posted, sum)
	equal(s.t, "available_kop against the cost of all instances", available, posted-(cost-ledger))
	return posted, available
}

// withinOne allows for a fraction of a kopeck.
func withinOne(got, want int64) bool { return got-want <= 1 && want-got <= 1 }

func TestMoneyBySecond(t *testing.T) {
	s := start(t)
	i := s.running(object{"disk_gb": 777})
	id, price, since := text(i, "id"), integer(i, "price.running_kop_h"), timeOf(i, "started_at")
	for _, step := range []float64{1, 1, 7, 59, 600, 3599, 3600, 86400, 12345, 1} {
		s.advance(step)
		seconds := int64(s.now().Sub(since).Seconds())
		cost := integer(s.instance(id), "cost_so_far_kop")
		check(t, withinOne(cost, price*seconds/3600), "%d s at %d kop/h: cost %d, want %d", seconds, price, cost,
			price*seconds/3600)
		s.checkBalance()
	}
	s.delete("/instances/" + id).ok()
	final := integer(s.instance(id), "cost_so_far_kop")
	s.advance(7 * 86400)
	equal(t, "cost a week after DELETE", integer(s.instance(id), "cost_so_far_kop"), final)
	usage, _ := s.charges(id)
	equal(t, "the ledger's usage", usage, final)
	posted, available := s.checkBalance()
	equal(t, "nothing accrued", posted, available)
	equal(t, "burn", integer(s.get("/balance").ok(), "burn_kop_h"), 0)
}

// The first boot is free: billing begins at started_at.
func TestMoneyBootIsFree(t *testing.T) {
	s := start(t)
	id := text(s.rent(nil), "id")
	for range 100 {
		o := s.instance(id)
		if text(o, "status") == "running" {
			break
		}
		equal(t, "cost while "+text(o, "status"), integer(o, "cost_so_far_kop"), 0)
		s.advance(1)
	}
	equal(t, "status", text(s.instance(id), "status"), "running")
}

// While stopped or outbid, only the disk is billed.
func TestMoneyDiskOnly(t *testing.T) {
	s := start(t)
	for _, status := range []string{"stopped", "outbid"} {
		i := s.running(object{"disk_gb": 1500, "type": "interruptible"})
		id, disk := text(i, "id"), integer(i, "price.stopped_kop_h")
		check(t, disk > 0 && disk < integer(i, "price.running_kop_h"), "stopped %d, running %d kop/h", disk,
			integer(i, "price.running_kop_h"))
		if status == "stopped" {
			s.action(id, "stop").ok()
		} else {
			s.setOffer(s.offerOf(i), object{"interruptible_kop_h": 9_000_000})
		}
		s.waitForStatus(id, status)
		before, since := integer(s.instance(id), "cost_so_far_kop"), s.now()
		for range 4 {
			s.advance(10_000)
			cost := integer(s.instance(id), "cost_so_far_kop") - before
			want := disk * int64(s.now().Sub(since).Seconds()) / 3600
			check(t, withinOne(cost, want), "%s: %d kop, want %d", status, cost, want)
			s.checkBalance()
		}
		s.delete("/instances/" + id).ok()
		final := integer(s.instance(id), "cost_so_far_kop")
		s.advance(86400)
		equal(t, status+": cost a day after DELETE", integer(s.instance(id), "cost_so_far_kop"), final)
	}
}

// The price of a rental does not change with the market.
func TestMoneyPriceIsLocked(t *testing.T) {
	s := start(t)
	i := s.running(nil)
	id, price := text(i, "id"), integer(i, "price.running_kop_h")
	s.setOffer(s.offerOf(i), object{"on_demand_kop_h": price * 10, "interruptible_kop_h": price * 5})
	before := integer(s.instance(id), "cost_so_far_kop")
	s.advance(36_000)
	after := s.instance(id)
	equal(t, "running_kop_h", integer(after, "price.running_kop_h"), price)
	check(t, withinOne(integer(after, "cost_so_far_kop")-before, price*10), "ten hours cost %d, want %d",
		integer(after, "cost_so_far_kop")-before, price*10)
	equal(t, "status of an on-demand rental whose market rose", text(after, "status"), "running")
}

// The price of an offer includes the base disk. A larger disk costs storage_kop_gb_month.
func TestMoneyExtraDisk(t *testing.T) {
	s := start(t)
	body := s.rentBodyWithDisk(2000)
	o := s.get("/offers/" + text(body, "offer_id")).ok()
	base, month := integer(o, "price.on_demand_kop_h"), integer(o, "price.storage_kop_gb_month")
	var last int64
	for _, disk := range []int64{10, 11, 100, 1000, 2000} {
		i := s.rent(object{"offer_id": body["offer_id"], "disk_gb": disk})
		running := integer(i, "price.running_kop_h")
		if disk == 10 {
			equal(t, "running_kop_h with the base disk", running, base)
		}
		want := base + (disk-10)*month/730
		check(t, running >= want-1 && running <= want+(disk-10)*month/720-(disk-10)*month/730+1,
			"%d GB: running_kop_h %d, want about %d", disk, running, want)
		check(t, running >= last, "%d GB costs less than a smaller disk", disk)
		last = running
		s.delete("/instances/" + text(i, "id")).ok()
		s.advance(60)
	}
}

// Traffic is billed in whole kopecks, and no fraction is lost.
func TestMoneyTraffic(t *testing.T) {
	s := start(t)
	i := s.running(object{"offer_id": s.offerWithTraffic()["id"]})
	id, price := text(i, "id"), integer(i, "price.traffic_kop_gb")
	s.setInstance(id, object{"traffic_gb": 10})
	_, bandwidth := s.charges(id)
	equal(t, "10 GB", bandwidth, 10*price)
	for range 8 {
		s.setInstance(id, object{"traffic_gb": 0.125})
		s.checkBalance()
	}
	_, bandwidth = s.charges(id)
	equal(t, "11 GB, the last in eighths", bandwidth, 11*price)
	s.delete("/instances/" + id).ok()
	s.advance(3600)
	s.checkBalance()
}

// When the funds are exhausted, instances stop with the reason low_balance.
func TestMoneyLowBalance(t *testing.T) {
	s := start(t)
	i := s.running(nil)
	id, price := text(i, "id"), integer(i, "price.running_kop_h")
	_, available := s.checkBalance()
	posted, _ := s.checkBalance()
	s.setAccount(object{"balance_kop": posted - available + price})
	s.advance(3000)
	equal(t, "status with money left", text(s.instance(id), "status"), "running")
	s.advance(7200)
	o := s.waitForStatus(id, "stopped")
	equal(t, "stop_reason", text(o, "stop_reason"), "low_balance")
	details := s.action(id, "start").failsWith("insufficient_funds")
	check(t, integer(details, "short_kop") > 0, "short_kop %v", details["short_kop"])
	s.setAccount(object{"balance_kop": 10_000_000})
	s.action(id, "start").ok()
	s.waitForStatus(id, "running")
}
