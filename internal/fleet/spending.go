package fleet

import (
	"cmp"
	"context"

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

// hold returns the comparison of the instance in a slot with the limit of the account; nil without a limit. A new
// instance counts in place of the member.
func (w slotContext) hold(member Member) spending.HoldFunc {
	hold := w.Lifecycle.Account.Hold()
	if hold == nil {
		return nil
	}
	return func(ctx context.Context, id string, kopH int64) (spending.Hold, error) {
		return hold(ctx, cmp.Or(id, member.Instance.ID), kopH)
	}
}
