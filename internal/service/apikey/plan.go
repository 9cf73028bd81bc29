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

// ModifyPlan plans the rotation of a key that expires soon, and warns if the plan revokes the provider's own key.
func (r *keyResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.State.Raw.IsNull() {
		return
	}
	var state, plan model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	revoked := req.Plan.Raw.IsNull()
	if !revoked {
		resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
		left := tfkit.GetPrivate[*int64](ctx, req.Private, privateDaysLeft, &resp.Diagnostics)
		rotate := due(left, plan.RotateBeforeDays)
		if rotate {
			resp.RequiresReplace = append(resp.RequiresReplace, path.Root("expires_at"))
			resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("expires_at"), types.StringUnknown())...)
		}
		revoked = rotate || replaces(state, plan)
	}
	// At plan, the key of the provider can be unknown.
	if revoked && r.Meta.Ready() && r.Meta.Owns(state.Prefix.ValueString()) {
		addWillBeRevoked(&resp.Diagnostics, state)
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
