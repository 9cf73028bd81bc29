package simulator_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// launches are templates of each kind: what is reached how, and the disk that it needs.
var launches = []struct {
	slug   string
	hasSSH bool
	ports  int
	diskGB int64
}{
	{"ubuntu", true, 0, 10}, {"pytorch", true, 1, 20}, {"pytorch-jupyter", true, 2, 25}, {"vllm", false, 1, 40},
}

// outcomes are the statuses that may be answered: the refusals that have a reason, or the success where none has.
func outcomes(success int, refusals map[int]bool) []int {
	var may []int
	for status, reason := range refusals {
		if reason {
			may = append(may, status)
		}
	}
	if may == nil {
		return []int{success}
	}
	return may
}

// expect sends a request that must be answered with one of the statuses, and tells whether it succeeded. A refusal for
// money must say exactly how much is missing.
func (h *history) expect(a answer, may []int, short int64) bool {
	if !slices.Contains(may, a.status) {
		h.rt.Fatalf("status %d, want one of %v: %s", a.status, may, a.raw)
	}
	if a.status == 402 && a.problem().Error.Details.Short != short {
		h.rt.Fatalf("short of %d kopecks: %s", short, a.raw)
	}
	return a.status < 300
}

func (h *history) rent(rt *rapid.T) {
	host := h.hosts[rapid.IntRange(0, len(h.hosts)-1).Draw(rt, "offer")]
	launch := launches[rapid.IntRange(0, len(launches)-1).Draw(rt, "template")]
	bid := rapid.Bool().Draw(rt, "interruptible")
	disk := rapid.Int64Range(launch.diskGB, 300).Draw(rt, "disk")
	var shown *int64
	if price := host.price(bid); price != nil {
		shown = new(*price)
	}
	if rapid.IntRange(0, 3).Draw(rt, "moved") == 0 {
		h.movePriceOf(rt, host)
	}
	rental, price := "on_demand", host.price(bid)
	if bid {
		rental = "interruptible"
	}
	var running int64
	if price != nil {
		running = *price + host.extraKopH(disk)
	}
	h.rentals++
	short := h.short(h.fleet, running)
	a := h.with("Idempotency-Key", fmt.Sprint("key", h.rentals)).do("POST", "/instances", m{
		"offer_id": host.ID, "template": launch.slug, "disk_gb": disk, "type": rental,
	})
	if !h.expect(a, outcomes(201, map[int]bool{
		422: price == nil || host.Disk.MaxGB != nil && disk > *host.Disk.MaxGB,
		503: !host.online,
		409: !host.listed || host.tenant != nil || h.held() >= h.most || !equalPrices(shown, price),
		402: short > 0,
	}), short) {
		h.look(true)
		return
	}
	var made instance
	a.into(&made)
	if made.Status != "creating" || made.DesiredState != "running" {
		h.rt.Fatalf("a new instance: %s", a.raw)
	}
	seen := h.Overview().Instances[0]
	if seen.ID != made.ID || h.find(seen.ID) != nil || seen.OfferID != host.ID || !seen.CreatedAt.Equal(h.at) {
		h.rt.Fatalf("the newest instance is %+v, want %s", seen, made.ID)
	}
	i := &rented{Instance: seen, host: host, diskGB: disk, createdAt: h.at, hasSSH: launch.hasSSH, ports: launch.ports, traffic: host.Price.Traffic}
	i.Status, i.Type, i.RunningKopH, i.StoppedKopH, i.BidKopH, i.SSH = "creating", rental, running, host.diskKopH(disk), 0, ""
	if bid {
		i.BidKopH = *price
	}
	i.head("running", "")
	host.tenant = i
	h.fleet = append(h.fleet, i)
	h.disturb()
	h.look(true)
}

// equalPrices is whether a price is what it was. Each step of a history looks at every offer, so that the price that
// was shown last is the one before the step.
func equalPrices(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// any draws one of the instances, destroyed ones included; nil while there is none. Those that fit come first, mostly.
func (h *history) any(rt *rapid.T, fits func(*rented) bool) *rented {
	var some []*rented
	if rapid.IntRange(0, 3).Draw(rt, "unfit") > 0 {
		for _, i := range h.fleet {
			if fits(i) {
				some = append(some, i)
			}
		}
	}
	if some == nil {
		some = h.fleet
	}
	if len(some) == 0 {
		return nil
	}
	// The newest ones are the most interesting: the old ones are mostly gone.
	back := rapid.IntRange(0, min(len(some), 5)-1).Draw(rt, "instance")
	return some[len(some)-1-back]
}

// here is for what can be done to any instance that is not destroyed.
func (h *history) here(i *rented) bool { return !i.destroyed() }

func (i *rented) startable() bool {
	return i.Status == "stopped" && i.Desired == "stopped" || i.Status == "outbid" && i.Desired == "running" && !i.ahead
}

func (h *history) start(rt *rapid.T) {
	i := h.any(rt, (*rented).startable)
	if i == nil {
		return
	}
	price, market := i.RunningKopH, i.host.Price.Interruptible
	rebid := i.interruptible() && (i.Status == "outbid" || *market > i.BidKopH)
	if rebid {
		price = *market + i.host.extraKopH(i.diskGB)
	}
	short := h.short(h.fleet, price)
	a := h.do("POST", "/instances/"+i.ID+"/start", nil)
	if h.expect(a, outcomes(200, map[int]bool{
		409: !i.startable() || !i.host.online, 402: i.startable() && short > 0,
	}), short) {
		if rebid {
			i.BidKopH, i.RunningKopH = *market, price
		}
		i.loose = false
		i.head("running", "")
		h.disturb()
	}
	h.look(true)
}

func (i *rented) stoppable() bool { return i.live() || i.Status == "outbid" && i.Desired == "running" }

func (h *history) stop(rt *rapid.T) {
	i := h.any(rt, (*rented).stoppable)
	if i == nil {
		return
	}
	a := h.do("POST", "/instances/"+i.ID+"/stop", nil)
	if h.expect(a, outcomes(200, map[int]bool{409: !i.stoppable()}), 0) {
		i.loose = false
		i.stop("user")
		h.disturb()
	}
	h.look(true)
}

func (h *history) destroy(rt *rapid.T) {
	i := h.any(rt, h.here)
	if i == nil {
		return
	}
	a := h.do("DELETE", "/instances/"+i.ID, nil)
	if h.expect(a, outcomes(200, map[int]bool{409: i.destroyed() || i.Status == "destroying"}), 0) {
		var told instance
		if a.into(&told); told.Status != "destroying" {
			h.rt.Fatalf("destroyed: %s", a.raw)
		}
		i.loose = false
		i.head("destroyed", i.StopReason)
		i.enter("destroying", h.at)
		h.disturb()
	}
	h.look(true)
}
