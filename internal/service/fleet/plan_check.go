package fleet

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

func isCustom(m model) bool { return m.Template.ValueString() == rental.CustomTemplate }

// checkCreate checks a new fleet at plan, before its creation costs money. replaced are the members of the fleet that
// it replaces.
func (r *fleetResource) checkCreate(
	ctx context.Context, plan model, replaced []fleet.Member, diags *diag.Diagnostics,
) {
	if plan.Size.IsUnknown() || plan.Size.ValueInt64() > 0 {
		tfinstance.CheckCreation(ctx, r.Meta, plan.Arguments, len(replaced) > 0, diags)
	}
	if diags.HasError() || argumentsUnknown(plan) || plan.Name.IsUnknown() {
		return
	}
	spec := plan.spec()
	r.checkOffers(ctx, plan, spec, nil, fleet.Changes(fleet.Plan(spec, nil)), replaced, diags)
}

// update is the plan of an update.
type update struct {
	plan    model
	spec    fleet.Spec
	members []fleet.Member
	changes []fleet.Change
	// priorSize is the size of the state.
	priorSize    int
	imageChanged bool
}

// stays returns the members that an apply keeps.
func (u update) stays() []fleet.Member {
	actions := actionsBySlot(u.changes)
	return slices.DeleteFunc(slices.Clone(u.members), func(m fleet.Member) bool {
		return m.Missing() || actions[m.Slot] == fleet.Destroy || actions[m.Slot].Rents()
	})
}

// checkUpdate checks the changes of existing members at plan, and warns of them.
func (r *fleetResource) checkUpdate(ctx context.Context, u update, diags *diag.Diagnostics) {
	if argumentsUnknown(u.plan) {
		return
	}
	r.completeInstances(ctx, u)
	warnAboveCap(diags, u)
	warnOfChanges(diags, u)
	rents := slices.ContainsFunc(u.changes, func(c fleet.Change) bool { return c.Action.Rents() })
	if rents || u.imageChanged {
		tfinstance.CheckCreation(ctx, r.Meta, u.plan.Arguments, true, diags)
	}
	if len(u.changes) == 0 || diags.HasError() {
		return
	}
	r.checkOffers(ctx, u.plan, u.spec, u.stays(), u.changes, nil, diags)
}

// warnAboveCap warns of members above the price cap. They stay, because the apply compares only what it creates or
// starts.
func warnAboveCap(diags *diag.Diagnostics, u update) {
	actions := actionsBySlot(u.changes)
	var running []rental.Instance
	for _, member := range u.stays() {
		if actions[member.Slot] != fleet.Stop {
			running = append(running, member.Instance)
		}
	}
	tfinstance.WarnAboveCap(diags, u.spec.Target.MaxPriceKopH, running)
}

// completeInstances sets what the state does not contain of the instances of members: the prices of their disks, and
// why they stopped. The disk of an instance that the API does not list counts as a part of its price.
func (r *fleetResource) completeInstances(ctx context.Context, u update) {
	active, _ := r.Meta.Cache.Instances.Recent(ctx) //nolint:errcheck // what could be read is enough for a check
	if active == nil {
		return
	}
	complete := func(inst *rental.Instance) {
		if listed, found := active.Find(inst.ID); found {
			inst.Price.StoppedKopH, inst.StopReason = listed.Price.StoppedKopH, listed.StopReason
		}
	}
	for i := range u.members {
		complete(&u.members[i].Instance)
	}
	for i := range u.changes {
		complete(&u.changes[i].Instance)
	}
}

// actionsBySlot returns the actions of changes, of which each slot has at most one.
func actionsBySlot(changes []fleet.Change) map[int]fleet.Action {
	actions := map[int]fleet.Action{}
	for _, change := range changes {
		actions[change.Slot] = change.Action
	}
	return actions
}

