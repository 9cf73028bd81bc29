package fleet

import (
	"cmp"
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
			sum.Replacements = append(sum.Replacements, spending.Replacement{ID: change.Instance.ID, KopH: kopH})
		case change.Action == Start:
			start := spending.StartOf(change.Instance)
			sum.StartsKopH += start.StartsKopH
			sum.AddedKopH += start.AddedKopH
		}
	}
	return sum
}

// hold returns the comparison of the instance in a slot with the total cap and with the limit of the account; nil if
// there is neither. A new instance counts in place of the member.
func (w slotContext) hold(member Member) spending.HoldFunc {
	account := w.Lifecycle.Account.Hold()
	if account == nil && w.MaxTotalKopH == 0 {
		return nil
	}
	key := ledgerKey(member.Slot)
	return func(ctx context.Context, id string, kopH int64) (spending.Hold, error) {
		inTotal, err := w.total.Hold(key, kopH)
		if err != nil {
			return nil, err
		}
		inAccount, err := account.Ask(ctx, cmp.Or(id, member.Instance.ID), kopH)
		if err != nil {
			inTotal.Release()
			return nil, err
		}
		return func(id string, kopH int64) {
			inAccount.Commit(id, kopH)
			if id != "" {
				id = key
			}
			inTotal.Commit(id, kopH)
		}, nil
	}
}

// ledgerKey is the key of a slot in the ledger of the total cap.
func ledgerKey(slot int) string { return strconv.Itoa(slot) }
