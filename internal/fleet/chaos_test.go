package fleet_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

var chaosSeeds = flag.Uint64("fleet.seeds", 8, "run TestApply_Chaos with this `number` of seeds")

// chaosSteps is the number of applies of each seed.
const chaosSteps = 12

// Random descriptions, failures, interruptions and kills, with what the API document allows and with faults: no slot
// ever has two instances, none is missing from the result, a success has reached the description, applying again leads
// there, and a destruction leaves nothing.
func TestApply_Chaos(t *testing.T) {
	for seed := range *chaosSeeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			set := quirks.New()
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
	w.switchQuirks()
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

// switchQuirks switches none, all or some of the quirks on, and faults with them: about one request in ten fails.
func (w *randomChanges) switchQuirks() {
	names := quirks.Names()
	w.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = names[:[]int{0, len(names), len(names) / 3}[w.rand.IntN(3)]]
	w.quirks.Switch(names...)
	w.e.ClearFaults()
	if len(names) == 0 {
		return
	}
	for _, fault := range []simulator.Fault{{Status: 500}, {Status: 429}, {Drop: "before"}, {Drop: "after"}} {
		fault.Probability = 0.025
		if err := w.e.AddFault(fault); err != nil {
			w.e.t.Fatal(err)
		}
	}
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
	w.e.ClearFaults()
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
	id, plan := w.unknown(w.members), planText(fleet.Plan(w.spec, w.members))
	if len(result.Failures) > 0 || len(result.Members) != 5 || id != "" || plan != "" {
		w.fail("the fleet is not as described: %s; not in the state: %q", plan, id)
	}
	result = w.e.destroyAll(w.spec, w.members)
	if id := w.unknown(nil); len(result.Members) > 0 || id != "" {
		w.fail("after the destruction, %q is left: %s", id, describe(result))
	}
}
