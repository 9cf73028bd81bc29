package fleet

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// ModifyPlan implements resource.ResourceWithModifyPlan. The planned values derive from configuration, state and plan
// only, because it runs again at apply. Responses of the API lead to warnings and errors.
func (r *fleetResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	switch {
	case req.Plan.Raw.IsNull():
		r.planDestroy(ctx, req, resp)
	case req.State.Raw.IsNull():
		r.planCreate(ctx, req, resp)
	default:
		r.planUpdate(ctx, req, resp)
	}
}

// planDestroy claims the members, and warns of instances that the state does not contain.
func (r *fleetResource) planDestroy(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	private := getMembers(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	members := state.members(private)
	object := tfkit.GetObject(ctx, req.Private, &resp.Diagnostics)
	tfinstance.ClaimDestroyed(r.Meta, object, state.ID.ValueString(), &resp.Diagnostics, memberIDs(members)...)
	if !r.Meta.Ready() {
		return
	}
	r.warnOfOthers(ctx, state.Name, members, false, &resp.Diagnostics)
}

func (r *fleetResource) planCreate(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	private := getMembers(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if !r.Meta.Ready() {
		return
	}
	// Only the plan of a replacement has a private state. The first part of that plan, planUpdate, does not check it if no
	// argument changes, as with -replace. Terraform reports the warnings of the first part only, and ends after its
	// errors.
	members := private.members(false)
	r.warnOfOthers(ctx, plan.Name, members, len(members) == 0, &resp.Diagnostics)
	r.checkCreate(ctx, plan, members, &resp.Diagnostics)
}

func (r *fleetResource) planUpdate(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	var state, plan model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	private := getMembers(ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	members := state.adopted(plan).members(private)
	replacedBy := replacingArguments(state, plan, members)
	resp.RequiresReplace = append(resp.RequiresReplace, replacedBy...)
	replaced := len(replacedBy) > 0 || !plan.Name.Equal(state.Name)
	spec := plan.spec()
	changes := fleet.Changes(fleet.Plan(spec, members))
	if !replaced {
		planComputed(state, &plan, members, changes)
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	}
	resp.Diagnostics.Append(setDestroys(ctx, resp.Private, destroyedSlots(changes))...)
	object := tfkit.GetObject(ctx, req.Private, &resp.Diagnostics)
	tfinstance.Claim(r.Meta, object, state.ID.ValueString(), &resp.Diagnostics, memberIDs(members)...)
	if !r.Meta.Ready() {
		return
	}
	r.warnOfOthers(ctx, plan.Name, members, !plan.Name.Equal(state.Name), &resp.Diagnostics)
	if replaced {
		r.checkCreate(ctx, plan, members, &resp.Diagnostics)
		return
	}
	r.checkUpdate(ctx, update{
		plan: plan, spec: spec, members: members, changes: changes, priorSize: int(state.Size.ValueInt64()),
		imageChanged: !plan.Image.Equal(state.Image),
	}, &resp.Diagnostics)
}

// destroyedSlots returns the slots whose instances an apply destroys.
func destroyedSlots(changes []fleet.Change) (slots []int) {
	for _, change := range changes {
		if change.Destroys() {
			slots = append(slots, change.Slot)
		}
	}
	return slots
}

// planComputed plans the computed attributes: the prior values, or unknown ones if an apply changes a member.
func planComputed(state model, plan *model, members []fleet.Member, changes []fleet.Change) {
	plan.ID = state.ID
	if len(changes) > 0 || hasUnknown(members) || argumentsUnknown(*plan) {
		plan.Instances = types.MapUnknown(memberType)
		plan.Ready, plan.RunningKopH = types.Int64Unknown(), types.Int64Unknown()
		plan.Hosts, plan.SSHConfig = types.ListUnknown(types.StringType), types.StringUnknown()
		return
	}
	plan.Instances, plan.Ready, plan.RunningKopH = state.Instances, state.Ready, state.RunningKopH
	plan.Hosts, plan.SSHConfig = state.Hosts, state.SSHConfig
	if !plan.DesiredState.Equal(state.DesiredState) {
		desired := rental.DesiredState(plan.DesiredState.ValueString())
		plan.Ready = types.Int64Value(int64(fleet.Ready(members, desired)))
	}
}

// argumentsUnknown reports whether an argument that determines the changes is not known yet.
func argumentsUnknown(plan model) bool {
	for _, value := range []attr.Value{
		plan.Size, plan.Template, plan.DiskGB, plan.Type, plan.Image, plan.DesiredState, plan.OnOutbid,
	} {
		if value.IsUnknown() {
			return true
		}
	}
	return false
}

// replacingArguments returns the changed arguments that replace the fleet: those of its members, unless the update is
// rolling. A null image of a state can also mean that the members were created without it. The API can return the
// default image of imported members, which were created without one.
func replacingArguments(state, plan model, members []fleet.Member) (replacing path.Paths) {
	if plan.Update.ValueString() == updateRolling {
		return nil
	}
	replacing = plan.Changed(state.Arguments)
	// Only the custom template accepts any image. The image of another one is checked, and is the same for all members.
	unknown := (state.Image.IsNull() || plan.Image.IsNull()) && slices.ContainsFunc(members, fleet.Member.Imported)
	if custom := isCustom(state) || isCustom(plan); custom && !unknown && !plan.Image.Equal(state.Image) {
		replacing = append(replacing, path.Root("image"))
	}
	return replacing
}
