package simulator_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

var (
	histories   = flag.Uint64("simulator.histories", 100, "`number` of random account histories")
	historySeed = flag.Uint64("simulator.seed", 0, "`seed` of the first history; 0 means a random one")
)

// historyStart is the simulated time at which every history begins.
var historyStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// hourMS converts usage, in kopecks per hour times milliseconds, to kopecks.
const hourMS = int64(time.Hour / time.Millisecond)

// TestBilling_RandomHistory runs random histories of one account. It recomputes every charge, in whole numbers, from
// the observed statuses and the prices of each instance, and compares costs, balances and the ledger after each step.
// A second simulator, whose clock moves in long steps, which is never read and never restarted, gets the same requests
// and must return the same responses.
func TestBilling_RandomHistory(t *testing.T) {
	t.Parallel()
	first := *historySeed
	if first == 0 {
		first = rand.Uint64()
	}
	for n := range *histories {
		if !t.Run("history", func(t *testing.T) { runHistory(t, first+n) }) {
			t.Fatalf("to repeat it, add the arguments -simulator.seed=%d -simulator.histories=1", first+n)
		}
	}
}

func runHistory(t *testing.T, seed uint64) {
	h := &history{rng: rand.New(rand.NewPCG(seed, 0)), depositKop: 5_000_000}
	h.config = simulator.Config{
		Seed: seed % 4, Clock: simulator.ClockManual, Start: historyStart, Market: simulator.MarketStill, APIKey: testKey,
		Boot: pick(h, []time.Duration{9 * time.Millisecond, 10 * time.Millisecond, 17 * time.Millisecond}),
	}
	h.twin = uncheckedClient(t, h.config)
	h.config.State = filepath.Join(t.TempDir(), "state.json")
	h.client = uncheckedClient(t, h.config)
	all := ids(h.list("/offers"))
	h.offers = []string{all[0], all[len(all)/2], all[len(all)-1]}
	steps := []func(i *rental){h.rent, h.rent, h.repeatCreate, h.start, h.start, h.stop, h.destroy, h.setMarketPrice,
		h.setBalance, h.setCreditLimit, h.wait, h.wait, h.exhaustFunds, h.restart}
	h.rent(nil)
	for range 30 {
		pick(h, steps)(pick(h, h.instances[max(len(h.instances)-4, 0):]))
		h.observe()
		h.checkAccount()
	}
	h.ledger = checkLedger(h.client, h.ledger)
	for _, path := range []string{"/balance", "/transactions?limit=200", "/instances?status=all&limit=200", "/offers"} {
		equal(t, path, string(h.get(path).body), string(h.twin.get(path).body))
	}
}

// history is a simulator with a model of the charges of its account.
type history struct {
	*client
	twin      *client
	rng       *rand.Rand
	config    simulator.Config
	offers    []string
	instances []*rental // in the order of creation
	// depositKop is the sum of all ledger entries that are not charges; creditKop is the credit limit.
	depositKop, creditKop int64
	settledAt             time.Time // when all transitions that were requested so far are complete
	ledger                []object
}

// rental is the model of one instance.
type rental struct {
	simulator.OverviewInstance
	key    string // the Idempotency-Key
	diskGB int64
	// hasRun reports whether the instance has been running: the first boot is free. startPending reports whether a
	// start was accepted that the status does not show yet.
	hasRun, startPending bool
	usage                int64 // the sum of all hourly charges, in kopecks per hour times milliseconds
}

func pick[T any](h *history, values []T) T { return values[h.rng.IntN(len(values))] }

func (h *history) between(low, high int64) int64 { return low + h.rng.Int64N(high-low+1) }

// change sends a request to both simulators.
func (h *history) change(method, target string, body any, key string) response {
	a := h.withHeader("Idempotency-Key", key).send(method, target, body)
	for _, id := range h.offers { // a create is refused if the price is not the one that was shown last
		h.twin.get("/offers/" + id)
	}
	b := h.twin.withHeader("Idempotency-Key", key).send(method, target, body)
	if string(b.body) != string(a.body) {
		h.t.Fatalf("%s: %s\nthe twin returned %s", a.request, a.body, b.body)
	}
	h.settledAt = h.Now().Add(h.config.Boot * 3 / 2)
	return a
}

// rateKopH is the hourly charge in the observed status: the running price until a stop is complete, the disk while
// the GPU is released, and nothing during the first boot or after DELETE.
func (i *rental) rateKopH() int64 {
	switch {
	case i.Status == "running" || i.Status == "stopping":
		return i.Price.RunningKopH
	case i.Status == "stopped" || i.Status == "outbid" || i.Status == "starting" && i.hasRun:
		return i.Price.StoppedKopH
	}
	return 0
}

// needsFunds reports whether the instance must be stopped when the funds are exhausted.
func (i *rental) needsFunds() bool {
	return i.DesiredState == "running" && slices.Contains([]string{"creating", "starting", "running", "stopped"}, i.Status)
}

