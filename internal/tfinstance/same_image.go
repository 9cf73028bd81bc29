package tfinstance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

var _ planmodifier.String = sameImage{}

// SameImage plans the image of the state if the configuration has another spelling of the same reference.
func SameImage() planmodifier.String { return sameImage{} }

type sameImage struct{}

// Description implements planmodifier.String.
func (sameImage) Description(context.Context) string {
	return "Another spelling of the same image is not a change."
}

// MarkdownDescription implements planmodifier.String.
func (m sameImage) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

// PlanModifyString implements planmodifier.String.
func (sameImage) PlanModifyString(
	_ context.Context,
	req planmodifier.StringRequest,
	resp *planmodifier.StringResponse,
) {
	if req.StateValue.IsNull() || req.PlanValue.IsNull() || req.PlanValue.IsUnknown() {
		return
	}
	if rental.SameImage(req.StateValue.ValueString(), req.PlanValue.ValueString()) {
		resp.PlanValue = req.StateValue
	}
}
