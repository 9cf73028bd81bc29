package simulator_test

import (
	"flag"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// historyStart is the simulated time at which every history begins.
var historyStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// init sets the default of -rapid.checks, the number of random histories. make soak runs more.
func init() {
	if err := flag.Set("rapid.checks", "150"); err != nil {
		panic(err)
	}
}

// hourMS converts usage, in kopecks per hour times milliseconds, to kopecks.
const hourMS = int64(time.Hour / time.Millisecond)

// TestBilling_RandomHistory runs random histories of one account. It recomputes every charge, in whole numbers, from
// the observed statuses and the prices of each instance, and compares costs, balances and the ledger after each step.
// At the end it repeats the requests on a second simulator, whose clock moves in long steps, and compares all
// responses.
func TestBilling_RandomHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t, rt)
		rt.Repeat(map[string]func(*rapid.T){
			"":              func(*rapid.T) { h.checkAccount() },
			"rent":          h.rent,
			"rent another":  h.rent,
			"repeat create": h.repeatCreate,
			"start":         h.start,
			"restart":       h.start,
			"stop":          h.stop,
			"destroy":       h.destroy,
			"market price":  h.setMarketPrice,
			"balance":       h.setBalance,
			"credit limit":  h.setCreditLimit,
			"reload state":  func(*rapid.T) { h.reload() },
			"wait briefly":  func(rt *rapid.T) { h.advance(rapid.Int64Range(1, 6).Draw(rt, "ms")) },
			"wait":          h.wait,
			"wait longer":   h.wait,
			"exhaust funds": func(*rapid.T) { h.exhaustFunds() },
		})
		h.ledger = checkLedger(h.client, h.ledger)
		h.checkReplay(t)
	})
}

// history is a simulator with a model of the charges of its account.
type history struct {
	*client
	rt     *rapid.T
	config simulator.Config
	offers []string
	// instances are in the order of creation; keys are their idempotency keys.
	instances []*rental
	keys      []string
	// depositKop is the sum of all ledger entries that are not charges; creditKop is the credit limit.
	depositKop, creditKop int64
	// settledAt is when all transitions that were requested so far are complete.
	settledAt time.Time
	ledger    []object
	requests  []recordedRequest
}

// rental is the model of one instance.
type rental struct {
	simulator.OverviewInstance
	diskGB int64
	// hasRun reports whether the instance has been running: the first boot is free. startPending reports whether a
	// start was accepted that the status does not show yet.
	hasRun, startPending bool
	// usage is the sum of all hourly charges, in kopecks per hour times milliseconds.
	usage int64
}

// recordedRequest is a request that changes something, or an advance of the clock if method is empty.
type recordedRequest struct {
	method, target, key string
	body                any
	response            string
	advance             time.Duration
}

func newHistory(t testing.TB, rt *rapid.T) *history {
	h := &history{rt: rt, depositKop: 5_000_000}
	h.config = simulator.Config{
		Seed: rapid.Uint64Range(0, 3).Draw(rt, "seed"), Clock: simulator.ClockManual, Start: historyStart,
		Boot:   time.Duration(rapid.SampledFrom([]int{9, 10, 17}).Draw(rt, "boot")) * time.Millisecond,
		APIKey: testKey, Market: simulator.MarketStill,
	}
	if rapid.IntRange(0, 19).Draw(rt, "state file") == 19 {
		h.config.State = filepath.Join(t.TempDir(), "state.json")
	}
	h.client = uncheckedClient(rapidTB{t, rt}, h.config)
	all := ids(h.list("/offers"))
	h.offers = []string{all[0], all[len(all)/2], all[len(all)-1]}
	return h
}

// rapidTB makes a client fail the history instead of the test, so that rapid can shrink the history.
type rapidTB struct {
	testing.TB
	rt *rapid.T
}

func (t rapidTB) Fatalf(format string, args ...any) { t.rt.Fatalf(format, args...) }
func (t rapidTB) Fatal(args ...any)                 { t.rt.Fatal(args...) }

// send sends a request and records it for checkReplay.
func (h *history) send(method, target string, body any, key string) response {
	a := h.withHeader("Idempotency-Key", key).send(method, target, body)
	h.requests = append(h.requests, recordedRequest{method: method, target: target, key: key, body: body,
		response: string(a.body)})
	if a.status == http.StatusOK || a.status == http.StatusCreated {
		h.settledAt = h.Now().Add(h.config.Boot * 3 / 2)
	}
	return a
}

