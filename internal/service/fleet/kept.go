package fleet

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// keep keeps the members of a fleet whose creation failed for the creation that replaces it. No state contains them
// until then. A dependency that fails, a rejected plan or Ctrl-C can prevent that creation, so the end of the process
// destroys members that no creation has taken.
func (r *fleetResource) keep(ctx context.Context, name string, kept refreshed) {
	r.Meta.KeptFleets.Store(name, kept)
	r.Meta.Cleanup.Register(ctx, tfkit.Task{
		Name: keptName(name, kept.members),
		Undo: func(ctx context.Context) error {
			if _, found := r.Meta.KeptFleets.LoadAndDelete(name); !found {
				return nil // a creation has just taken them
			}
			return r.manager().RequestDestroyAll(rental.Urgent(ctx), kept.members,
				placement.Object{Token: kept.object.Token, Fleet: name})
		},
		OnDone: func() {},
	})
}

// takeKept returns the members that the deletion of the fleet has kept for its replacement, as they are now. Members
// that cannot be read are returned as they were: the API may have accepted their creation.
func (r *fleetResource) takeKept(ctx context.Context, name string) refreshed {
	value, _ := r.Meta.KeptFleets.LoadAndDelete(name)
	kept, found := value.(refreshed)
	if !found {
		return refreshed{}
	}
	r.Meta.Cleanup.Done(keptName(name, kept.members))
	if members, err := r.manager().Refresh(ctx, kept.members); err == nil {
		kept.members = members
	}
	return kept
}

// keptName names the kept members in the log. Their ids distinguish fleets with the same name in two accounts.
func keptName(fleet string, members []reconcile.Member) string {
	ids := []string{}
	for _, member := range members {
		if !member.Lost() {
			ids = append(ids, member.Instance.ID)
		}
	}
	return string(tfkit.Textf("Fleet %s, instances %s,", fleet, ids))
}