// money returns the sum of the hourly charges, available_kop as the document defines it, with accrued usage in whole
// kopecks, and the exact amount that can still be spent, in kopecks per hour times milliseconds.
func (h *history) money() (burnKopH, availableKop, remaining int64) {
	availableKop, remaining = h.depositKop, (h.depositKop+h.creditKop)*hourMS
	for _, i := range h.instances {
		burnKopH += i.rateKopH()
		availableKop -= i.usage / hourMS
		remaining -= i.usage
	}
	return burnKopH, availableKop, remaining
}

// exhaustionMS is how many milliseconds the funds last, 0 if no instance would be stopped.
func (h *history) exhaustionMS() int64 {
	burn, _, remaining := h.money()
	if burn == 0 || !slices.ContainsFunc(h.instances, (*rental).needsFunds) {
		return 0
	}
	return (remaining + burn - 1) / burn
}

// advance moves the clock by milliseconds, one at a time while a status can change.
func (h *history) advance(ms int64) {
	h.twin.Advance(time.Duration(ms) * time.Millisecond)
	for ms > 0 {
		step := ms
		if exhausted := h.exhaustionMS(); exhausted > 0 {
			step = min(step, max(exhausted-1, 1)) // the stop must come in the last millisecond, not earlier
		}
		if h.Now().Before(h.settledAt) {
			step = 1
		}
		for _, i := range h.instances {
			i.usage += i.rateKopH() * step
		}
		ms -= step
		h.Advance(time.Duration(step) * time.Millisecond)
		h.observe()
	}
}

// observe reads all instances and compares their costs and goals with the model.
func (h *history) observe() {
	overview := h.Overview().Instances
	_, _, remaining := h.money()
	left := len(overview)
	for _, i := range h.instances {
		n := slices.IndexFunc(overview, func(seen simulator.OverviewInstance) bool { return seen.ID == i.ID })
		if n < 0 {
			check(h.t, i.DesiredState == "destroyed", "%s is destroyed and was %s", i.ID, i.Status)
			i.Status = "destroyed"
			continue
		}
		left--
		seen, want := overview[n], i.DesiredState
		began := i.startPending && seen.Status != i.Status // a start, which needs funds at once
		if remaining <= 0 && (i.needsFunds() || began) {
			want = "stopped"
			h.settledAt = h.Now().Add(h.config.Boot * 3 / 2)
			check(h.t, seen.StopReason != nil && *seen.StopReason == "low_balance", "no funds: %+v", seen)
		}
		i.hasRun = i.hasRun || seen.Status == "running" || seen.Status == "outbid"
		i.startPending = i.startPending && seen.Status == i.Status
		if seen.DesiredState != want || seen.Price != i.Price || seen.BidKopH != i.BidKopH {
			h.t.Fatalf("%+v moved to %+v, want the same prices and desired_state %s", i.OverviewInstance, seen, want)
		}
		i.OverviewInstance = seen
		if seen.BurnKopH != i.rateKopH() || seen.CostSoFarKop != i.usage/hourMS {
			h.t.Fatalf("want the charge %d and the cost %d: %+v", i.rateKopH(), i.usage/hourMS, seen)
		}
	}
	equal(h.t, "unknown instances", left, 0)
}

// checkAccount compares the balance with the model.
func (h *history) checkAccount() {
	b := h.balance()
	burn, available, remaining := h.money()
	runway, known := b.number("runway_hours")
	if b.integer("available_kop") != available || b.integer("credit_limit_kop") != h.creditKop ||
		b.integer("burn_kop_h") != burn || known != (burn != 0) ||
		known && math.Abs(runway-float64(max(remaining, 0))/float64(hourMS*burn)) > 0.011 { // two decimals
		h.t.Fatalf("balance %v, want available %d, credit %d, burn %d", b, available, h.creditKop, burn)
	}
}

// extraDiskKopH is the documented price of the disk above 10 GB: a month has 730 hours, rounded up.
func extraDiskKopH(offer object, diskGB int64) int64 {
	return (offer.integer("price.storage_kop_gb_month")*(diskGB-10) + 729) / 730
}

// order sends a create or start at a price. It reports whether it was accepted, which the model decides.
func (h *history) order(target string, body any, key string, allowed bool, kopH int64) bool {
	_, available, _ := h.money()
	short := 2*kopH - available - h.creditKop
	a := h.change("POST", target, body, key)
	switch {
	case !allowed:
		a.failsWith("conflict")
	case short > 0:
		equal(h.t, "short_kop", a.failsWith("insufficient_funds").integer("short_kop"), short)
	default:
		check(h.t, a.status/100 == 2, "%s: %d %s", a.request, a.status, a.body)
	}
	return allowed && short <= 0
}