// rateKopH is the hourly charge in the observed status: the running price until a stop is complete, the disk while
// the GPU is released, and nothing during the first boot or after DELETE.
func (i *rental) rateKopH() int64 {
	switch i.Status {
	case "running", "stopping":
		return i.Price.RunningKopH
	case "stopped", "outbid":
		return i.Price.StoppedKopH
	case "starting":
		if i.hasRun {
			return i.Price.StoppedKopH
		}
	}
	return 0
}

func (i *rental) costKop() int64 { return i.usage / hourMS }

// needsFunds reports whether the instance must be stopped when the funds are exhausted.
func (i *rental) needsFunds() bool {
	return i.DesiredState == "running" && slices.Contains([]string{"creating", "starting", "running", "stopped"}, i.Status)
}

func (h *history) burnKopH() (sum int64) {
	for _, i := range h.instances {
		sum += i.rateKopH()
	}
	return sum
}

// availableKop is available_kop as the API document defines it: accrued usage is subtracted in whole kopecks.
func (h *history) availableKop() int64 {
	available := h.depositKop
	for _, i := range h.instances {
		available -= i.costKop()
	}
	return available
}

// remaining is the exact amount that can still be spent, in kopecks per hour times milliseconds.
func (h *history) remaining() int64 {
	remaining := (h.depositKop + h.creditKop) * hourMS
	for _, i := range h.instances {
		remaining -= i.usage
	}
	return remaining
}

// shortKop is what is missing for two hours at a price. The API accepts a request if it is zero or less.
func (h *history) shortKop(kopH int64) int64 { return 2*kopH - h.availableKop() - h.creditKop }

