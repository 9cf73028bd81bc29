package simulator_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"

	"pgregory.net/rapid"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// must ends the history on an error.
func (h *history) must(err error) {
	if err != nil {
		h.rt.Fatalf("%v", err)
	}
}

// some draws one of the hosts, mostly one where something is rented that the matter is about.
func (h *history) some(rt *rapid.T, fits func(*rented) bool) *host {
	fit := slices.DeleteFunc(slices.Clone(h.hosts), func(host *host) bool { return host.tenant == nil || !fits(host.tenant) })
	if len(fit) == 0 || rapid.Bool().Draw(rt, "any") {
		fit = h.hosts
	}
	return fit[rapid.IntRange(0, len(fit)-1).Draw(rt, "offer")]
}

// maxOfferPrice is the highest price of an offer that the simulator accepts, in kopecks an hour.
const maxOfferPrice = 10_000_000

// moveBid moves the price of interruptible servers, mostly to the edge of the bid that stands.
func (h *history) moveBid(rt *rapid.T) {
	host := h.some(rt, (*rented).interruptible)
	if host.Price.Interruptible == nil {
		return
	}
	price := rapid.Int64Range(0, min(2*host.Price.OnDemand, maxOfferPrice)).Draw(rt, "price")
	if i := host.tenant; i != nil && rapid.Bool().Draw(rt, "at the bid") {
		price = min(max(i.BidKopH+rapid.Int64Range(-1, 1).Draw(rt, "past it"), 0), maxOfferPrice)
	}
	h.must(h.SetOffer(host.ID, simulator.OfferPatch{InterruptibleKopH: &price}))
	host.Price.Interruptible = &price
	h.market(host)
}

func (h *history) movePrice(rt *rapid.T) {
	h.movePriceOf(rt, h.some(rt, (*rented).interruptible))
}

func (h *history) movePriceOf(rt *rapid.T, host *host) {
	price := rapid.OneOf(rapid.Int64Range(0, 9000), rapid.Just[int64](maxOfferPrice)).Draw(rt, "price")
	listed := rapid.IntRange(0, 4).Draw(rt, "listed") > 0
	h.must(h.SetOffer(host.ID, simulator.OfferPatch{OnDemandKopH: &price, Available: &listed}))
	host.Price.OnDemand, host.listed = price, listed
	h.market(host)
}

// market is what a price does to the rental.
func (h *history) market(host *host) {
	if i := host.tenant; i != nil && i.bidPassed() {
		i.enter("outbid", h.at)
	}
	h.look(true)
}

// toggleHost takes a host away or brings it back, or makes its boots fail.
func (h *history) toggleHost(rt *rapid.T) {
	host := h.some(rt, (*rented).live)
	if rapid.IntRange(0, 2).Draw(rt, "boots") == 0 {
		host.failBoots = !host.failBoots
		h.must(h.SetOffer(host.ID, simulator.OfferPatch{FailBoots: &host.failBoots}))
		h.look(true)
		return
	}
	host.online = !host.online
	h.must(h.SetOffer(host.ID, simulator.OfferPatch{Online: &host.online}))
	if i := host.tenant; i != nil && !host.online {
		i.vanish(h.at)
	}
	h.look(true)
}

// force puts an instance into any status, where it must stay.
func (h *history) force(rt *rapid.T) {
	i := h.any(rt, h.here)
	status := rapid.SampledFrom([]string{
		"creating", "starting", "running", "running", "stopping", "stopped", "stopped", "destroying", "destroyed", "failed", "outbid",
	}).Draw(rt, "status")
	if i == nil {
		return
	}
	err := h.SetInstance(i.ID, simulator.InstancePatch{Status: &status})
	if i.destroyed() {
		if (err != nil) != (status != "destroyed") {
			h.rt.Fatalf("a destroyed instance was forced into %s: %v", status, err)
		}
		h.look(true)
		return
	}
	h.must(err)
	i.ahead = false
	i.enter(status, h.at)
	switch {
	case status == "running" && i.bidPassed():
		i.enter("outbid", h.at)
	case status == "running" && i.hasSSH:
		i.SSH = sshAtOnce
	}
	h.look(true)
}

// setGoal changes what an instance says about its goal, and nothing else.
func (h *history) setGoal(rt *rapid.T) {
	i := h.any(rt, h.here)
	desired := rapid.SampledFrom([]string{"running", "stopped", "destroyed"}).Draw(rt, "desired")
	reason := rapid.SampledFrom([]string{"", "user", "admin", "provider", "low_balance"}).Draw(rt, "reason")
	if i == nil {
		return
	}
	h.must(h.SetInstance(i.ID, simulator.InstancePatch{DesiredState: &desired, StopReason: &reason}))
	i.Desired, i.StopReason, i.loose = desired, reason, true
	h.look(true)
}

