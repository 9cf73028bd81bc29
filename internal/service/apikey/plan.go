package apikey

import (
	"context"
	"math"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// ModifyPlan plans the rotation of a key that expires soon, and reports an error if the plan revokes the provider's own
// key.
func (r *keyResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	switch {
	case req.State.Raw.IsNull():
		// In a replacement, this is the second plan. The first one has set the private data.
		own, diags := tfkit.GetPrivate[ownKey](ctx, req.Private, privateOwnKey)
		resp.Diagnostics.Append(diags...)
		if own != nil && own.Own {
			addNotRevoked(&resp.Diagnostics, *own, "The API key that this plan replaces")
		}
	case req.Plan.Raw.IsNull():
		r.modifyDestroy(ctx, req, resp)
	default:
		r.modifyChange(ctx, req, resp)
	}
}

// modifyDestroy plans a destroy.
func (r *keyResource) modifyDestroy(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	switch own := r.planOwn(ctx, state); {
	case !own.Own:
	case state.AllowSelfRevoke.ValueBool():
		addWillBeRevoked(&resp.Diagnostics, own, state)
	default:
		addNotRevoked(&resp.Diagnostics, own, subjectOf(state))
	}
}

// modifyChange plans an update or a rotation. A replacement requires allow_self_revoke in the state as well, because
// Delete reads it there.
func (r *keyResource) modifyChange(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	var state, plan model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	own := r.planOwn(ctx, state)
	protected := ownKey{} // own if the plan may not revoke it
	allowed := plan.AllowSelfRevoke.ValueBool() || plan.AllowSelfRevoke.IsUnknown()
	if own.Own && !(state.AllowSelfRevoke.ValueBool() && allowed) {
		protected = own
	}
	resp.Diagnostics.Append(tfkit.SetPrivate(ctx, resp.Private, privateOwnKey, protected)...)
	left, diags := tfkit.GetPrivate[int64](ctx, req.Private, privateDaysLeft)
	resp.Diagnostics.Append(diags...)
	rotate := due(left, plan.RotateBeforeDays)
	switch {
	case rotate && protected.Own:
		addNotRotated(&resp.Diagnostics, own, state)
	case rotate:
		if plan.RotateBeforeDays.IsUnknown() {
			addRotatedForUnknown(&resp.Diagnostics, state)
		}
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root("expires_at"))
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("expires_at"), types.StringUnknown())...)
	}
	if own.Own && !protected.Own && (rotate || replaces(state, plan)) {
		addWillBeRevoked(&resp.Diagnostics, own, state)
	}
}

// replaces reports whether a change of the arguments replaces the key.
func replaces(state, plan model) bool {
	return !state.Name.Equal(plan.Name) || !state.Scopes.Equal(plan.Scopes) ||
		!state.ExpiresInDays.Equal(plan.ExpiresInDays)
}

// due reports whether fewer than rotateBefore days are left. It returns true for an unknown number, because the plan at
// apply must not add a replacement. left is nil for a key that never expires.
func due(left *int64, rotateBefore types.Int64) bool {
	return left != nil && !rotateBefore.IsNull() && (rotateBefore.IsUnknown() || *left < rotateBefore.ValueInt64())
}

// privateDaysLeft is the name of the private data in which the refresh saves the number of whole days until the expiry.
// The plan at apply must equal the first plan, so it cannot use the clock.
const privateDaysLeft = "days_left"

// daysLeft returns the number of whole days until the expiry; nil for a key that never expires.
func daysLeft(expiresAt *time.Time, now time.Time) *int64 {
	if expiresAt == nil {
		return nil
	}
	left := int64(math.Floor(float64(expiresAt.Sub(now)) / float64(day)))
	return &left
}
