package template

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ planmodifier.String = replaceForText{}

// replaceForText replaces the resource when a text changes. The API returns "" for no text, so that null and "" are the
// same text: neither replaces the other. States of earlier versions have "", imported ones have null.
type replaceForText struct{}

// Description implements planmodifier.String.
func (m replaceForText) Description(context.Context) string {
	return "A change replaces the resource. An empty text and none are the same."
}

// MarkdownDescription implements planmodifier.String.
func (m replaceForText) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

// PlanModifyString implements planmodifier.String.
func (m replaceForText) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	switch {
	case req.Plan.Raw.IsNull():
		return
	case req.ConfigValue.IsNull() && req.StateValue.ValueString() == "":
		resp.PlanValue = req.StateValue // null on creation
	case req.ConfigValue.IsNull():
		resp.PlanValue = types.StringNull()
	}
	if req.State.Raw.IsNull() || resp.PlanValue.Equal(req.StateValue) {
		return
	}
	resp.RequiresReplace = resp.PlanValue.IsUnknown() || resp.PlanValue.ValueString() != req.StateValue.ValueString()
}

// sameText is the text that was read, or the prior one if the service left the text out or has normalised it.
func sameText(prior, now types.String) types.String {
	if !prior.IsUnknown() && (now.IsNull() || sameLine(prior.ValueString(), now.ValueString())) {
		return prior
	}
	return now
}

// sameLine says whether two texts are the same but for white space around them and the composition of their letters.
func sameLine(one, other string) bool {
	return tfkit.SameName(strings.TrimSpace(one), strings.TrimSpace(other))
}
