package reconcile

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// SpendingKey identifies the planned price of the member in a slot: see spending.Tracker.Plan.
func SpendingKey(fleet string, slot int) string { return "fleet~" + MemberName(fleet, slot) }

// PlanSpending returns the effect of changes on the spending, for spending.Tracker.Check. candidates are the offers for
// the slots that rent an instance, in their order; there can be fewer.
func (m *Manager) PlanSpending(
	ctx context.Context, fleet string, changes []Change, candidates []placement.Candidate,
) (sum spending.Change, err error) {
	for _, change := range changes {
		inst := change.Member.Instance
		switch {
		case change.Action.Rents():
			kopH := int64(0)
			if len(candidates) > 0 {
				kopH, candidates = candidates[0].KopH, candidates[1:]
				m.Spending.Plan(SpendingKey(fleet, change.Slot), kopH)
			}
			// The old instance makes room only for its own replacement, because others are rented before it is destroyed.
			saved := min(kopH, inst.BurnKopH())
			m.Spending.PlanDestroy(inst.ID, saved)
			sum.StartsKopH += kopH
			sum.AddedKopH += kopH - saved
			sum.Creates = true
		case change.Action == Start:
			start, err := m.Spending.PlanStart(ctx, inst, change.Member.OfferID())
			if err != nil {
				return spending.Change{}, err
			}
			sum.StartsKopH += start.StartsKopH
			sum.AddedKopH += start.AddedKopH
		}
	}
	return sum, nil
}

// check returns the spending check of a slot. Several attempts to fill a slot share it: they add its price to the plan
// only once.
func (a *apply) check(slot int) *spending.Creation {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.checks[slot] == nil {
		a.checks[slot] = a.Spending.BeginCreate(SpendingKey(a.Name, slot), a.waited)
	}
	a.checks[slot].SetWaits(a.waited)
	return a.checks[slot]
}

// checkPrice returns the spending check of a candidate, nil if no limit can fail. The price of its offer lacks a part
// of the disk.
func (a *apply) checkPrice(
	check *spending.Creation, candidate *placement.Candidate,
) func(ctx context.Context, kopH int64) (release func(), err error) {
	checkPrice := check.CheckPrice()
	if checkPrice == nil || candidate == nil {
		return checkPrice
	}
	base, _ := candidate.Offer.PriceKopH(a.Order.Type)
	return func(ctx context.Context, kopH int64) (func(), error) {
		return checkPrice(ctx, kopH+candidate.KopH-base)
	}
}
