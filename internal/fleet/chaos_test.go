package fleet_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

var chaosSeeds = flag.Uint64("fleet.seeds", 8, "run TestApply_Chaos with this `number` of seeds")

// chaosSteps is the number of applies of each seed.
const chaosSteps = 12

// Random descriptions, failures, interruptions and kills, with everything that the API document allows: no slot ever
// has two instances, none is missing from the result, the total cap holds, a success has reached the description, and
// applying again leads there.
func TestApply_Chaos(t *testing.T) {
	for seed := range *chaosSeeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			set := quirks.New()
			if seed%3 > 0 {
				set.Switch("all")
			}
			run(t, simulator.Config{Seed: seed, Hooks: set}, func(t *testing.T, e *env) {
				w := &randomChanges{e: e, quirks: set, rand: rand.New(rand.NewPCG(seed, 0)), spec: spec(3)}
				for range chaosSteps {
					w.step()
					if t.Failed() {
						return
					}
				}
				w.end()
			})
		})
	}
}

// randomChanges is a sequence of random changes.
type randomChanges struct {
	e       *env
	quirks  *quirks.Set
	rand    *rand.Rand
	spec    fleet.Spec
	members []fleet.Member // of the saved state
	exists  bool           // a state was saved
	log     []string
}

func (w *randomChanges) step() {
	w.e.t.Helper()
	r := w.rand
	w.happen()
	w.refresh()
	known := w.unknown(w.members) == ""
	if len(w.log) == 0 || w.exists {
		w.change()
	}
	ctx, cancel := context.WithCancel(w.e.t.Context())
	defer cancel()
	if r.IntN(3) == 0 {
		time.AfterFunc(time.Duration(r.IntN(60_000))*time.Millisecond, cancel)
	}
	before := w.members
	result := w.e.engine().Apply(ctx, w.spec, w.members, 20*time.Minute)
	w.members = slices.Concat(result.Members, result.Missing)
	w.log = append(w.log, fmt.Sprintf("size %d, %s: %s", w.spec.Size, w.spec.Request.Type, describe(result)))
	w.check(result, known)
	if r.IntN(4) == 0 { // an interrupted apply saves nothing
		w.members = before
		w.log = append(w.log, "killed")
		return
	}
	w.exists = true
}

// unknown describes an instance of the fleet that is not among these members; empty if there is none.
func (w *randomChanges) unknown(members []fleet.Member) string {
	w.e.t.Helper()
	found := ids(members)
	for id, name := range w.exact() {
		if _, slot, _ := fleet.ParseMemberName(name); found[slot] != id {
			return fmt.Sprintf("%s (%s)", id, name)
		}
	}
	return ""
}

// change changes the description.
func (w *randomChanges) change() {
	r := w.rand
	w.spec.Size = r.IntN(6)
	w.spec.All = r.IntN(3) == 0
	w.spec.Target.OnOutbid = []lifecycle.OutbidPolicy{
		lifecycle.OutbidRestart, lifecycle.OutbidReplace, lifecycle.OutbidKeep,
	}[r.IntN(3)]
	running, stopped := rental.DesiredRunning, rental.DesiredStopped
	w.spec.Target.State = []rental.DesiredState{running, running, stopped}[r.IntN(3)]
	w.spec.MaxUnavailable = 2
	w.spec.Request.Type = []rental.RentalType{rental.OnDemand, rental.Interruptible}[r.IntN(2)]
	w.spec.Request.DiskGB = []int64{20, 40}[r.IntN(2)]
	w.spec.Offers.Queries[0].Type = w.spec.Request.Type
	w.spec.Offers.Wait = []time.Duration{0, 5 * time.Minute}[r.IntN(2)]
}

// happen changes a member outside of the provider.
func (w *randomChanges) happen() {
	if len(w.members) == 0 {
		return
	}
	member := w.members[w.rand.IntN(len(w.members))]
	id := member.Instance.ID
	if member.Missing() {
		return
	}
	switch w.rand.IntN(6) {
	case 0:
		failed := simulator.InstancePatch{Status: new("failed")}
		_ = w.e.SetInstance(id, failed) //nolint:errcheck // it may not exist
	case 1:
		_, _ = w.e.Client.DeleteInstance(w.e.t.Context(), id) //nolint:errcheck // it may not exist
	case 2:
		_, _ = w.e.Client.StopInstance(w.e.t.Context(), id) //nolint:errcheck // it may not run
	case 3:
		if member.Offer.ID != "" {
			bid := member.Instance.Price.RunningKopH * 3 / 2
			patch := simulator.OfferPatch{InterruptibleKopH: &bid}
			_ = w.e.Simulator.SetOffer(member.Offer.ID, patch) //nolint:errcheck // see above
		}
	}
	time.Sleep(time.Minute)
}

func (w *randomChanges) refresh() {
	w.e.t.Helper()
	members, _, err := w.e.engine().Refresh(w.e.t.Context(), w.members)
	if err != nil {
		w.fail("refresh: %s", err)
		return
	}
	w.members = members
}

