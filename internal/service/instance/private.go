package instance

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Keys of the private state.
const (
	// privateReplaced is a replacedInstance.
	privateReplaced = "replaced"
	// privateNotReady is true if the last apply ended before the instance met the conditions of ready_when.
	privateNotReady = "not_ready"
)

// replacedInstance is an instance whose plan may be followed by that of its replacement. Terraform plans a replacement
// twice: as a change of the instance, then as a creation without a prior state, with the private state of the first
// plan.
type replacedInstance struct {
	ID      string `json:"id"`
	OfferID string `json:"offer_id"`
}

// setNotReady records whether a wait ended before the instance met the conditions of ready_when.
func setNotReady(ctx context.Context, private tfkit.PrivateSetter, plan model, err error) diag.Diagnostics {
	if plan.ReadyWhen.IsNull() {
		return nil
	}
	_, notReady := errors.AsType[lifecycle.NotReady](err)
	return tfkit.SetPrivate(ctx, private, privateNotReady, notReady)
}
