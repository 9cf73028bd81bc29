package apikey

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// ModifyPlan plans the replacement of a key that is about to expire, and warns
// before the provider's own key is revoked.
func (r *keyResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() {
		return
	}
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if !req.Plan.Raw.IsNull() {
		var plan model
		resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
		if resp.Diagnostics.HasError() || !r.Meta.Ready() {
			return
		}
		if !due(state.ExpiresAt, plan.RotateBeforeDays, r.Meta.Client.Now()) {
			return
		}
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root("expires_at"))
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("expires_at"), types.StringUnknown())...)
	}
	if r.Meta.Owns(state.Prefix.ValueString()) {
		resp.Diagnostics.AddWarning("The provider's own API key will be revoked",
			fmt.Sprintf("Key %s (%s…) is the one this provider uses. Once it is revoked, every later request of this and other runs with it fails. "+
				"Give the provider another key first.", state.ID.ValueString(), state.Prefix.ValueString()))
	}
}

// due says whether fewer than rotateBefore days are left at now.
func due(expiresAt types.String, rotateBefore types.Int64, now time.Time) bool {
	if expiresAt.IsNull() || rotateBefore.IsNull() || rotateBefore.IsUnknown() {
		return false
	}
	at, err := time.Parse(time.RFC3339, expiresAt.ValueString())
	if err != nil {
		return false // a form of time this version does not know: not a reason to revoke a key
	}
	return at.Sub(now) < time.Duration(rotateBefore.ValueInt64())*day
}
