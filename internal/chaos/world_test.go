package chaos

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const wealth = 1e9 // kopecks

// storm is what the wire does to one request in four.
var storm = []simulator.Fault{
	{Status: 500}, {Status: 503}, {Status: 429}, {Drop: simulator.DropBefore}, {Drop: simulator.DropAfter}, {DelayMS: 2000},
}

const stormProbability = 0.05 // of each

// happen is what the world does to the servers between two applies, besides
// letting time pass. It tells what it did.
func (w *walk) happen(rng *rand.Rand) string {
	live := w.live()
	if len(live) == 0 {
		return "nothing"
	}
	victim := pickOne(rng, live...)
	instance := func(patch simulator.InstancePatch) { w.must(w.env.SetInstance(victim.ID, patch)) }
	switch rng.IntN(10) {
	case 0:
		if offer := w.offerOf(victim.ID); offer != "" && victim.Type == "interruptible" {
			w.must(w.env.SetOffer(offer, simulator.OfferPatch{InterruptibleKopH: new(int64(800_000))}))
			return victim.ID + " is outbid"
		}
	case 1:
		w.must(w.env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(1))}))
		w.env.Advance(time.Hour)
		return "the money runs out"
	case 2:
		instance(simulator.InstancePatch{Status: new("failed")})
		return victim.ID + " fails"
	case 3:
		for _, offer := range w.env.Offers("limit=10") {
			w.must(w.env.SetOffer(offer.ID, simulator.OfferPatch{Available: new(false)}))
		}
		return "ten offers are taken"
	case 4:
		for _, offer := range w.env.Offers("limit=3") {
			w.must(w.env.SetOffer(offer.ID, simulator.OfferPatch{FailBoots: new(true)}))
			w.failing = append(w.failing, offer.ID)
		}
		return "three offers fail to boot"
	case 5:
		instance(simulator.InstancePatch{Status: new("stopped"), DesiredState: new("stopped"), StopReason: new(pickOne(rng, "user", "admin", "provider", "low_balance"))})
		return victim.ID + " is stopped"
	case 6:
		w.env.Delete("instances/" + victim.ID)
		return victim.ID + " is destroyed in the console"
	case 7:
		if offer := w.offerOf(victim.ID); offer != "" {
			w.must(w.env.SetOffer(offer, simulator.OfferPatch{Online: new(false)}))
			w.away = append(w.away, offer)
			return victim.ID + "'s host goes away"
		}
	case 8:
		w.must(w.env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(wealth))}))
		return "money comes in"
	}
	w.env.Advance(time.Duration(rng.IntN(3600)) * time.Second)
	return "time passes"
}

// peace ends all trouble that the world made and switches the quirks off, except for what both did to servers: with
// outbid-soon-after-start, a server that is replaced when it is outbid is replaced for ever.
func (w *walk) peace() {
	w.must(w.env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(wealth))}))
	for _, offer := range w.away {
		w.must(w.env.SetOffer(offer, simulator.OfferPatch{Online: new(true)}))
	}
	for _, offer := range w.failing {
		w.must(w.env.SetOffer(offer, simulator.OfferPatch{FailBoots: new(false)}))
	}
	w.away, w.failing = nil, nil
	w.must(w.env.SetQuirks())
}

// quirkShare is how many quirks of a hundred are on.
const quirkShare = 30

// switchQuirks switches some quirks on and the others off.
func (w *walk) switchQuirks(rng *rand.Rand) {
	var names []string
	for _, quirk := range simulator.AllQuirks() {
		if rng.IntN(100) < quirkShare {
			names = append(names, quirk.Name)
		}
	}
	w.must(w.env.SetQuirks(names...))
	w.quirky = w.quirky || len(names) > 0
	w.told = append(w.told, "--- quirks: "+strings.Join(names, ", "))
}

// stormy lets the wire break until the function that it returns is called.
func (w *walk) stormy() (calm func()) {
	for _, fault := range storm {
		fault.Probability = stormProbability
		w.must(w.env.AddFault(fault))
	}
	return w.env.ClearFaults
}

// server is a rented one, as the service tells it.
type server struct{ ID, Name, Status, Type string }

// live are the servers that exist and are not on their way out.
func (w *walk) live() []server {
	var live []server
	acctest.List(w.env, "instances?limit=200", func(s server) {
		if s.Status != "destroying" && s.Status != "destroyed" {
			live = append(live, s)
		}
	})
	return live
}

// offerOf is the offer that a server of the state was rented from.
func (w *walk) offerOf(id string) string {
	for _, s := range w.saved() {
		if s.Attributes.ID == id {
			return s.Attributes.OfferID
		}
	}
	return ""
}

func (w *walk) must(err error) {
	if err != nil {
		w.Fatal(fmt.Errorf("the world does not obey: %w", err))
	}
}
