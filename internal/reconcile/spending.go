package reconcile

import (
	"context"
	"errors"
	"strconv"

	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// Spending returns what changes cost, for spending.Account.Check. candidates are the offers for the slots that rent an
// instance, in their order; there can be fewer.
func Spending(changes []Change, candidates []placement.Candidate) (sum spending.Change) {
	for _, change := range changes {
		inst := change.Member.Instance
		switch {
		case change.Action.Rents() && len(candidates) > 0:
			kopH := candidates[0].KopH
			candidates = candidates[1:]
			sum.StartsKopH += kopH
			// The old instance makes room only for its own replacement, because others are rented before it is destroyed.
			sum.AddedKopH += kopH - min(kopH, inst.BurnKopH())
			if change.Destroys() && (sum.NeedsKopH == 0 || kopH < sum.NeedsKopH) {
				sum.NeedsKopH = kopH
			}
		case change.Action == Start:
			start := spending.StartOf(inst)
			sum.StartsKopH += start.StartsKopH
			sum.AddedKopH += start.AddedKopH
		}
	}
	return sum
}

// slotHold is a Hold of the instance in a slot.
type slotHold struct {
	slot    string
	kopH    int64
	total   spending.Hold
	account spending.Hold // nil without a burn limit
}

// Commit implements spending.Hold. The total counts the price that was held until setInstance: the slot with a higher
// price must exceed the cap, and not another one.
func (h slotHold) Commit(id string, kopH int64) {
	h.total.Commit(h.slot, h.kopH)
	if h.account != nil {
		h.account.Commit(id, kopH)
	}
}

// Release implements spending.Hold.
func (h slotHold) Release() {
	h.total.Release()
	if h.account != nil {
		h.account.Release()
	}
}

// hold returns the comparison of an instance in a slot with the total cap and with a limit of the account, nil if there
// is neither.
func (a *apply) hold(slot int, account spending.HoldFunc) spending.HoldFunc {
	if a.MaxTotalKopH == 0 {
		return account
	}
	return func(ctx context.Context, kopH int64) (spending.Hold, error) {
		total, err := a.total.Hold(ledgerKey(slot), kopH)
		if e, ok := errors.AsType[*spending.Error](err); ok {
			return nil, &Error{Kind: OverBudget, PriceKopH: e.AfterKopH, LimitKopH: e.LimitKopH}
		}
		hold := slotHold{slot: ledgerKey(slot), kopH: kopH, total: total}
		if account == nil {
			return hold, nil
		}
		if hold.account, err = account(ctx, kopH); err != nil {
			total.Release()
			return nil, err
		}
		return hold, nil
	}
}

// useHeld returns a comparison whose first result is held, which allows prices up to kopH.
func useHeld(held spending.Hold, kopH int64, hold spending.HoldFunc) spending.HoldFunc {
	return func(ctx context.Context, price int64) (spending.Hold, error) {
		first := held
		held = nil
		switch {
		case first == nil:
			return hold(ctx, price)
		case price > kopH:
			first.Release()
			return hold(ctx, price)
		}
		return first, nil
	}
}

// ledgerKey is the key of a slot in the ledger of the total cap.
func ledgerKey(slot int) string { return strconv.Itoa(slot) }

// setDestroyed records that the API has accepted the destruction of an instance.
func (m *Manager) setDestroyed(id string) {
	m.Placement.Destroyed(id)
	m.Spending.Destroyed(id)
}

// setInstance records the instance of a member as it was last read. The lock is held.
func (a *apply) setInstance(member *Member, inst rental.Instance) {
	member.Instance = inst
	a.total.Set(ledgerKey(member.Slot), inst.Price.RunningKopH)
}

// remove records that a slot is empty. The lock is held.
func (a *apply) remove(slot int) {
	delete(a.members, slot)
	a.total.Destroyed(ledgerKey(slot))
}
