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
		protected := tfkit.GetPrivate[bool](ctx, req.Private, privateProtected, &resp.Diagnostics)
		if protected {
			addNotRevoked(&resp.Diagnostics, "The API key that this plan replaces")
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
	switch {
	case !r.planOwn(state):
	case state.AllowSelfRevoke.ValueBool():
		addWillBeRevoked(&resp.Diagnostics, state)
	default:
		addNotRevoked(&resp.Diagnostics, subjectOf(state))
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
	own := r.planOwn(state)
	allowed := plan.AllowSelfRevoke.ValueBool() || plan.AllowSelfRevoke.IsUnknown()
	protected := own && !(state.AllowSelfRevoke.ValueBool() && allowed)
	resp.Diagnostics.Append(tfkit.SetPrivate(ctx, resp.Private, privateProtected, protected)...)
	left := tfkit.GetPrivate[*int64](ctx, req.Private, privateDaysLeft, &resp.Diagnostics)
	rotate := due(left, plan.RotateBeforeDays)
	switch {
	case rotate && protected:
		addNotRotated(&resp.Diagnostics, state)
	case rotate:
		if plan.RotateBeforeDays.IsUnknown() {
			addRotatedForUnknown(&resp.Diagnostics, state)
		}
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root("expires_at"))
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("expires_at"), types.StringUnknown())...)
	}
	if own && !protected && (rotate || replaces(state, plan)) {
		addWillBeRevoked(&resp.Diagnostics, state)
	}
}

// planOwn reports whether a key is the provider's own key. At plan, the key of the provider can be unknown. After the
// revocation of the key every later request of the run fails, so that requires allow_self_revoke in the state.
func (r *keyResource) planOwn(key model) bool {
	return r.Meta.Ready() && r.Meta.Owns(key.Prefix.ValueString())
}

// privateProtected is the name of the private data in which the plan of an update stores whether it may not revoke the
// key, for the plan of a replacement, which has no prior state.
const privateProtected = "protected"

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
