package template

import (
	"context"

	"github.com/distribution/reference"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// otherImage replaces the template if its image changes. After an import, the state can have another spelling of the
// image than the configuration, which is no change.
func otherImage(
	_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse,
) {
	resp.RequiresReplace = req.PlanValue.IsUnknown() || !rental.SameImage(req.StateValue.ValueString(),
		req.PlanValue.ValueString())
}

// taggedImage is a validator for references of container images with a tag.
var taggedImage = tfkit.StringRule{
	Text: "a container image with a tag",
	Check: func(diags *diag.Diagnostics, at path.Path, value string) {
		named, err := reference.ParseNormalizedNamed(value)
		if err != nil {
			addNotAnImage(diags, at)
			return
		}
		if _, tagged := named.(reference.Tagged); !tagged {
			addNoTag(diags, at)
		}
	},
}
