package template

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

var _ planmodifier.String = replaceForText{}

// replaceForText is a plan modifier that replaces the resource if a text changes. A change between null and "" does not
// replace it, because the API returns "" for both. States of earlier versions have "", and imported ones have null.
type replaceForText struct{}

// Description implements planmodifier.String.
func (m replaceForText) Description(context.Context) string {
	return "Changing this forces a new resource to be created. Null and an empty text are equal."
}

// MarkdownDescription implements planmodifier.String.
func (m replaceForText) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

// PlanModifyString implements planmodifier.String.
func (m replaceForText) PlanModifyString(
	_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse,
) {
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

// sameText returns prior if the API omitted or normalized the text, else now.
func sameText(prior, now types.String) types.String {
	if !prior.IsUnknown() && (now.IsNull() || sameLine(prior.ValueString(), now.ValueString())) {
		return prior
	}
	return now
}

// sameLine reports whether two texts are equal except for surrounding white space and Unicode normalization.
func sameLine(one, other string) bool {
	return tfkit.SameName(strings.TrimSpace(one), strings.TrimSpace(other))
}
