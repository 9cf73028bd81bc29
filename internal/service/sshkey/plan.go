package sshkey

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/publickey"
)

// ModifyPlan replaces the key if its fingerprint changes, and ignores other changes of its text. It plans type and
// fingerprint, which depend only on the key.
func (r *keyResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var plan model
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if req.State.Raw.IsNull() {
		planKey(&plan)
		if isFingerprint(plan.PublicKey.ValueString()) {
			addNotAKey(&resp.Diagnostics, path.Root("public_key"), errFingerprint)
		}
		resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
		return
	}
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if plan.PublicKey.IsUnknown() {
		plan.Type, plan.Fingerprint = types.StringUnknown(), types.StringUnknown()
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root("public_key"))
	} else if key, err := parseOrFingerprint(plan.PublicKey.ValueString()); err == nil &&
		key.Fingerprint != state.Fingerprint.ValueString() {
		planKey(&plan)
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root("public_key"))
	} else if !isFingerprint(state.PublicKey.ValueString()) {
		plan.PublicKey = state.PublicKey
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// planKey sets type and fingerprint of a known key.
func planKey(plan *model) {
	if plan.PublicKey.IsUnknown() {
		return
	}
	if key, err := publickey.Parse(plan.PublicKey.ValueString()); err == nil {
		plan.Type, plan.Fingerprint = types.StringValue(key.Type), types.StringValue(key.Fingerprint)
	}
}
