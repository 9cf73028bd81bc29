package instance

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// ValidateConfig implements resource.ResourceWithValidateConfig: see tfkit.Run.
func (r *instanceResource) ValidateConfig(context.Context, resource.ValidateConfigRequest, *resource.ValidateConfigResponse) {
	if r.Meta.Ready() {
		r.Meta.Run.CountValidation()
	}
}

// ModifyPlan implements resource.ResourceWithModifyPlan. It runs at plan and
// again, in another process, at apply, and must come to the same planned values:
// those come from configuration, state and plan alone. Answers of the service only
// lead to warnings and errors.
func (r *instanceResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	defer tfkit.MakePlain(&resp.Diagnostics)
	switch {
	case req.Plan.Raw.IsNull():
		r.modifyDestruction(ctx, req, resp)
	case req.State.Raw.IsNull():
		r.modifyCreation(ctx, req, resp)
	default:
		r.modifyChange(ctx, req, resp)
	}
}

func (r *instanceResource) modifyDestruction(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if !r.Meta.Ready() {
		return
	}
	var id types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("id"), &id)...)
	r.keepInState(ctx, id.ValueString(), &resp.Diagnostics)
	// If the resource was renamed, its new address may take the server over by its idempotency key.
	r.fleet().replacing.add(id.ValueString())
}

// keepInState records that a server was planned with its prior state. A new server that was planned as its replacement
// replaces nothing, and adds to the burn rate.
func (r *instanceResource) keepInState(ctx context.Context, id string, diags *diag.Diagnostics) {
	r.fleet().ids.add(id)
	r.fleet().replacing.remove(id)
	if credited := r.fleet().state.keep(id); credited > 0 && r.Meta.Run.Single() {
		checkMoney(ctx, r.Meta, change{added: credited}, diags)
	}
}

func (r *instanceResource) modifyCreation(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan model
	resp.Diagnostics.Append(tfkit.Get(ctx, req.Plan.Raw, req.Plan.Schema, &plan)...)
	// One of another version is ignored.
	before, problems := findNote[predecessor](ctx, req.Private, predecessorKey)
	resp.Diagnostics.Append(problems...)
	if resp.Diagnostics.HasError() || !r.Meta.Ready() {
		return
	}
	switch {
	case before == nil:
		r.Meta.Run.CountPlan() // a replacement counts as one with the plan for its predecessor
		before = r.fleet().state.claim(plan)
	case before.Checked:
		return
	}
	r.planCreation(ctx, plan, before, &resp.Diagnostics)
}

func (r *instanceResource) modifyChange(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state, plan model
	var image types.String
	resp.Diagnostics.Append(tfkit.Get(ctx, req.State.Raw, req.State.Schema, &state)...)
	resp.Diagnostics.Append(tfkit.Get(ctx, req.Plan.Raw, req.Plan.Schema, &plan)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("image"), &image)...)
	if resp.Diagnostics.HasError() {
		return
	}
	successor := plan
	if image.IsNull() {
		successor.Image = types.StringUnknown()
	}
	replaced, problems := planArguments(ctx, state, &plan)
	resp.Diagnostics.Append(problems...)
	next := planConvergence(state, &plan)
	if next == stepReplace {
		replaced = append(replaced, path.Root("status"))
		warnOfUnknownPolicy(&resp.Diagnostics, state, successor)
	}
	resp.RequiresReplace = append(resp.RequiresReplace, replaced...)
	if !tfkit.Same(&successor, &plan) {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	}

	before := predecessorOf(state)
	if r.Meta.Ready() {
		r.Meta.Run.CountPlan()
		r.keepInState(ctx, before.ID, &resp.Diagnostics)
		r.keepKey(state, plan, &resp.Diagnostics)
		switch {
		case len(replaced) > 0 || replacedByArguments(state, successor, image):
			before.Checked = true
			r.planCreation(ctx, successor, &before, &resp.Diagnostics)
		case next == stepNone:
			warnAboveCap(&resp.Diagnostics, state, plan)
		case next == stepStart:
			c := startOf(seenIn(state))
			before.Starts, before.Added = c.starts, c.added
			checkMoney(ctx, r.Meta, c, &resp.Diagnostics)
		}
	}
	resp.Diagnostics.Append(leaveNote(ctx, resp.Private, predecessorKey, before)...)
}

