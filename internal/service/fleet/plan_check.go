package fleet

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

func isCustom(m model) bool { return m.Template.ValueString() == rental.CustomTemplate }

// checkCreate checks a new fleet at plan, before its creation costs money. replaced are the members of the fleet that
// it replaces.
func (r *fleetResource) checkCreate(
	ctx context.Context, plan model, replaced []reconcile.Member, diags *diag.Diagnostics,
) {
	if !plan.Name.IsUnknown() {
		r.warnOfOthers(ctx, plan.Name.ValueString(), len(replaced) == 0, diags)
	}
	r.checkTemplate(ctx, plan, len(replaced) > 0, diags)
	if diags.HasError() || argumentsUnknown(plan) || plan.Name.IsUnknown() {
		return
	}
	spec, problems := plan.spec(ctx)
	diags.Append(problems...)
	r.checkOffers(ctx, plan, spec, nil, reconcile.Plan(spec, nil), replaced, diags)
}

func (r *fleetResource) checkTemplate(ctx context.Context, plan model, replaces bool, diags *diag.Diagnostics) {
	tfinstance.CheckTemplate(ctx, r.Meta, tfinstance.TemplateArguments{
		Template: plan.Template, Image: plan.Image, DiskGB: plan.DiskGB, SSHKeyIDs: plan.SSHKeyIDs, ReadyWhen: plan.ReadyWhen,
	}, replaces, diags)
}

// checkReplacement checks the creation that follows the plan of a replaced fleet, unless that plan has checked it: with
// -replace, no argument changes.
func (r *fleetResource) checkReplacement(
	ctx context.Context, plan model, private privateData, diags *diag.Diagnostics,
) {
	if private.Checked {
		return
	}
	var replaced []reconcile.Member
	for slot, member := range private.Members {
		if member.ID != "" {
			replaced = append(replaced, reconcile.Member{Slot: slot, Instance: rental.Instance{ID: member.ID}})
		}
	}
	r.checkCreate(ctx, plan, replaced, diags)
}

// update is the plan of an update.
type update struct {
	plan    model
	spec    reconcile.Spec
	members []reconcile.Member
	changes []reconcile.Change
	lowered bool // max_total_kop_h has changed
	image   bool // image has changed
}

// checkUpdate checks the changes of existing members at plan, and warns of them.
func (r *fleetResource) checkUpdate(ctx context.Context, u update, diags *diag.Diagnostics) {
	r.warnOfOthers(ctx, u.spec.Name, false, diags)
	if argumentsUnknown(u.plan) {
		return
	}
	running := runningAfter(u.changes, u.members)
	checkTotal(diags, u.spec, running, u.lowered)
	warnAboveCap(diags, u.spec, running)
	warnOfChanges(diags, u.spec.Name, u.plan, u.changes)
	rents := slices.ContainsFunc(u.changes, func(c reconcile.Change) bool { return c.Action.Rents() })
	if rents || u.image {
		r.checkTemplate(ctx, u.plan, true, diags)
	}
	if len(u.changes) == 0 || diags.HasError() {
		return
	}
	actions := actionsBySlot(u.changes)
	stays := slices.DeleteFunc(slices.Clone(u.members), func(m reconcile.Member) bool {
		return actions[m.Slot] == reconcile.Destroy || actions[m.Slot].Rents()
	})
	r.checkOffers(ctx, u.plan, u.spec, stays, u.changes, nil, diags)
}

// actionsBySlot returns the actions of changes, of which each slot has at most one.
func actionsBySlot(changes []reconcile.Change) map[int]reconcile.Action {
	actions := map[int]reconcile.Action{}
	for _, change := range changes {
		actions[change.Slot] = change.Action
	}
	return actions
}

// checkOffers checks that there are offers for the slots to fill, and that the sum of all changes is within the limits
// of the provider. replaced are members of another fleet that the plan destroys first: then too few offers are an
// error. Otherwise they are a warning: after a run that was killed, its own instances may be the reason, and an error
// would prevent that they are recovered.
func (r *fleetResource) checkOffers(
	ctx context.Context, plan model, spec reconcile.Spec, stays []reconcile.Member, changes []reconcile.Change,
	replaced []reconcile.Member, diags *diag.Diagnostics,
) {
	failed := func(err error) { tfkit.AddAPIError(diags, "determine the price of the planned fleet", err) }
	account := r.Meta.Spending
	slots, updates := 0, 0
	for _, c := range changes {
		if c.Action.Rents() {
			slots++
		}
		if c.Action == reconcile.Update {
			updates++
		}
	}
	if slots > 0 {
		tfinstance.CheckQueryGPUs(ctx, r.Meta, path.Root("offer_queries"), plan.OfferQueries, diags)
	}
	var choice placement.Choice
	if queriesKnown(ctx, plan) && slots > 0 {
		var err error
		choice, err = r.Meta.Placement.EstimateAll(ctx, spec.Demand(slots, stays))
		if err != nil && (account.Enforced() || len(replaced) > 0) {
			failed(err)
			return
		}
		r.Meta.WarnUnchecked(err, diags)
		needed := slots - updates + min(updates, spec.MaxUnavailable) // the update frees offers as it goes on
		if err == nil && len(choice.Candidates) < needed {
			r.addTooFewOffers(ctx, diags, plan, spec, choice, needed, len(replaced) > 0)
		}
	}
	change := reconcile.Spending(changes, choice.Candidates)
	for _, member := range replaced {
		change.Replaced = append(change.Replaced, member.Instance.ID)
		change.NeedsKopH = change.StartsKopH
	}
	tfinstance.AddSpendingProblems(diags, account.Check(ctx, change), "Nothing was started.")
}

