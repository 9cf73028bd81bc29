package conformance

import "testing"

// spent is what the ledger took for an instance, kopecks.
func (s *service) spent(id string) (usage, bandwidth int64) {
	s.t.Helper()
	for _, o := range s.list("/transactions") {
		if text(o, "instance_id") != id {
			continue
		}
		if text(o, "type") == "bandwidth" {
			bandwidth -= whole(o, "amount_kop")
		} else {
			usage -= whole(o, "amount_kop")
		}
	}
	return usage, bandwidth
}

// balance judges what ties the three sums together, and returns what is posted and what is available.
func (s *service) balance() (posted, available int64) {
	s.t.Helper()
	o := s.get("/balance").ok()
	posted, available = whole(o, "balance_kop"), whole(o, "available_kop")
	var sum, ledger, cost int64
	for _, e := range s.list("/transactions") {
		sum += whole(e, "amount_kop")
		if e["instance_id"] != nil {
			ledger -= whole(e, "amount_kop")
		}
	}
	for _, i := range s.list("/instances?status=all") {
		cost += whole(i, "cost_so_far_kop")
	}
	equal(s.t, "balance_kop against the ledger", posted, sum)
	equal(s.t, "available_kop against the cost of all instances", available, posted-(cost-ledger))
	return posted, available
}

// near allows for the kopeck that is not whole yet.
func near(got, want int64) bool { return got-want <= 1 && want-got <= 1 }

func TestMoneyBySecond(t *testing.T) {
	s := start(t)
	i := s.running(object{"disk_gb": 777})
	id, price, since := text(i, "id"), whole(i, "price.running_kop_h"), instant(i, "started_at")
	for _, step := range []float64{1, 1, 7, 59, 600, 3599, 3600, 86400, 12345, 1} {
		s.advance(step)
		seconds := int64(s.now().Sub(since).Seconds())
		cost := whole(s.instance(id), "cost_so_far_kop")
		check(t, near(cost, price*seconds/3600), "%d s at %d kop/h: cost %d, want %d", seconds, price, cost,
			price*seconds/3600)
		s.balance()
	}
	s.delete("/instances/" + id).ok()
	final := whole(s.instance(id), "cost_so_far_kop")
	s.advance(7 * 86400)
	equal(t, "cost a week after DELETE", whole(s.instance(id), "cost_so_far_kop"), final)
	usage, _ := s.spent(id)
	equal(t, "the ledger's usage", usage, final)
	posted, available := s.balance()
	equal(t, "nothing accrued", posted, available)
	equal(t, "burn", whole(s.get("/balance").ok(), "burn_kop_h"), 0)
}

// The first boot is free: nothing is charged before started_at.
func TestMoneyBootIsFree(t *testing.T) {
	s := start(t)
	id := text(s.rent(nil), "id")
	for range 100 {
		o := s.instance(id)
		if text(o, "status") == "running" {
			break
		}
		equal(t, "cost while "+text(o, "status"), whole(o, "cost_so_far_kop"), 0)
		s.advance(1)
	}
	equal(t, "status", text(s.instance(id), "status"), "running")
}

// While stopped and while outbid only the disk is billed.
func TestMoneyDiskOnly(t *testing.T) {
	s := start(t)
	for _, status := range []string{"stopped", "outbid"} {
		i := s.running(object{"disk_gb": 1500, "type": "interruptible"})
		id, disk := text(i, "id"), whole(i, "price.stopped_kop_h")
		check(t, disk > 0 && disk < whole(i, "price.running_kop_h"), "stopped %d, running %d kop/h", disk,
			whole(i, "price.running_kop_h"))
		if status == "stopped" {
			s.act(id, "stop").ok()
		} else {
			s.offer(s.ofInstance(i), object{"interruptible_kop_h": 9_000_000})
		}
		s.settle(id, status)
		before, since := whole(s.instance(id), "cost_so_far_kop"), s.now()
		for range 4 {
			s.advance(10_000)
			cost := whole(s.instance(id), "cost_so_far_kop") - before
			want := disk * int64(s.now().Sub(since).Seconds()) / 3600
			check(t, near(cost, want), "%s: %d kop, want %d", status, cost, want)
			s.balance()
		}
		s.delete("/instances/" + id).ok()
		final := whole(s.instance(id), "cost_so_far_kop")
		s.advance(86400)
		equal(t, status+": cost a day after DELETE", whole(s.instance(id), "cost_so_far_kop"), final)
	}
}

// The price of a rental is locked: the market moves without it.
func TestMoneyPriceIsLocked(t *testing.T) {
	s := start(t)
	i := s.running(nil)
	id, price := text(i, "id"), whole(i, "price.running_kop_h")
	s.offer(s.ofInstance(i), object{"on_demand_kop_h": price * 10, "interruptible_kop_h": price * 5})
	before := whole(s.instance(id), "cost_so_far_kop")
	s.advance(36_000)
	after := s.instance(id)
	equal(t, "running_kop_h", whole(after, "price.running_kop_h"), price)
	check(t, near(whole(after, "cost_so_far_kop")-before, price*10), "ten hours cost %d, want %d",
		whole(after, "cost_so_far_kop")-before, price*10)
	equal(t, "status of an on-demand rental whose market rose", text(after, "status"), "running")
}

// The offer's price is with the base disk; more costs storage_kop_gb_month.
func TestMoneyExtraDisk(t *testing.T) {
	s := start(t)
	body := s.roomy(2000)
	o := s.get("/offers/" + text(body, "offer_id")).ok()
	base, month := whole(o, "price.on_demand_kop_h"), whole(o, "price.storage_kop_gb_month")
	var last int64
	for _, disk := range []int64{10, 11, 100, 1000, 2000} {
		i := s.rent(object{"offer_id": body["offer_id"], "disk_gb": disk})
		running := whole(i, "price.running_kop_h")
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

// Traffic is billed at traffic_kop_gb, whole kopecks at a time, and no fraction is lost.
func TestMoneyTraffic(t *testing.T) {
	s := start(t)
	i := s.running(object{"offer_id": s.metered()["id"]})
	id, price := text(i, "id"), whole(i, "price.traffic_kop_gb")
	s.force(id, object{"traffic_gb": 10})
	_, bandwidth := s.spent(id)
	equal(t, "10 GB", bandwidth, 10*price)
	for range 8 {
		s.force(id, object{"traffic_gb": 0.125})
		s.balance()
	}
	_, bandwidth = s.spent(id)
	equal(t, "11 GB, the last in eighths", bandwidth, 11*price)
	s.delete("/instances/" + id).ok()
	s.advance(3600)
	s.balance()
}

// With the money at an end servers stop, and say why.
func TestMoneyLowBalance(t *testing.T) {
	s := start(t)
	i := s.running(nil)
	id, price := text(i, "id"), whole(i, "price.running_kop_h")
	_, available := s.balance()
	posted, _ := s.balance()
	s.account(object{"balance_kop": posted - available + price})
	s.advance(3000)
	equal(t, "status with money left", text(s.instance(id), "status"), "running")
	s.advance(7200)
	o := s.settle(id, "stopped")
	equal(t, "stop_reason", text(o, "stop_reason"), "low_balance")
	details := s.act(id, "start").fails("insufficient_funds")
	check(t, whole(details, "short_kop") > 0, "short_kop %v", details["short_kop"])
	s.account(object{"balance_kop": 10_000_000})
	s.act(id, "start").ok()
	s.settle(id, "running")
}
