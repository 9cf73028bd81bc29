package apikey

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// ModifyPlan plans the replacement of a key that is about to expire, and refuses to revoke the provider's own key.
func (r *keyResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.State.Raw.IsNull():
		// On a replacement, this is the second plan. The first one left the note.
		if own := readOwnKey(ctx, req.Private); own.Own {
			addNotRevoked(&resp.Diagnostics, own, "The API key that this plan replaces")
		}
	case req.Plan.Raw.IsNull():
		r.modifyDestroy(ctx, req, resp)
	default:
		r.modifyChange(ctx, req, resp)
	}
}

func (r *keyResource) modifyDestroy(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	switch own := r.checkOwn(ctx, state); {
	case !own.Own:
	case state.AllowSelfRevoke.ValueBool():
		warnOfRevocation(&resp.Diagnostics, own, state)
	default:
		addNotRevoked(&resp.Diagnostics, own, subjectOf(state))
	}
}

// modifyChange plans a change or a rotation. Delete reads allow_self_revoke from the state, so that a replacement needs
// it there, too.
func (r *keyResource) modifyChange(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state, plan model
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	own := r.checkOwn(ctx, state)
	refused := ownKey{}
	allowed := plan.AllowSelfRevoke.ValueBool() || plan.AllowSelfRevoke.IsUnknown()
	if own.Own && !(state.AllowSelfRevoke.ValueBool() && allowed) {
		refused = own
	}
	resp.Diagnostics.Append(writeOwnKey(ctx, req.Private, resp.Private, refused)...)
	left, diags := readDaysLeft(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	rotate := due(left, plan.RotateBeforeDays)
	switch {
	case rotate && refused.Own:
		warnOfNoRotation(&resp.Diagnostics, own, state)
	case rotate:
		if plan.RotateBeforeDays.IsUnknown() {
			warnOfUnknownRotation(&resp.Diagnostics, state)
		}
		resp.RequiresReplace = append(resp.RequiresReplace, path.Root("expires_at"))
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("expires_at"), types.StringUnknown())...)
	}
	if own.Own && !refused.Own && (rotate || replaces(state, plan)) {
		warnOfRevocation(&resp.Diagnostics, own, state)
	}
}

// replaces returns whether a change of the arguments replaces the key.
func replaces(state, plan model) bool {
	return !state.Name.Equal(plan.Name) || !state.Scopes.Equal(plan.Scopes) || !state.ExpiresInDays.Equal(plan.ExpiresInDays)
}

func warnOfRevocation(diags *diag.Diagnostics, own ownKey, key model) {
	diags.AddWarning("The provider's own API key will be revoked",
		subjectOf(key)+" is the key that this provider uses. After its revocation every later request with it fails, also of this run. "+
			"Configure the provider with another API key first."+own.doubt())
}

func warnOfNoRotation(diags *diag.Diagnostics, own ownKey, key model) {
	diags.AddAttributeWarning(path.Root("rotate_before_days"), "The provider's own API key is not rotated",
		fmt.Sprintf("%s is the key that this provider uses, and expires at %s. A rotation would revoke it during the run. "+
			"Configure the provider with another API key and apply again, or set allow_self_revoke = true and apply twice.%s",
			subjectOf(key), tfkit.OneLine(key.ExpiresAt.ValueString()), own.doubt()))
}

func warnOfUnknownRotation(diags *diag.Diagnostics, key model) {
	diags.AddAttributeWarning(path.Root("rotate_before_days"), "The API key is replaced because of an unknown value",
		subjectOf(key)+" may be due for rotation, but rotate_before_days is known only after apply. Terraform does not allow a plan to "+
			"decide that later, so this plan replaces the key. To keep it, first apply what rotate_before_days depends on (-target), then plan again.")
}

// due reports whether fewer than rotateBefore days are left. With an unknown number they may be, and the plan at apply
// must not contradict. left is nil for a key that never expires.
func due(left *int64, rotateBefore types.Int64) bool {
	return left != nil && !rotateBefore.IsNull() && (rotateBefore.IsUnknown() || *left < rotateBefore.ValueInt64())
}

// daysLeftNote is the private state in which the refresh records how many whole days were left. The plan at apply must
// decide as the first plan did, so it cannot use the clock.
const daysLeftNote = "days_left"

// daysLeft is nil for a key that never expires.
func daysLeft(expiresAt *time.Time, now time.Time) *int64 {
	if expiresAt == nil {
		return nil
	}
	left := int64(math.Floor(float64(expiresAt.Sub(now)) / float64(day)))
	return &left
}

func writeDaysLeft(ctx context.Context, private privateWriter, left *int64) diag.Diagnostics {
	if left == nil {
		return nil
	}
	return private.SetKey(ctx, daysLeftNote, []byte(strconv.FormatInt(*left, 10)))
}

// readDaysLeft returns nil for a key that was not refreshed since it was issued or imported.
func readDaysLeft(ctx context.Context, private privateReader) (*int64, diag.Diagnostics) {
	value, diags := private.GetKey(ctx, daysLeftNote)
	left, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return nil, diags
	}
	return &left, diags
}
