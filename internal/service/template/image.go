package template

import (
	"context"

	"github.com/distribution/reference"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
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
type taggedImage struct{}

func (taggedImage) Description(context.Context) string { return "a container image with a tag" }

func (v taggedImage) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (taggedImage) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	named, err := reference.ParseNormalizedNamed(req.ConfigValue.ValueString())
	if err != nil {
		addNotAnImage(&resp.Diagnostics, req.Path)
		return
	}
	if _, tagged := named.(reference.Tagged); !tagged {
		addNoTag(&resp.Diagnostics, req.Path)
	}
}