func (h *history) causeTraffic(rt *rapid.T) {
	i := h.any(rt, h.here)
	gb := rapid.OneOf(rapid.Float64Range(0, 3), rapid.Float64Range(0, 2000), rapid.SampledFrom([]float64{0, 0.001, 0.0004, 1})).Draw(rt, "gb")
	if i == nil {
		return
	}
	h.must(h.SetInstance(i.ID, simulator.InstancePatch{TrafficGB: &gb}))
	i.trafficMilliKop += int64(math.Round(gb*1000)) * i.traffic
	h.look(true)
}

// setMoney sets the balance, mostly to where it just covers something, or just does not.
func (h *history) setMoney(rt *rapid.T) {
	kop := rapid.OneOf(rapid.Int64Range(-2000, 2000), rapid.Int64Range(0, 60_000), rapid.Just[int64](1_000_000_000)).Draw(rt, "balance")
	if i := h.any(rt, (*rented).startable); i != nil && rapid.Bool().Draw(rt, "edge") {
		price, market := i.RunningKopH, i.host.Price.Interruptible
		if i.Status == "outbid" && market != nil {
			price = *market + i.host.extraKopH(i.diskGB)
		}
		hours := rapid.Int64Range(0, 2).Draw(rt, "hours")
		kop = hours*price + h.accruedKop() - h.creditKop + rapid.Int64Range(-1, 1).Draw(rt, "past it")
	}
	h.must(h.SetAccount(simulator.AccountPatch{BalanceKop: &kop}))
	h.adjustKop = kop - h.balanceKop
	h.look(true)
	if h.balanceKop != kop {
		h.rt.Fatalf("a balance of %d was set to %d", h.balanceKop, kop)
	}
}

func (h *history) setLimits(rt *rapid.T) {
	h.creditKop = rapid.SampledFrom([]int64{0, 1, 500, 50_000}).Draw(rt, "credit")
	h.most = rapid.Int64Range(0, 8).Draw(rt, "instances")
	h.must(h.SetAccount(simulator.AccountPatch{CreditLimitKop: &h.creditKop, MaxInstances: &h.most}))
	h.look(true)
}

// changeKeys adds and deletes keys, which no server may feel.
func (h *history) changeKeys(*rapid.T) {
	var ssh, api struct{ ID string }
	h.do("POST", "/ssh-keys", m{"public_key": ed25519A}).want(201).into(&ssh)
	h.do("POST", "/api-keys", m{"name": "k", "scopes": []string{"user:read"}}).want(201).into(&api)
	h.do("DELETE", "/ssh-keys/"+ssh.ID, nil).want(204)
	h.do("DELETE", "/api-keys/"+api.ID, nil).want(204)
	h.look(true)
}

// reset goes back to the seed's first state, rarely: it ends the history so far.
func (h *history) reset(rt *rapid.T) {
	if !oneIn(10).Draw(rt, "reset") {
		return
	}
	h.must(h.Reset())
	h.SetRateLimit(0, 0)
	h.begin()
}

// restart drops the simulator, as a kill does, and goes on from its file: nothing that anybody was told is lost.
func (h *history) restart() {
	if h.config.State == "" {
		return
	}
	before := h.everything()
	sim, err := simulator.New(h.config)
	h.must(err)
	h.Simulator = sim
	if after := h.everything(); !slices.Equal(before, after) {
		h.rt.Fatalf("a restart changes\n%s\nto\n%s", before, after)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(h.config.State), "*.next")); err != nil || len(left) > 0 {
		h.rt.Fatalf("left behind: %v, %v", left, err)
	}
	if info, err := os.Stat(h.config.State); err != nil || info.Size() == 0 {
		h.rt.Fatalf("%v, %v", info, err)
	}
	h.look(true)
}

// everything is what the service says about the account and its servers.
func (h *history) everything() (answers []string) {
	paths := []string{"/balance", "/transactions?limit=200", "/instances?status=all&limit=200", "/ssh-keys", "/api-keys"}
	for _, i := range h.fleet {
		paths = append(paths, "/instances/"+i.ID+"/logs?tail=1000")
	}
	for _, host := range h.hosts {
		paths = append(paths, "/offers/"+host.ID)
	}
	for _, path := range paths {
		answers = append(answers, string(h.do("GET", path, nil).raw))
	}
	return answers
}
