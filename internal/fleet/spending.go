package fleet

import (
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
