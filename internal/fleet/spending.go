package fleet

import (
	"context"
	"strconv"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// Spending returns what changes cost, for spending.Account.Check. candidates are the offers for the slots that rent an
// instance, in their order; there can be fewer.
func Spending(changes []Change, candidates []lifecycle.Candidate) (sum spending.Change) {
	for _, change := range changes {
		switch {
		case change.Action.Rents() && len(candidates) > 0:
			kopH := candidates[0].KopH
			candidates = candidates[1:]
			sum.StartsKopH += kopH
			if !change.Destroys() {
				sum.AddedKopH += kopH
				continue
			}
			sum.Replacements = append(sum.Replacements, spending.Replacement{ID: change.Member.Instance.ID, KopH: kopH})
			if sum.NeedsKopH == 0 || kopH < sum.NeedsKopH {
				sum.NeedsKopH = kopH
			}
		case change.Action == Start:
			start := spending.StartOf(change.Member.Instance)
			sum.StartsKopH += start.StartsKopH
			sum.AddedKopH += start.AddedKopH
		}
	}
	return sum
}

// slotHold is a Hold of the instance in a slot.
type slotHold struct {
	key     string
	total   spending.Hold
	account spending.Hold // nil without a burn limit
}

// Commit implements spending.Hold.
func (h slotHold) Commit(id string, kopH int64) {
	h.total.Commit(h.key, kopH)
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

// hold returns the comparison of the instance in a slot with the total cap and with the limit of the account; nil if
// there is neither.
func (w slotContext) hold(slot int) spending.HoldFunc {
	account := w.Spending.Hold()
	if w.MaxTotalKopH == 0 {
		return account
	}
	return func(ctx context.Context, id string, kopH int64) (spending.Hold, error) {
		hold := slotHold{key: ledgerKey(slot)}
		var err error
		if hold.total, err = w.total.Hold(hold.key, kopH); err != nil {
			return nil, err
		}
		if account == nil {
			return hold, nil
		}
		if hold.account, err = account(ctx, id, kopH); err != nil {
			hold.total.Release()
			return nil, err
		}
		return hold, nil
	}
}

// ledgerKey is the key of a slot in the ledger of the total cap.
func ledgerKey(slot int) string { return strconv.Itoa(slot) }
