package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfinstance"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// ModifyPlan implements resource.ResourceWithModifyPlan. It runs at plan and again, in another process, at apply, and
// must plan the same values both times. They depend only on configuration, state and plan; responses of the API only
// cause warnings and errors.
func (r *instanceResource) ModifyPlan(
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

func (r *instanceResource) planDestroy(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	var id types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("id"), &id)...)
	object := tfkit.GetObject(ctx, req.Private, &resp.Diagnostics)
	tfinstance.ClaimDestroyed(r.Meta, object, "", &resp.Diagnostics, id.ValueString())
}

func (r *instanceResource) planCreate(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	replaced := tfkit.GetPrivate[*replacedInstance](ctx, req.Private, privateReplaced, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || r.Meta == nil {
		return
	}
	r.checkCreate(ctx, plan, replaced, &resp.Diagnostics)
}

func (r *instanceResource) planUpdate(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	var state, plan model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	replacement := plan
	replacement.Image = types.StringUnknown() // planCreate checks it: without configuration, this is the old template's
	replacedBy, diags := planCreateArguments(ctx, state, &plan)
	resp.Diagnostics.Append(diags...)
	replacedBy = append(replacedBy, plan.Changed(state.Arguments)...)
	if !state.Image.IsNull() && !plan.Image.Equal(state.Image) {
		replacedBy = append(replacedBy, path.Root("image"))
	}
	notReady := tfkit.GetPrivate[bool](ctx, req.Private, privateNotReady, &resp.Diagnostics)
	next := planConvergence(state, &plan, notReady)
	if next == lifecycle.ActionReplace {
		replacedBy = append(replacedBy, path.Root("status"))
	}
	resp.RequiresReplace = append(resp.RequiresReplace, replacedBy...)
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)

	inst := state.instance()
	replaced := replacedInstance{ID: inst.ID, OfferID: state.RentedOfferID.ValueString()}
	object := tfkit.GetObject(ctx, req.Private, &resp.Diagnostics)
	tfinstance.Claim(r.Meta, object, "", &resp.Diagnostics, replaced.ID)
	switch {
	case !r.Meta.Ready():
	case len(replacedBy) > 0: // planCreate follows and checks the same, but Terraform shows only its errors
		r.checkCreate(ctx, replacement, &replaced, &resp.Diagnostics)
	case next == lifecycle.ActionNone:
		tfinstance.WarnAboveCap(&resp.Diagnostics, plan.MaxPriceKopH.ValueInt64(), []rental.Instance{inst})
	case next == lifecycle.ActionStart:
		tfinstance.AddSpendingProblems(&resp.Diagnostics, r.Meta.Spending.Check(ctx, spending.StartOf(inst)))
	}
	resp.Diagnostics.Append(tfkit.SetPrivate(ctx, resp.Private, privateReplaced, replaced)...)
}

// keySeed returns what the idempotency keys of a new instance derive from: idempotency_key, else idempotency_prefix and
// the name, else a random key for one creation. It reports an error if the name is missing. Unknown values count as
// existing.
func (r *instanceResource) keySeed(plan model, diags *diag.Diagnostics) lifecycle.KeySeed {
	prefix := r.Meta.IdempotencyPrefix
	switch {
	case !plan.IdempotencyKey.IsNull():
		return lifecycle.ChosenKey(plan.IdempotencyKey.ValueString())
	case prefix.IsNull():
		return lifecycle.RandomKey()
	case plan.Name.IsNull() && !prefix.IsUnknown():
		addNameRequired(diags)
	}
	return lifecycle.ChosenName("instance", prefix.ValueString(), plan.Name.ValueString())
}

// planConvergence plans the computed attributes. If the instance is in its desired state, it plans the prior values, so
// that no diff appears. Otherwise it plans unknown values for the attributes that a start, a stop or a wait can change.
// If a policy is unknown and one of its values leads to a replacement, it plans a replacement, because the plan at
// apply must not contradict this one. notReady reports that the last apply ended before the instance was ready.
func planConvergence(state model, plan *model, notReady bool) lifecycle.Action {
	plan.computed = state.computed // the framework marks all of them as unknown when an argument changes
	next, known := nextAction(state, *plan)
	if next == lifecycle.ActionNone && notReady && state.Status.ValueString() == string(rental.StatusRunning) &&
		!plan.ReadyWhen.IsNull() {
		next = lifecycle.ActionWait
	}
	if !known || next != lifecycle.ActionNone {
		expectChange(state, plan)
	}
	if known && next == lifecycle.ActionStop {
		expectStop(state, plan)
	}
	return next
}

// nextAction returns the next action for the instance. If it depends on an unknown value, known is false, and the
// action is a replacement if one is possible, otherwise a wait.
func nextAction(state, plan model) (next lifecycle.Action, known bool) {
	wanted := rental.DesiredState(plan.DesiredState.ValueString())
	policy := lifecycle.OutbidPolicy(plan.OnOutbid.ValueString())
	known = !plan.DesiredState.IsUnknown() && !plan.OnOutbid.IsUnknown()
	// These values lead to a replacement if any do.
	if plan.DesiredState.IsUnknown() {
		wanted = rental.DesiredRunning
	}
	if plan.OnOutbid.IsUnknown() {
		policy = lifecycle.OutbidReplace
	}
	next = lifecycle.NextAction(state.instance(), wanted, policy)
	if !known && next != lifecycle.ActionReplace {
		next = lifecycle.ActionWait
	}
	return next, known
}

// expectChange plans unknown values for the attributes that a start, a stop or a wait can change.
func expectChange(state model, plan *model) {
	plan.Status = types.StringUnknown()
	plan.StopReason = types.StringUnknown()
	plan.SSH = types.ObjectUnknown(tfinstance.SSHType)
	plan.URLs = types.ListUnknown(tfinstance.URLType)
	if state.StartedAt.IsNull() {
		plan.StartedAt = types.StringUnknown()
	}
	plan.Price = types.ObjectUnknown(tfinstance.PriceType) // a start or a new bid can have a new price
}

// expectStop plans the known results of a stop: the price stays the same, and the instance has no SSH login and no web
// addresses.
func expectStop(state model, plan *model) {
	plan.Price = state.Price
	plan.SSH = tfinstance.SSHValue(nil)
	var urls []attr.Value
	for _, element := range state.URLs.Elements() {
		url, ok := element.(types.Object)
		if !ok || url.IsNull() || url.IsUnknown() {
			return
		}
		urls = append(urls, types.ObjectValueMust(tfinstance.URLType.AttrTypes, map[string]attr.Value{
			"label": url.Attributes()["label"], "url": types.StringNull(),
		}))
	}
	plan.URLs = types.ListValueMust(tfinstance.URLType, urls)
}