func (w *randomChanges) fail(format string, arguments ...any) {
	w.e.t.Helper()
	for _, line := range w.log {
		w.e.t.Log(line)
	}
	w.log = nil
	w.e.t.Errorf(format, arguments...)
}

// check checks what holds after every apply, including one that failed. known: the members before it were all.
func (w *randomChanges) check(result fleet.Result, known bool) {
	w.e.t.Helper()
	time.Sleep(time.Minute) // until what the apply stopped is stopped
	names := map[string]string{}
	for id, name := range w.exact() {
		if other := names[name]; other != "" {
			w.fail("%s and %s are both %s", other, id, name)
		}
		names[name] = id
	}
	unsure := slices.ContainsFunc(result.Failures, func(f fleet.Failure) bool {
		return kind(f.Err) == "OutcomeUnknown"
	})
	if id := w.unknown(result.Members); id != "" && known && !unsure {
		w.fail("%s is not in the result", id)
	}
	found := len(result.Recovered) > 0 // beyond the size: the next plan shows that they are destroyed
	plan := fleet.Plan(w.spec, result.Members)
	if len(result.Failures) == 0 && !result.Interrupted && !found && len(plan) > 0 {
		w.fail("a successful apply leaves: %s", planText(plan))
	}
}

// exact returns the names of the active members as the simulator has them, whatever the quirks do to responses.
func (w *randomChanges) exact() map[string]string {
	w.e.t.Helper()
	on := w.quirks.On()
	w.quirks.Switch()
	found := map[string]string{}
	for _, inst := range w.e.Active() {
		if name, _, ok := fleet.ParseMemberName(inst.NameString()); ok && name == w.spec.Name {
			found[inst.ID] = inst.NameString()
		}
	}
	w.quirks.Switch(on...)
	return found
}

// end applies until the fleet is as described.
func (w *randomChanges) end() {
	w.e.t.Helper()
	w.quirks.Switch()
	w.spec.Offers.Wait = 0
	w.spec.Size, w.spec.Target.OnOutbid = 5, lifecycle.OutbidReplace
	w.spec.Target.State = rental.DesiredRunning
	var result fleet.Result
	for range 4 {
		w.refresh()
		result = w.e.engine().Apply(w.e.t.Context(), w.spec, w.members, time.Hour)
		w.exists = true
		w.members = slices.Concat(result.Members, result.Missing)
	}
	w.log = append(w.log, "end: "+describe(result))
	if id := w.unknown(w.members); len(result.Failures) > 0 || len(result.Members) != 5 || id != "" {
		w.fail("the fleet is not as described; not in the state: %q", id)
	}
}

// Random histories of keys: each slot has used keys and perhaps a running instance of an interrupted apply. Nothing is
// rented twice, and every running instance is received.
func TestApply_RandomKeyHistories(t *testing.T) {
	for seed := range *chaosSeeds / 4 {
		random := rand.New(rand.NewPCG(seed, 7))
		run(t, simulator.Config{MarketScale: 5}, func(t *testing.T, e *env) {
			e.enrich()
			e.SetRateLimit(0, 0)
			const size = 6
			live := map[int]string{}
			hidden := random.IntN(3) == 0 // the list has no names
			for slot := range size {
				used := random.IntN(10)
				alive := random.IntN(2) == 0
				name := fleet.MemberName("train", slot)
				for number := 1; number <= used+1; number++ {
					if number > used && !alive {
						break
					}
					key := lifecycle.FleetSeed("train/1").Slot(slot).Key(number)
					order := spec(1).Request
					order.Name, order.OfferID = name, e.Offers()[0].ID
					inst, _, err := e.Client.CreateInstance(t.Context(), key, order)
					if err != nil {
						t.Fatal(err)
					}
					if number <= used {
						if _, err := e.Client.DeleteInstance(t.Context(), inst.ID); err != nil {
							t.Fatal(err)
						}
						continue
					}
					live[slot] = inst.ID
				}
			}
			time.Sleep(5 * time.Minute)
			flaky := rand.New(rand.NewPCG(seed, 8))
			var mu sync.Mutex
			loses := func(req *http.Request) bool {
				mu.Lock()
				defer mu.Unlock()
				return acctest.Creates()(req) && flaky.IntN(5) == 0
			}
			rules := []acctest.Rule{acctest.Match(loses).Do(acctest.LoseResponse)}
			if hidden {
				rules = append(rules, anyInstance.Do(acctest.RewriteItems(func(inst map[string]any) { delete(inst, "name") })))
			}
			e.Proxy.Set(rules...)
			train := spec(size)
			result := e.engine().Apply(t.Context(), train, nil, 2*time.Hour)
			if len(result.Failures) > 0 || len(result.Members) != size || len(e.Active()) != size {
				t.Errorf("seed %d: %s; %d active", seed, describe(result), len(e.Active()))
			}
			for slot, id := range live {
				if ids(result.Members)[slot] != id {
					t.Errorf("seed %d: slot %d has %s instead of %s", seed, slot, ids(result.Members)[slot], id)
				}
			}
		})
	}
}