// keepKey records the idempotency key of a server that keeps it.
func (r *instanceResource) keepKey(state, plan model, diags *diag.Diagnostics) {
	key := state.IdempotencyKey.ValueString()
	if key == "" || key != plan.IdempotencyKey.ValueString() {
		return
	}
	holder := keyHolder{id: state.ID.ValueString(), name: plan.Name.ValueString()}
	if other, clash := r.fleet().keys.keep(key, holder); clash {
		addSharedKey(diags, key, holder, other)
	}
}

// warnAboveCap warns of a running server that costs more than its cap. The cap is enforced when a server is created or
// started. A server that could not be stopped then, or whose cap was lowered, is billed until the user decides.
func warnAboveCap(diags *diag.Diagnostics, state, plan model) {
	inst, limit := seenIn(state), plan.MaxPriceKopH.ValueInt64()
	price := priceWithoutDisk(inst, inst.Price.StoppedKopH)
	if limit == 0 || price <= limit || inst.Status != rental.StatusRunning {
		return
	}
	diags.AddAttributeWarning(path.Root("max_price_kop_h"), "Instance "+tfkit.OneLine(state.ID.ValueString())+" runs above its price cap",
		fmt.Sprintf("It costs %s without its disk, and max_price_kop_h allows %s. The cap is checked when an instance is created or started, so this apply does not stop it. "+
			"To end the cost, set desired_state = \"stopped\" or destroy the instance. To accept the price, raise max_price_kop_h.",
			tfkit.HourlyRubles(price), tfkit.HourlyRubles(limit)))
}

// replacedByArguments reports whether the schema replaces the server. ModifyPlan does not see the decisions of the
// plan modifiers of attributes.
func replacedByArguments(state, plan model, configuredImage types.String) bool {
	changed := func(before, now attr.Value) bool { return !before.IsNull() && !now.Equal(before) }
	return changed(state.Template, plan.Template) || changed(state.DiskGB, plan.DiskGB) || changed(state.Type, plan.Type) ||
		!configuredImage.IsNull() && changed(state.Image, plan.Image)
}

// seenIn is a server as its state tells of it, as far as it costs money.
func seenIn(state model) rental.Instance {
	return rental.Instance{Status: rental.InstanceStatus(state.Status.ValueString()), Price: rental.InstancePrice{
		RunningKopH: priceField(state, "running_kop_h"), StoppedKopH: priceField(state, "stopped_kop_h"),
	}}
}

// burnOf is what a server burns according to its state, kopecks per hour.
func burnOf(state model) int64 { return kopHNow(seenIn(state)) }

// startOf is what a start of the server does to the money.
func startOf(inst rental.Instance) change {
	return change{starts: inst.Price.RunningKopH, added: inst.Price.RunningKopH - kopHNow(inst)}
}

func priceField(m model, name string) int64 {
	number, _ := m.Price.Attributes()[name].(types.Int64)
	return number.ValueInt64()
}

// planConvergence plans which computed attributes an apply can change: none for a
// server that is where it should be, so that no phantom difference appears; what a
// start, a stop or a wait can change otherwise. With an unknown policy it plans a
// replacement if any value of it leads to one: the plan at apply must not contradict.
func planConvergence(state model, plan *model) step {
	keepComputed(state, plan)
	next, known := nextStep(state, *plan)
	if !known || next != stepNone {
		expectChange(state, plan)
	}
	if known && next == stepStop {
		expectUnreachable(state, plan)
	}
	return next
}

