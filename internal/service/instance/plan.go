package instance

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// customTemplate is the slug of the catalogue's template for any image.
const customTemplate = "custom"

// ValidateConfig implements resource.ResourceWithValidateConfig.
func (r *instanceResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config model
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() || config.Image.IsNull() || config.Template.IsUnknown() || config.Template.ValueString() == customTemplate {
		return
	}
	resp.Diagnostics.AddAttributeError(path.Root("image"), "Image of a template",
		fmt.Sprintf("The template %q brings its own image. Leave image out, or choose template = %q; for an image of your own with ports, "+
			"environment and start command, make a gpurent_template.", config.Template.ValueString(), customTemplate))
}

// ModifyPlan implements resource.ResourceWithModifyPlan. It runs at plan and
// again, in another process, at apply, and must come to the same result: it
// uses nothing but configuration, state and plan.
func (r *instanceResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() || req.Plan.Raw.IsNull() {
		return
	}
	var state, plan model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	keepCreationArguments(state, &plan, &resp.Diagnostics)
	if planConvergence(state, &plan) == stepReplace {
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root("status"))
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// keepCreationArguments lets a changed creation-only argument plan nothing: the
// state keeps what the server was rented with. After an import the state has no
// value, and the configured one is adopted.
func keepCreationArguments(state model, plan *model, diags *diag.Diagnostics) {
	if !state.OfferID.IsNull() {
		plan.OfferID = state.OfferID
	}
	if state.SSHKeyIDs.IsNull() || plan.SSHKeyIDs.IsNull() {
		return
	}
	if !plan.SSHKeyIDs.IsUnknown() && !plan.SSHKeyIDs.Equal(state.SSHKeyIDs) {
		diags.AddAttributeWarning(path.Root("ssh_key_ids"), "SSH keys of a running server stay as they are",
			"The service attaches keys when a server is created and cannot change them later. The configured keys are not applied to instance "+
				state.ID.ValueString()+". Replace it with -replace to have them, or change authorized_keys on the server itself.")
	}
	plan.SSHKeyIDs = state.SSHKeyIDs
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
	return next
}

// keepComputed undoes that the framework marks every computed attribute unknown
// as soon as any argument changes.
func keepComputed(state model, plan *model) {
	plan.ID = state.ID
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
