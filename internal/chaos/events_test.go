package chaos

import (
	"slices"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const fullBalance = 1e9 // kopecks

// faults are the errors, lost connections and delays that hit about one request in four.
var faults = []simulator.Fault{
	{Status: 500}, {Status: 503}, {Status: 429},
	{Drop: simulator.DropBefore}, {Drop: simulator.DropAfter},
	{DelayMS: 1000}, // between the two request timeouts
}

const faultProbability = 0.05 // of each fault

// event changes the account, the offers or a server between two applies and returns a description.
func (r *run) event() string {
	live := r.live()
	if len(live) == 0 {
		return "none"
	}
	server := pickOne(r.rng, live...)
	patch := func(patch simulator.InstancePatch) { r.must(r.env.SetInstance(server.ID, patch)) }
	switch r.rng.IntN(8) {
	case 0:
		if offer := r.offerOf(server.ID); offer != "" && server.Type == "interruptible" {
			r.must(r.env.SetOffer(offer, simulator.OfferPatch{InterruptibleKopH: new(int64(800_000))}))
			return server.ID + " is outbid"
		}
	case 1:
		r.must(r.env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(1))}))
		r.env.Advance(time.Hour)
		return "the balance runs out"
	case 2:
		patch(simulator.InstancePatch{Status: new("failed")})
		return server.ID + " fails"
	case 3:
		for _, offer := range r.env.Offers("limit=10") {
			r.must(r.env.SetOffer(offer.ID, simulator.OfferPatch{Available: new(false)}))
		}
		return "ten offers are rented by others"
	case 4:
		reason := pickOne(r.rng, "user", "admin", "provider", "low_balance")
		patch(simulator.InstancePatch{
			Status: new("stopped"), DesiredState: new("stopped"), StopReason: new(reason),
		})
		return server.ID + " is stopped"
	case 5:
		r.env.Delete("instances/" + server.ID)
		return server.ID + " is destroyed in the console"
	case 6:
		r.must(r.env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(fullBalance))}))
		return "a payment arrives"
	}
	r.env.Advance(time.Duration(r.rng.IntN(3600)) * time.Second)
	return "time passes"
}

// undoEvents undoes the events and switches the quirks off. The servers stay as they are. With the quirk
// outbid-soon-after-start, a server with on_outbid = "replace" would be replaced again and again.
func (r *run) undoEvents() {
	r.must(r.env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(fullBalance))}))
	r.env.SetQuirks()
}

// quirkPercent is the probability that a quirk is on.
const quirkPercent = 30

// switchQuirks switches random quirks on and the others off.
func (r *run) switchQuirks() {
	var names []string
	for _, name := range quirks.Names() {
		if r.quirkRNG.IntN(100) < quirkPercent {
			names = append(names, name)
		}
	}
	if slices.Contains(names, "limit-headers-absent") {
		// After a 429, requests are then sent at the documented rate, and small pages take minutes.
		names = slices.DeleteFunc(names, func(name string) bool { return name == "small-pages" })
	}
	r.env.SetQuirks(names...)
	r.hadQuirks = r.hadQuirks || len(names) > 0
	r.logf("--- quirks: %s", strings.Join(names, ", "))
}

// addFaults switches the faults on, until ClearFaults.
func (r *run) addFaults() {
	for _, fault := range faults {
		fault.Probability = faultProbability
		r.must(r.env.AddFault(fault))
	}
}

// server is an instance in the API.
type server struct{ ID, Name, Status, Type string }

// live returns the servers that are neither destroyed nor being destroyed.
func (r *run) live() []server {
	var live []server
	acctest.List(r.env, "instances?limit=200", func(s server) {
		if s.Status != "destroying" && s.Status != "destroyed" {
			live = append(live, s)
		}
	})
	return live
}

// offerOf returns the offer of a server in the state, or "".
func (r *run) offerOf(id string) string {
	for _, s := range r.saved() {
		if s.Attributes.ID == id {
			return s.Attributes.OfferID
		}
	}
	return ""
}

func (r *run) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatalf("the simulator rejects a change: %v", err)
	}
}
