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

// customTemplate is the slug of the catalogue's template for any image.
const customTemplate = "custom"

// refuseImage refuses an image that the server would not get: the service takes one for the custom template only, and
// uses the template's image otherwise. A generated configuration names that image, which is fine.
func (r *instanceResource) refuseImage(ctx context.Context, plan model, diags *diag.Diagnostics) {
	slug := plan.Template.ValueString()
	if plan.Image.IsNull() || plan.Image.IsUnknown() || plan.Template.IsUnknown() || slug == customTemplate || !r.Meta.Ready() {
		return
	}
	template, found, err := tfkit.FindTemplate(ctx, r.Meta, slug)
	switch {
	case err != nil:
		tfkit.AddError(diags, "read template "+slug, err)
	case found && !rental.SameImage(template.Image, plan.Image.ValueString()):
		diags.AddAttributeError(path.Root("image"), "Image differs from the template's image",
			fmt.Sprintf("The template %q uses the image %q, and image is %q. Only the template %q accepts any image. Remove image, or choose template = %[4]q, "+
				"or create a gpurent_template with this image.", slug, template.Image, plan.Image.ValueString(), customTemplate))
	}
}

// ValidateConfig implements resource.ResourceWithValidateConfig: see tfkit.Run.
func (r *instanceResource) ValidateConfig(context.Context, resource.ValidateConfigRequest, *resource.ValidateConfigResponse) {
	if r.Meta.Ready() {
		r.Meta.Run.CountValidation()
	}
}

// ModifyPlan implements resource.ResourceWithModifyPlan. It runs at plan and
// again, in another process, at apply, and must come to the same planned values:
// those come from configuration, state and plan alone. What the service says
// meanwhile leads to warnings and errors only.
func (r *instanceResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	defer tfkit.MakePlain(&resp.Diagnostics)
	switch {
	case req.Plan.Raw.IsNull():
	case req.State.Raw.IsNull():
		r.modifyCreation(ctx, req, resp)
	default:
		r.modifyChange(ctx, req, resp)
	}
}

func (r *instanceResource) modifyCreation(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var plan model
	resp.Diagnostics.Append(tfkit.Get(ctx, req.Plan.Raw, req.Plan.Schema, &plan)...)
	// One of another version is no loss: it only makes warnings better.
	before, problems := findNote[predecessor](ctx, req.Private, predecessorKey)
	resp.Diagnostics.Append(problems...)
	r.refuseImage(ctx, plan, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if r.Meta.Ready() {
		if before == nil {
			r.Meta.Run.CountPlan() // a replacement counts as one with the plan for its predecessor
		} else {
			r.fleet().replacing.add(before.ID)
		}
	}
	r.planCreation(ctx, plan, before, &resp.Diagnostics)
}

func (r *instanceResource) modifyChange(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state, plan model
	resp.Diagnostics.Append(tfkit.Get(ctx, req.State.Raw, req.State.Schema, &state)...)
	resp.Diagnostics.Append(tfkit.Get(ctx, req.Plan.Raw, req.Plan.Schema, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	asked := plan
	replaced, problems := planArguments(ctx, state, &plan)
	resp.Diagnostics.Append(problems...)
	next := planConvergence(state, &plan)
	if next == stepReplace {
		replaced = append(replaced, path.Root("status"))
	}
	resp.RequiresReplace = append(resp.RequiresReplace, replaced...)
	if !tfkit.Same(&asked, &plan) {
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
	}

	before := predecessor{ID: state.ID.ValueString(), RunKopH: burnOf(state)}
	if r.Meta.Ready() {
		r.Meta.Run.CountPlan()
		r.fleet().replacing.remove(before.ID)
		r.fleet().ids.add(before.ID)
		if key := state.IdempotencyKey.ValueString(); key != "" && key == plan.IdempotencyKey.ValueString() {
			holder := keyHolder{id: before.ID, name: plan.Name.ValueString()}
			if other, clash := r.fleet().keys.keep(key, holder); clash {
				addSharedKey(&resp.Diagnostics, key, holder, other)
			}
		}
		if next == stepStart && len(replaced) == 0 {
			c := startOf(seenIn(state))
			before.Starts, before.Added = c.starts, c.added
			checkMoney(ctx, r.Meta, c, &resp.Diagnostics)
		}
	}
	resp.Diagnostics.Append(leaveNote(ctx, resp.Private, predecessorKey, before)...)
}

// predecessorKey is where the plan for a server leaves a note: when the server
// turns out to be replaced, the plan for its successor finds it there.
const predecessorKey = "predecessor"

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

// planConvergence plans what an apply is going to change of the computed
// attributes: nothing for a server that is where it is wanted, so that no
// phantom difference appears; what a start, a stop or a wait can change otherwise.
func planConvergence(state model, plan *model) step {
	keepComputed(state, plan)
	if plan.DesiredState.IsUnknown() || plan.OnOutbid.IsUnknown() {
		expectChange(state, plan)
		return stepWait
	}
	next := judge(sighting{
		status:  rental.InstanceStatus(state.Status.ValueString()),
		desired: rental.DesiredState(state.DesiredState.ValueString()),
	}, rental.DesiredState(plan.DesiredState.ValueString()), plan.OnOutbid.ValueString())
	if next != stepNone {
		expectChange(state, plan)
	}
	if next == stepStop {
		expectUnreachable(state, plan)
	}
	return next
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
	if state.Type.ValueString() == string(rental.Interruptible) {
		plan.Price = types.ObjectUnknown(priceType) // a new bid has a new price
	}
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