func (h *history) rent(*rental) {
	id, disk, rentalType := pick(h, h.offers), h.between(10, 120), pick(h, []string{"on_demand", "interruptible"})
	o := h.get("/offers/" + id).ok()
	if o.value("price.interruptible_kop_h") == nil {
		rentalType = "on_demand"
	}
	price, key := o.integer("price."+rentalType+"_kop_h"), fmt.Sprint(h.rng.Uint64())
	body := object{"offer_id": id, "template": "ubuntu", "disk_gb": disk, "type": rentalType}
	running := price + extraDiskKopH(o, disk)
	if h.order("/api/v1/instances", body, key, o["available"] == true, running) {
		i := &rental{OverviewInstance: h.Overview().Instances[0], key: key, diskGB: disk}
		check(h.t, i.Price.RunningKopH == running && (i.BidKopH == price) == (rentalType == "interruptible"),
			"new instance %+v, want running price %d", i.OverviewInstance, running)
		h.instances = append(h.instances, i)
	}
}

// repeatCreate repeats a create request with its key and another body. It must not create or charge anything.
func (h *history) repeatCreate(i *rental) {
	body := pick(h, []any{object{"offer_id": pick(h, h.offers), "template": "ubuntu", "disk_gb": 99}, ""})
	equal(h.t, "instance of a replay", h.change("POST", "/api/v1/instances", body, i.key).ok().text("id"), i.ID)
}

func (h *history) start(i *rental) {
	o := h.get("/offers/" + i.OfferID).ok()
	marketPrice := o.integer("price.interruptible_kop_h")
	price, bid := i.Price.RunningKopH, i.BidKopH
	if i.Type == "interruptible" && (i.Status == "outbid" || marketPrice > i.BidKopH) {
		price, bid = marketPrice+extraDiskKopH(o, i.diskGB), marketPrice
	}
	startable := i.Status == "stopped" && i.DesiredState == "stopped" ||
		i.Status == "outbid" && i.DesiredState == "running" && !i.startPending
	if h.order("/api/v1/instances/"+i.ID+"/start", nil, "", startable, price) {
		i.DesiredState, i.Price.RunningKopH, i.BidKopH, i.startPending = "running", price, bid, true
	}
}

func (h *history) stop(i *rental) {
	if h.change("POST", "/api/v1/instances/"+i.ID+"/stop", nil, "").status == 200 {
		i.DesiredState, i.startPending = "stopped", false // a start that has not begun does not happen
	}
}

func (h *history) destroy(i *rental) {
	if h.change("DELETE", "/api/v1/instances/"+i.ID, nil, "").status == 200 {
		i.DesiredState, i.Status = "destroyed", "destroying"
	}
}

// setMarketPrice changes a price of an offer, often to the edge of a bid.
func (h *history) setMarketPrice(i *rental) {
	id, price, field := pick(h, h.offers), h.between(1, 9000), pick(h, []string{"on_demand_kop_h", "interruptible_kop_h"})
	if i.BidKopH > 1 && h.between(0, 1) == 0 {
		id, field, price = i.OfferID, "interruptible_kop_h", i.BidKopH+h.between(-1, 1)
	}
	h.change("PATCH", "/control/offers/"+id, object{field: price}, "").want(200)
}

// setBalance sets the posted balance, often so that the funds for a start are just enough or just too little.
func (h *history) setBalance(i *rental) {
	kop, b := pick(h, []int64{h.between(-2000, 2000), h.between(0, 60_000), 1_000_000_000}), h.balance()
	if h.between(0, 1) == 0 {
		unposted := b.integer("balance_kop") - b.integer("available_kop")
		kop = 2*i.Price.RunningKopH - h.creditKop + unposted + h.between(-1, 1)
	}
	h.depositKop += kop - b.integer("balance_kop")
	h.change("PATCH", "/control/account", object{"balance_kop": kop}, "").want(200)
}

func (h *history) setCreditLimit(*rental) {
	h.creditKop = pick(h, []int64{0, 1, 500, 50_000})
	h.change("PATCH", "/control/account", object{"credit_limit_kop": h.creditKop}, "").want(200)
}

func (h *history) wait(*rental) {
	longest := pick(h, []time.Duration{6 * time.Millisecond, 2 * time.Second, time.Hour, 6 * time.Hour, 60 * time.Hour})
	h.advance(h.between(1, longest.Milliseconds()))
}

// exhaustFunds advances to the millisecond in which the funds are exhausted, if that is within a week.
func (h *history) exhaustFunds(*rental) {
	h.advance(2 * h.config.Boot.Milliseconds())
	if ms := h.exhaustionMS(); ms > 0 && ms < 7*24*hourMS {
		h.advance(ms)
	}
}

// restart replaces the simulator by one that reads its state file.
func (h *history) restart(*rental) {
	h.ledger = checkLedger(h.client, h.ledger)
	h.save()
	sim, err := simulator.New(h.config)
	if err != nil {
		h.t.Fatal(err)
	}
	h.client = clientOf(h.t, sim, testKey)
}
