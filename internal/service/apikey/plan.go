package apikey

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
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
	if resp.Diagnostics.HasError() || !r.Meta.Ready() {
		return
	}
	own := r.checkOwn(ctx, state)
	refused := ownKey{}
	if own.Own && !(state.AllowSelfRevoke.ValueBool() && plan.AllowSelfRevoke.ValueBool()) {
		refused = own
	}
	resp.Diagnostics.Append(writeOwnKey(ctx, req.Private, resp.Private, refused)...)
	rotate := due(state.ExpiresAt, plan.RotateBeforeDays, r.Meta.Client.Now())
	switch {
	case rotate && refused.Own:
		warnOfNoRotation(&resp.Diagnostics, own, state)
	case rotate:
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
			subjectOf(key), key.ExpiresAt.ValueString(), own.doubt()))
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
