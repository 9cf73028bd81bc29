package reconcile_test

import (
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// A member that is replaced makes room for its own replacement only: new members are rented before it is destroyed.
func TestPlanSpending_Replacements(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		update := func(slot int, kopH int64) reconcile.Change {
			inst := rental.Instance{
				ID: reconcile.MemberName("ins", slot), Status: rental.StatusRunning,
				Price: rental.InstancePrice{RunningKopH: kopH},
			}
			return reconcile.Change{Slot: slot, Action: reconcile.Update, Member: reconcile.Member{Slot: slot, Instance: inst}}
		}
		changes := []reconcile.Change{
			update(0, 1000), update(1, 500), {Slot: 2, Action: reconcile.Create}, update(3, 1000),
		}
		candidates := []placement.Candidate{{KopH: 600}, {KopH: 600}, {KopH: 600}} // none is left for slot 3
		got := must(e.manager().PlanSpending(t.Context(), "train", changes, candidates))
		if want := (spending.Change{StartsKopH: 1800, AddedKopH: 100 + 600, Creates: true}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

// A member stays if a limit does not allow its replacement. The plan did not find out: there were no offers.
func TestApply_LimitForbidsReplacement(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		fleet := interruptible(2)
		fleet.OnOutbid = lifecycle.OutbidReplace
		first := e.apply(fleet, nil)
		e.want(first, 2)
		for _, m := range first.Members {
			e.setOffer(m.Offer.ID, simulator.OfferPatch{InterruptibleKopH: new(20 * m.Instance.Price.RunningKopH)})
		}
		for _, id := range e.limit(0) {
			e.setOffer(id, simulator.OfferPatch{Available: new(true), After: 5 * time.Minute})
		}
		members := e.read(first.Members)
		fleet.WaitForOffer = time.Hour
		manager := e.manager()
		limits := spending.Limits{RequireFunds: spending.FundsOff, MaxBurnKopH: 200}
		manager.Spending = spending.New(limits, e.client, manager.Cache, func() bool { return true })
		change := must(manager.PlanSpending(t.Context(), "train", reconcile.Plan(fleet, members), nil))
		if p := manager.Spending.Check(t.Context(), change); p.Errors() != nil {
			t.Fatal(p)
		}
		result := manager.Apply(t.Context(), fleet, members, 2*time.Hour)
		if len(result.Members) != 2 {
			t.Errorf("%d of 2 outbid members are left: %s", len(result.Members), describe(result))
		}
	})
}