// nextStep is the next step of the server. If it depends on an unknown value, it is not known, and returned as a
// replacement if that is possible, else as a wait.
func nextStep(state, plan model) (next step, known bool) {
	seen := sighting{
		status:  rental.InstanceStatus(state.Status.ValueString()),
		desired: rental.DesiredState(state.DesiredState.ValueString()),
	}
	if !plan.DesiredState.IsUnknown() && !plan.OnOutbid.IsUnknown() {
		return judge(seen, rental.DesiredState(plan.DesiredState.ValueString()), plan.OnOutbid.ValueString()), true
	}
	wanted, policies := []string{plan.DesiredState.ValueString()}, []string{plan.OnOutbid.ValueString()}
	if plan.DesiredState.IsUnknown() {
		wanted = []string{string(rental.DesiredRunning), string(rental.DesiredStopped)}
	}
	if plan.OnOutbid.IsUnknown() {
		policies = []string{outbidRestart, outbidKeep, outbidReplace}
	}
	for _, state := range wanted {
		for _, policy := range policies {
			if judge(seen, rental.DesiredState(state), policy) == stepReplace {
				return stepReplace, false
			}
		}
	}
	return stepWait, false
}

// warnOfUnknownPolicy warns that an outbid server is replaced because of a policy that is not known yet.
func warnOfUnknownPolicy(diags *diag.Diagnostics, state, plan model) {
	if _, known := nextStep(state, plan); known || state.Status.ValueString() != string(rental.StatusOutbid) {
		return
	}
	addReplacedForUnknown(diags, "on_outbid", state.ID.ValueString())
}

// addReplacedForUnknown warns of a replacement that may turn out needless.
func addReplacedForUnknown(diags *diag.Diagnostics, argument, id string) {
	diags.AddAttributeWarning(path.Root(argument), "Instance "+tfkit.OneLine(id)+" is replaced because of an unknown value",
		fmt.Sprintf("The value of %s is known only after apply, and it can require a replacement. Terraform does not allow a plan to decide that later, so this plan replaces the instance: "+
			"its disk and data are lost. To keep the instance, first apply what %[1]s depends on (-target), then plan again.", argument))
}

// keepComputed undoes that the framework marks every computed attribute unknown
// as soon as any argument changes.
func keepComputed(state model, plan *model) {
	plan.ID = state.ID
	plan.RentedOfferID = state.RentedOfferID
	plan.QuotedKopH = state.QuotedKopH
	plan.Status = state.Status
	plan.StopReason = state.StopReason
	plan.GPU = state.GPU
	plan.TemplateName = state.TemplateName
	plan.Country = state.Country
	plan.Price = state.Price
	plan.SSH = state.SSH
	plan.URLs = state.URLs
	plan.CreatedAt = state.CreatedAt
	plan.StartedAt = state.StartedAt
}

// expectChange marks what a start, stop or wait can change.
func expectChange(state model, plan *model) {
	plan.Status = types.StringUnknown()
	plan.StopReason = types.StringUnknown()
	plan.SSH = types.ObjectUnknown(sshType)
	plan.URLs = types.ListUnknown(urlType)
	if state.StartedAt.IsNull() {
		plan.StartedAt = types.StringUnknown()
	}
	plan.Price = types.ObjectUnknown(priceType) // a start or a new bid can have a new price
}

// expectUnreachable plans what is certain of a stop: no bid is placed, and
// nobody can log in or open a page afterwards.
func expectUnreachable(state model, plan *model) {
	plan.Price = state.Price
	plan.SSH = types.ObjectNull(sshType)
	var links []attr.Value
	for _, element := range state.URLs.Elements() {
		link, ok := element.(types.Object)
		if !ok || link.IsNull() || link.IsUnknown() {
			return
		}
		links = append(links, types.ObjectValueMust(urlType.AttrTypes, map[string]attr.Value{"label": link.Attributes()["label"], "url": types.StringNull()}))
	}
	plan.URLs = types.ListValueMust(urlType, links)
}
