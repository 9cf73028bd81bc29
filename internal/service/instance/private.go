package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Keys of the private state.
const (
	// privateReplaced is a replacedInstance.
	privateReplaced = "replaced"
	// privateName is a normalizedName.
	privateName = "stored_name"
	// privateNotReady is true if the last apply ended before the instance met the conditions of ready_when.
	privateNotReady = "not_ready"
)

// replacedInstance is an instance whose plan may be followed by that of its replacement. Terraform plans a replacement
// twice: as a change of the instance, then as a creation without a prior state, with the private state of the first
// plan.
type replacedInstance struct {
	ID      string `json:"id"`
	OfferID string `json:"offer_id"`

	RunningKopH int64 `json:"-"` // only for a warning of the first plan
}

// normalizedName is a configured name, and its form in the response of the API.
type normalizedName struct {
	Configured string `json:"configured"`
	Stored     string `json:"stored"`
}

// setNormalizedName stores how the API normalized a new name, for example to lower case. If the response has the
// previous name, the name was not set.
func setNormalizedName(
	ctx context.Context, private tfkit.PrivateSetter, configured, before types.String, returned rental.Instance,
) diag.Diagnostics {
	stored := returned.NameString()
	if configured.IsNull() || returned.Omitted.Name || stored == configured.ValueString() ||
		stored == before.ValueString() {
		return nil
	}
	return tfkit.SetPrivate(ctx, private, privateName, normalizedName{configured.ValueString(), stored})
}

// hasNormalizedName reports whether the name of an instance is the normalized form of the configured one.
func hasNormalizedName(
	ctx context.Context, private tfkit.PrivateGetter, configured types.String, inst rental.Instance,
	diags *diag.Diagnostics,
) bool {
	name := tfkit.GetPrivate[normalizedName](ctx, private, privateName, diags)
	return name == normalizedName{configured.ValueString(), inst.NameString()}
}

// setNotReady records whether a wait ended before the instance met the conditions of ready_when.
func setNotReady(ctx context.Context, private tfkit.PrivateSetter, plan model, err error) diag.Diagnostics {
	if plan.ReadyWhen.IsNull() {
		return nil
	}
	return tfkit.SetPrivate(ctx, private, privateNotReady, failure.KindOf(err) == failure.Interrupted)
}