// checkOffers checks that there are offers for the slots that rent, and that the sum of all changes is within the
// limits of the provider. replaced are members of another fleet that the plan destroys first: then too few offers are
// an error. Otherwise they are a warning: instances that an interrupted apply rented may be the reason, and an error
// would prevent that they are found by their keys.
func (r *fleetResource) checkOffers(
	ctx context.Context, plan model, spec fleet.Spec, stays []fleet.Member, changes []fleet.Change,
	replaced []fleet.Member, diags *diag.Diagnostics,
) {
	failed := func(err error) { tfkit.AddAPIError(diags, "determine the price of the planned fleet", err) }
	account := r.Meta.Spending
	slots, updates := 0, 0
	for _, c := range changes {
		if c.Action.Rents() {
			slots++
		}
		if c.Action == fleet.Update {
			updates++
		}
	}
	var choice market.Choice
	known := tfinstance.FullyKnown(ctx, plan.OfferQueries, plan.MaxPriceKopH, plan.Same)
	if known && slots > 0 {
		var err error
		choice, err = r.Meta.Market.Estimate(ctx, spec.Demand(slots, stays))
		if err != nil && (account.Enforced() || len(replaced) > 0) {
			failed(err)
			return
		}
		tfkit.WarnUnchecked(diags, err)
		needed := slots - updates + min(updates, spec.MaxUnavailable) // the update frees offers as it goes on
		if err == nil && len(choice.Candidates) < needed {
			r.addTooFewOffers(ctx, diags, plan, spec, choice.Counts, needed, len(replaced))
		}
	}
	change := fleet.Spending(changes, choice.Candidates)
	for _, member := range replaced {
		change.Replaced = append(change.Replaced, member.Instance.ID)
	}
	tfinstance.AddSpendingProblems(diags, account.Check(ctx, change))
}

// warnOfOthers warns of active instances that have the names of members of a fleet and are not among them. Only an
// apply can request their keys. Those of a new fleet derive from an id that only its creation makes, unless they are
// chosen.
func (r *fleetResource) warnOfOthers(
	ctx context.Context, name types.String, members []fleet.Member, isNew bool, diags *diag.Diagnostics,
) {
	if name.IsUnknown() {
		return
	}
	named := func(other string) bool {
		fleetName, _, ok := fleet.ParseMemberName(other)
		return ok && strings.EqualFold(fleetName, name.ValueString())
	}
	others, _ := tfinstance.Unclaimed( //nolint:errcheck // what could be read is enough for a warning
		ctx, r.Meta, named, memberIDs(members)...)
	if len(others) > 0 {
		addOthers(diags, name.ValueString(), others, isNew, !r.Meta.IdempotencyPrefix.IsNull())
	}
}

// reason describes why an apply changes a member.
func reason(plan model, change fleet.Change) tfkit.Text {
	inst := change.Instance
	switch change.Action {
	case fleet.Destroy:
		return tfkit.Textf("destroyed, because size is %d", plan.Size.ValueInt64())
	case fleet.Stop:
		return "stopped, because desired_state is \"stopped\""
	case fleet.Start:
		return tfkit.Textf("started, because its status is %s", statusText(inst))
	case fleet.Wait:
		if inst.Status == rental.StatusRunning {
			return "the apply waits, because it was not ready last time"
		}
		return tfkit.Textf("the apply waits, because its status is %s", statusText(inst))
	case fleet.Replace:
		return tfkit.Textf("replaced, because its status is %s", statusText(inst))
	case fleet.Update:
		return "replaced, because it was created with other arguments"
	case fleet.Create:
		if change.Unknown {
			return "the outcome of its creation is unknown: the apply takes the instance of its key, or rents one"
		}
	}
	return "not found: another one is rented"
}

// statusText returns the status of an instance, and why it stopped.
func statusText(inst rental.Instance) tfkit.Text {
	if inst.StopReason != nil && inst.Status == rental.StatusStopped {
		return tfkit.Textf("%s (%s)", inst.Status, *inst.StopReason)
	}
	return tfkit.Textf("%s", inst.Status)
}
