package fleet_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// A member that is replaced makes room for its own replacement only: new members are rented before it is destroyed.
func TestSpending_Replacements(t *testing.T) {
	member := func(slot int, status rental.InstanceStatus, kopH int64) fleet.Member {
		return fleet.Member{Slot: slot, Instance: rental.Instance{
			ID: fleet.MemberName("ins", slot), Status: status,
			Price: rental.InstancePrice{RunningKopH: kopH, StoppedKopH: 10},
		}}
	}
	changes := []fleet.Change{
		{Action: fleet.Update, Member: member(0, rental.StatusRunning, 1000)},
		{Action: fleet.Update, Member: member(1, rental.StatusRunning, 500)},
		{Action: fleet.Create, Member: fleet.Member{Slot: 2}},
		{Action: fleet.Start, Member: member(3, rental.StatusStopped, 300)},
		{Action: fleet.Destroy, Member: member(4, rental.StatusRunning, 1000)},
		{Action: fleet.Create, Member: fleet.Member{Slot: 5}},
	}
	candidates := []lifecycle.Candidate{{KopH: 600}, {KopH: 550}, {KopH: 600}} // none is left for slot 5
	got := fleet.Spending(changes, candidates)
	want := spending.Change{
		StartsKopH: 600 + 550 + 600 + 300, AddedKopH: 600 + 290,
		Replacements: []spending.Replacement{{ID: "ins-0", KopH: 600}, {ID: "ins-1", KopH: 550}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A member stays if a limit does not allow its replacement. The plan did not find out: there were no offers.
func TestApply_LimitForbidsReplacement(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		train := interruptible(2)
		train.OnOutbid = lifecycle.OutbidReplace
		first := e.apply(train, nil)
		e.want(first, 2)
		for _, m := range first.Members {
			e.setOffer(m.Offer.ID, simulator.OfferPatch{InterruptibleKopH: new(20 * m.Instance.Price.RunningKopH)})
		}
		for _, id := range e.limit(0) {
			e.setOffer(id, simulator.OfferPatch{Available: new(true), After: 5 * time.Minute})
		}
		members := e.read(first.Members)
		train.WaitForOffer = time.Hour
		limits := spending.Limits{RequireFunds: spending.FundsOff, MaxBurnKopH: 200}
		result := e.engine(limits).Apply(t.Context(), train, members, 2*time.Hour)
		if len(result.Members) != 2 {
			t.Errorf("%d of 2 outbid members are left: %s", len(result.Members), describe(result))
		}
	})
}