// advance moves the clock by milliseconds, one at a time while a status can change.
func (h *history) advance(ms int64) {
	h.requests = append(h.requests, recordedRequest{advance: time.Duration(ms) * time.Millisecond})
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

// exhaustionMS is how many milliseconds the funds last, 0 if no instance would be stopped.
func (h *history) exhaustionMS() int64 {
	burn := h.burnKopH()
	if burn == 0 || !slices.ContainsFunc(h.instances, (*rental).needsFunds) {
		return 0
	}
	return (h.remaining() + burn - 1) / burn
}

// observe reads all instances and compares their costs and goals with the model.
func (h *history) observe() {
	overview := h.Overview()
	exhausted := h.remaining() <= 0
	for _, i := range h.instances {
		n := slices.IndexFunc(overview.Instances, func(seen simulator.OverviewInstance) bool { return seen.ID == i.ID })
		if n < 0 {
			if i.Status != "destroying" && i.Status != "destroyed" {
				h.rt.Fatalf("%s is destroyed and was %s", i.ID, i.Status)
			}
			i.Status = "destroyed"
			continue
		}
		seen := overview.Instances[n]
		began := i.startPending && seen.Status != i.Status // a start, which needs funds at once
		stopped := exhausted && (i.needsFunds() || began)
		switch {
		case stopped && (seen.DesiredState != "stopped" || seen.StopReason == nil || *seen.StopReason != "low_balance"):
			h.rt.Fatalf("the funds are exhausted and %s is %s, desired %s", i.ID, seen.Status, seen.DesiredState)
		case stopped:
			h.settledAt = h.Now().Add(h.config.Boot * 3 / 2)
		case seen.DesiredState != i.DesiredState:
			h.rt.Fatalf("%s has desired_state %s, want %s: %+v", i.ID, seen.DesiredState, i.DesiredState, seen)
		}
		i.hasRun = i.hasRun || seen.Status == "running" || seen.Status == "outbid"
		i.startPending = i.startPending && seen.Status == i.Status
		if seen.Price != i.Price || seen.BidKopH != i.BidKopH {
			h.rt.Fatalf("the price of %s moved from %+v to %+v", i.ID, i.OverviewInstance, seen)
		}
		i.OverviewInstance = seen
		if seen.BurnKopH != i.rateKopH() || seen.CostSoFarKop != i.costKop() {
			h.rt.Fatalf("%s burns %d and costs %d, want %d and %d: %+v",
				i.ID, seen.BurnKopH, seen.CostSoFarKop, i.rateKopH(), i.costKop(), seen)
		}
	}
}

// checkAccount compares the balance and all costs, as the API returns them, with the model.
func (h *history) checkAccount() {
	b, burn := h.balance(), h.burnKopH()
	runway, known := b.number("runway_hours")
	if b.integer("available_kop") != h.availableKop() || b.integer("credit_limit_kop") != h.creditKop ||
		b.integer("burn_kop_h") != burn || known != (burn != 0) {
		h.rt.Fatalf("balance %v, want available %d, credit %d, burn %d", b, h.availableKop(), h.creditKop, burn)
	}
	if known {
		want := float64(max(h.remaining(), 0)) / float64(hourMS) / float64(burn)
		if math.Abs(runway-want) > 0.011 { // two decimals
			h.rt.Fatalf("runway %v hours, want %v", runway, want)
		}
	}
	all := h.list("/instances?status=all")
	if len(all) != len(h.instances) {
		h.rt.Fatalf("%d instances, want %d", len(all), len(h.instances))
	}
	for n, i := range h.instances {
		seen := all[len(all)-1-n]
		if seen.text("id") != i.ID || seen.text("status") != i.Status || seen.integer("cost_so_far_kop") != i.costKop() {
			h.rt.Fatalf("%v, want cost %d of %+v", seen, i.costKop(), i)
		}
	}
}

// checkLedger checks the rules of every ledger, and that the entries of an earlier read did not change.
func checkLedger(api *client, earlier []object) []object {
	api.t.Helper()
	b := api.balance()
	entries := api.list("/transactions")
	posted, ids := map[string]int64{}, map[string]bool{}
	var sum, accrued int64
	for n, e := range entries {
		amount, instance := e.integer("amount_kop"), e.text("instance_id")
		sum += amount
		ids[e.text("id")] = true
		if instance != "" {
			posted[instance] -= amount
		}
		if n > 0 && e.time("at").After(entries[n-1].time("at")) || instance != "" && amount >= 0 {
			api.t.Fatalf("entry %d, newest first: %v", n, e)
		}
	}
	for _, i := range api.list("/instances?status=all") {
		open := i.integer("cost_so_far_kop") - posted[i.text("id")]
		accrued += open
		// Usage is posted every hour.
		if open < 0 || open > max(i.integer("price.running_kop_h"), i.integer("price.stopped_kop_h")) ||
			i.text("status") == "destroyed" && open > 0 {
			api.t.Fatalf("%d of %v is not posted", open, i)
		}
		delete(posted, i.text("id"))
	}
	if sum != b.integer("balance_kop") || b.integer("available_kop") != sum-accrued || len(posted) > 0 ||
		len(ids) != len(entries) {
		api.t.Fatalf("balance %v, %d entries with %d ids, sum %d, accrued %d, charges without instance %v",
			b, len(entries), len(ids), sum, accrued, posted)
	}
	for n := range earlier {
		was, is := earlier[len(earlier)-1-n], entries[len(entries)-1-n]
		if asJSON(was) != asJSON(is) {
			api.t.Fatalf("a ledger entry changed from %v to %v", was, is)
		}
	}
	return entries
}

// extraDiskKopH is the documented price of the disk above 10 GB: a month has 730 hours, rounded up.
func extraDiskKopH(offer object, diskGB int64) int64 {
	return (offer.integer("price.storage_kop_gb_month")*(diskGB-10) + 729) / 730
}

func (h *history) rent(rt *rapid.T) {
	id := rapid.SampledFrom(h.offers).Draw(rt, "offer")
	o := h.get("/offers/" + id).ok()
	rentalType := "on_demand"
	if o.value("price.interruptible_kop_h") != nil && rapid.Bool().Draw(rt, "interruptible") {
		rentalType = "interruptible"
	}
	price := o.integer("price." + rentalType + "_kop_h")
	disk := rapid.Int64Range(10, 120).Draw(rt, "disk")
	running := price + extraDiskKopH(o, disk)
	short := h.shortKop(running)
	key := fmt.Sprint("key ", len(h.requests))
	a := h.send("POST", "/api/v1/instances", object{"offer_id": id, "template": "ubuntu", "disk_gb": disk,
		"type": rentalType}, key)
	switch {
	case o["available"] != true:
		a.failsWith("conflict")
		return
	case short > 0:
		h.refusedForFunds(a, short)
		return
	}
	created := a.created()
	i := &rental{diskGB: disk}
	i.OverviewInstance = h.Overview().Instances[0]
	if i.ID != created["id"] || i.Price.RunningKopH != running || rentalType == "interruptible" && i.BidKopH != price {
		h.rt.Fatalf("new instance %+v, want running price %d", i.OverviewInstance, running)
	}
	h.instances, h.keys = append(h.instances, i), append(h.keys, key)
	h.observe()
}

func (h *history) refusedForFunds(a response, shortKop int64) {
	if got := a.failsWith("insufficient_funds").integer("short_kop"); got != shortKop {
		h.rt.Fatalf("short_kop %d, want %d", got, shortKop)
	}
}

// repeatCreate repeats a create request with its key and another body. It must not create or charge anything.
func (h *history) repeatCreate(rt *rapid.T) {
	if len(h.keys) == 0 {
		return
	}
	n := rapid.IntRange(0, len(h.keys)-1).Draw(rt, "key")
	body := object{"offer_id": rapid.SampledFrom(h.offers).Draw(rt, "offer"), "template": "ubuntu", "disk_gb": 99}
	a := h.send("POST", "/api/v1/instances", body, h.keys[n])
	if id := a.ok()["id"]; id != h.instances[n].ID || a.header.Get("Idempotent-Replayed") != "true" {
		h.rt.Fatalf("instance %s, want %s: %v", id, h.instances[n].ID, a.header)
	}
	h.observe()
}

// draw returns one of the newest instances, nil if there is none.
func (h *history) draw(rt *rapid.T) *rental {
	if len(h.instances) == 0 {
		return nil
	}
	newest := h.instances[max(len(h.instances)-4, 0):]
	return rapid.SampledFrom(newest).Draw(rt, "instance")
}

func (h *history) start(rt *rapid.T) {
	i := h.draw(rt)
	if i == nil {
		return
	}
	o := h.get("/offers/" + i.OfferID).ok()
	marketPrice := o.integer("price.interruptible_kop_h")
	price, bid := i.Price.RunningKopH, i.BidKopH
	if i.Type == "interruptible" && (i.Status == "outbid" || marketPrice > i.BidKopH) {
		bid = marketPrice
		price = bid + extraDiskKopH(o, i.diskGB)
	}
	startable := i.Status == "stopped" && i.DesiredState == "stopped" ||
		i.Status == "outbid" && i.DesiredState == "running" && !i.startPending
	short := h.shortKop(price)
	a := h.send("POST", "/api/v1/instances/"+i.ID+"/start", nil, "")
	switch {
	case !startable:
		a.failsWith("conflict")
		return
	case short > 0:
		h.refusedForFunds(a, short)
		return
	}
	if got := a.ok().integer("price.running_kop_h"); got != price {
		h.rt.Fatalf("running price %d after a start, want %d", got, price)
	}
	i.DesiredState, i.Price.RunningKopH, i.BidKopH, i.startPending = "running", price, bid, true
	h.observe()
}

func (h *history) stop(rt *rapid.T) {
	if i := h.draw(rt); i != nil && h.send("POST", "/api/v1/instances/"+i.ID+"/stop", nil, "").status == 200 {
		i.DesiredState, i.startPending = "stopped", false // a start that has not begun does not happen
		h.observe()
	}
}

func (h *history) destroy(rt *rapid.T) {
	if i := h.draw(rt); i != nil && h.send("DELETE", "/api/v1/instances/"+i.ID, nil, "").status == 200 {
		i.DesiredState, i.Status = "destroyed", "destroying"
		h.observe()
	}
}

// setMarketPrice changes a price of an offer, often to the edge of a bid.
func (h *history) setMarketPrice(rt *rapid.T) {
	id := rapid.SampledFrom(h.offers).Draw(rt, "offer")
	field := rapid.SampledFrom([]string{"on_demand_kop_h", "interruptible_kop_h"}).Draw(rt, "field")
	price := rapid.Int64Range(1, 9000).Draw(rt, "price")
	if i := h.draw(rt); i != nil && i.BidKopH > 1 && rapid.Bool().Draw(rt, "near the bid") {
		id, field, price = i.OfferID, "interruptible_kop_h", i.BidKopH+rapid.Int64Range(-1, 1).Draw(rt, "difference")
	}
	h.send("PATCH", "/control/offers/"+id, object{field: price}, "").want(200)
	h.observe()
}

// setBalance sets the posted balance, often so that the funds for a start are just enough or just too little.
func (h *history) setBalance(rt *rapid.T) {
	kop := rapid.OneOf(rapid.Int64Range(-2000, 2000), rapid.Int64Range(0, 60_000),
		rapid.Just[int64](1_000_000_000)).Draw(rt, "balance")
	if i := h.draw(rt); i != nil && rapid.Bool().Draw(rt, "edge") {
		b := h.balance()
		kop = 2*i.Price.RunningKopH - h.creditKop + b.integer("balance_kop") - b.integer("available_kop") +
			rapid.Int64Range(-1, 1).Draw(rt, "difference")
	}
	h.depositKop += kop - h.balance().integer("balance_kop")
	h.send("PATCH", "/control/account", object{"balance_kop": kop}, "").want(200)
	h.observe()
}

func (h *history) setCreditLimit(rt *rapid.T) {
	h.creditKop = rapid.SampledFrom([]int64{0, 1, 500, 50_000}).Draw(rt, "credit")
	h.send("PATCH", "/control/account", object{"credit_limit_kop": h.creditKop}, "").want(200)
	h.observe()
}

func (h *history) wait(rt *rapid.T) {
	limit := rapid.SampledFrom([]time.Duration{2 * time.Second, time.Hour, 6 * time.Hour, 60 * time.Hour}).Draw(rt,
		"scale")
	h.advance(rapid.Int64Range(1, limit.Milliseconds()).Draw(rt, "ms"))
}

// exhaustFunds advances to the millisecond in which the funds are exhausted, if that is within a week.
func (h *history) exhaustFunds() {
	h.advance(2 * h.config.Boot.Milliseconds())
	if ms := h.exhaustionMS(); ms > 0 && ms < 7*24*hourMS {
		h.advance(ms)
	}
}

// reload replaces the simulator by one that reads the state file, and compares all responses.
func (h *history) reload() {
	h.ledger = checkLedger(h.client, h.ledger)
	if h.config.State == "" {
		return
	}
	before := h.responses()
	h.save()
	sim, err := simulator.New(h.config)
	if err != nil {
		h.rt.Fatalf("%v", err)
	}
	h.client = clientOf(h.t, sim, testKey)
	if after := h.responses(); !slices.Equal(before, after) {
		h.rt.Fatalf("a restart changes\n%s\nto\n%s", before, after)
	}
}

// responses are the responses to all reads about money, instances and offers.
func (h *history) responses() (all []string) {
	paths := []string{"/balance", "/transactions?limit=200", "/instances?status=all&limit=200", "/offers?limit=200"}
	for _, i := range h.instances {
		paths = append(paths, "/instances/"+i.ID+"/logs?tail=1000")
	}
	for _, path := range paths {
		all = append(all, string(h.get(path).body))
	}
	return all
}

// checkReplay repeats the history on a new simulator, with one step of the clock for each advance and without reads.
// The responses depend on the requests and the clock only, not on when the state is read.
func (h *history) checkReplay(t testing.TB) {
	want := h.responses()
	config := h.config
	config.State = ""
	first := h.client
	h.client = uncheckedClient(rapidTB{t, h.rt}, config)
	for _, request := range h.requests {
		if request.method == "" {
			h.Advance(request.advance)
			continue
		}
		// A create is refused if the price is not the one that was shown last.
		for _, id := range h.offers {
			h.get("/offers/" + id)
		}
		a := h.withHeader("Idempotency-Key", request.key).send(request.method, request.target, request.body)
		if string(a.body) != request.response {
			h.rt.Fatalf("%s: response\n%s\nin a replay\n%s", a.request, request.response, a.body)
		}
	}
	if got := h.responses(); !slices.Equal(got, want) {
		h.rt.Fatalf("responses\n%s\nin a replay\n%s", want, got)
	}
	h.client = first
}
