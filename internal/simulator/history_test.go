package simulator_test

import (
	"flag"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// historyStart is when every history begins.
var historyStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// init sets the default of -rapid.checks, the number of histories; make soak runs 10,000.
func init() {
	if err := flag.Set("rapid.checks", "150"); err != nil {
		panic(err)
	}
}

// TestHistoryMoney leads an account through random histories next to a model of it, which is written from the API
// document and knows nothing of the simulator's own clockwork: it watches every millisecond in which something may
// change by itself, and counts what each millisecond costs. After each step the two must agree on everything.
func TestHistoryMoney(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t, rt)
		rt.Repeat(map[string]func(*rapid.T){
			"":         func(*rapid.T) { h.verify() },
			"rent":     h.rent,
			"rent too": h.rent,
			"start":    h.start,
			"start it": h.start,
			"stop":     h.stop,
			"destroy":  h.destroy,
			"bid":      h.moveBid,
			"price":    h.movePrice,
			"host":     h.toggleHost,
			"force":    h.force,
			"goal":     h.setGoal,
			"traffic":  h.causeTraffic,
			"money":    h.setMoney,
			"and more": h.setMoney,
			"limits":   h.setLimits,
			"keys":     h.changeKeys,
			"restart":  func(*rapid.T) { h.restart() },
			"reset":    h.reset,
			"blink":    h.blink,
			"settle":   h.settle,
			"wait":     h.wait,
			"wait on":  h.wait,
			"to dry":   h.waitTillDry,
		})
		h.verifyAll()
	})
}

// rapidTB makes a rig fail the history, not the test: only then can a history be cut down to what matters.
type rapidTB struct {
	testing.TB
	rt *rapid.T
}

func (t rapidTB) Fatalf(format string, args ...any) { t.rt.Fatalf(format, args...) }
func (t rapidTB) Fatal(args ...any)                 { t.rt.Fatal(args...) }

// history is an account, and the model of it.
type history struct {
	*rig
	rt *rapid.T
	fleet
	purse
	hosts []*host
	// most is how many instances the account may have.
	most int64
	// at is the time; settles is when nothing is left to come by itself.
	at, settles time.Time
	boot        time.Duration
	config      simulator.Config
	// rentals numbers the Idempotency-Keys.
	rentals int
}

func newHistory(t testing.TB, rt *rapid.T) *history {
	h := &history{rt: rt}
	h.boot = time.Duration(rapid.SampledFrom([]int{9, 10, 17}).Draw(rt, "boot")) * time.Millisecond
	h.config = simulator.Config{
		Seed: rapid.Uint64Range(0, 3).Draw(rt, "seed"), Clock: simulator.ClockManual, Start: historyStart, Boot: h.boot,
		APIKey: testKey, Market: simulator.MarketStill,
	}
	if oneIn(20).Draw(rt, "kept") {
		h.config.State = filepath.Join(t.TempDir(), "state.json")
	}
	h.rig = bareRig(rapidTB{t, rt}, h.config)
	h.begin()
	return h
}

// bareRig goes without the check of the contract, which takes most of the time and is made everywhere else.
func bareRig(t testing.TB, config simulator.Config) *rig {
	t.Helper()
	sim, err := simulator.New(config)
	if err != nil {
		t.Fatal(err)
	}
	sim.SetRateLimit(0, 0)
	return &rig{Simulator: sim, t: t, key: testKey, header: http.Header{}}
}

// begin is the first state of a seed, as the model knows it.
func (h *history) begin() {
	h.fleet, h.most = nil, 100
	h.purse = purse{booked: map[string]bool{}}
	h.at, h.settles = h.Now(), h.Now()
	h.hosts = nil
	for _, o := range showcase(h.rig, h.config.Seed) {
		h.hosts = append(h.hosts, &host{offer: o, listed: true, online: true})
	}
	o := h.Overview()
	var sum int64
	for n := range o.Ledger {
		e := o.Ledger[len(o.Ledger)-1-n]
		h.entries, h.booked[e.ID] = append(h.entries, e), true
		sum += e.AmountKop
	}
	h.balanceKop = sum
	if sum != 5_000_000 || len(o.Instances) != 0 {
		h.rt.Fatalf("the first state has %d kopecks and %d instances", sum, len(o.Instances))
	}
}

var showcases struct {
	sync.Mutex
	bySeed map[uint64][]offer
}

// showcase is the servers of a seed that the histories rent: few, so that they meet again; cheap, usual and dear ones,
// and one that is not let as interruptible.
func showcase(r *rig, seed uint64) []offer {
	showcases.Lock()
	defer showcases.Unlock()
	if showcases.bySeed == nil {
		showcases.bySeed = map[uint64][]offer{}
	}
	if chosen, ok := showcases.bySeed[seed]; ok {
		return chosen
	}
	all := list[offer](r, "/offers", 200)
	chosen := []offer{all[0], all[len(all)/2], all[len(all)-1]}
	for _, o := range all[1:] {
		if o.Price.Interruptible == nil {
			chosen = append(chosen, o)
			break
		}
	}
	showcases.bySeed[seed] = chosen
	return chosen
}

// oneIn is true once in so many draws. False is what a history is cut down to.
func oneIn(n int) *rapid.Generator[bool] {
	return rapid.Map(rapid.Uint64(), func(x uint64) bool { return x%uint64(n) == uint64(n)-1 })
}