// queriesKnown reports whether the arguments that select offers are known.
func queriesKnown(ctx context.Context, plan model) bool {
	for _, value := range []attr.Value{plan.OfferQueries, plan.MaxPriceKopH, plan.MaxTotalKopH, plan.Same} {
		raw, err := value.ToTerraformValue(ctx)
		if err != nil || !raw.IsFullyKnown() {
			return false
		}
	}
	return true
}

// warnOfOthers warns of active instances that have the names of members and are none, also if another resource has
// them. created: the plan creates the fleet, so that all of them are others.
func (r *fleetResource) warnOfOthers(ctx context.Context, name string, created bool, diags *diag.Diagnostics) {
	var others []rental.Instance
	for _, member := range r.membersByName(ctx, name) {
		owner, _ := r.Meta.Placement.Owners.Owner(member.Instance.ID)
		if !owner.Destroyed && (created || owner.Fleet != name) {
			others = append(others, member.Instance)
		}
	}
	if len(others) > 0 {
		addOtherMembers(diags, name, others, created)
	}
}

// membersByName returns the active instances that have the names of members of a fleet.
func (r *fleetResource) membersByName(ctx context.Context, name string) []reconcile.Member {
	active, _ := r.Meta.Cache.Instances.Recent(ctx) //nolint:errcheck // what could be read is enough for a warning
	if active == nil {
		return nil
	}
	return reconcile.Named(active.Items, name)
}

// reason describes why an apply changes a member.
func reason(plan model, change reconcile.Change) tfkit.Text {
	inst := change.Member.Instance
	switch change.Action {
	case reconcile.Destroy:
		return tfkit.Textf("destroyed, because size is %d", plan.Size.ValueInt64())
	case reconcile.Stop:
		return "stopped, because desired_state is \"stopped\""
	case reconcile.Start:
		return tfkit.Textf("%s, is started", statusText(inst))
	case reconcile.Wait:
		if inst.Status == rental.StatusRunning {
			return "running, but was not ready last time, the apply waits for it"
		}
		return tfkit.Textf("%s, the apply waits for it", statusText(inst))
	case reconcile.Replace:
		return tfkit.Textf("%s, is replaced", statusText(inst))
	case reconcile.Update:
		return updateReason(plan, change.Member.Order)
	case reconcile.Create:
	}
	return "no longer exists, another one is rented"
}

// updateReason names the arguments in which a member differs from the plan, without the values of strings, which may be
// sensitive.
func updateReason(plan model, made rental.InstanceCreate) tfkit.Text {
	var reasons []string
	if made.Template != "" && made.Template != plan.Template.ValueString() {
		reasons = append(reasons, "its template changes")
	}
	if size := plan.DiskGB.ValueInt64(); made.DiskGB != 0 && made.DiskGB != size {
		reasons = append(reasons, fmt.Sprintf("its disk_gb is %d instead of %d", made.DiskGB, size))
	}
	if made.Type != "" && string(made.Type) != plan.Type.ValueString() {
		reasons = append(reasons, "its type changes")
	}
	if image := plan.Image.ValueString(); isCustom(plan) && made.Image != "" && !rental.SameImage(made.Image, image) {
		reasons = append(reasons, "its image changes")
	}
	if len(reasons) == 0 {
		return "is replaced, because its arguments change"
	}
	return tfkit.Textf("is replaced, because %s", strings.Join(reasons, ", and "))
}

// statusText returns the status of an instance, and why it stopped.
func statusText(inst rental.Instance) tfkit.Text {
	if inst.StopReason != nil && inst.Status == rental.StatusStopped {
		return tfkit.Textf("%s (%s)", inst.Status, *inst.StopReason)
	}
	return tfkit.Textf("%s", inst.Status)
}

func slotText(slot int) tfkit.Text { return tfkit.Text("slot " + strconv.Itoa(slot)) }
