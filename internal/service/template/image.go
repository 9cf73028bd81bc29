package template

import (
	"context"
	"fmt"

	"github.com/distribution/reference"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// otherImage replaces the template for another image. After an import, the state has the service's spelling, which the
// configuration may not have.
func otherImage(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = req.PlanValue.IsUnknown() || !rental.SameImage(req.StateValue.ValueString(), req.PlanValue.ValueString())
}

// taggedImage accepts references of container images that name a tag.
type taggedImage struct{}

func (taggedImage) Description(context.Context) string { return "a container image with a tag" }

func (v taggedImage) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (taggedImage) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	image := req.ConfigValue.ValueString()
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Not a container image",
			fmt.Sprintf("%q is not written as an image is: registry.example/team/app:1.2, for example, with a path in lower case.", tfkit.OneLine(image)))
		return
	}
	if _, tagged := named.(reference.Tagged); !tagged {
		resp.Diagnostics.AddAttributeError(req.Path, "Container image without a tag",
			fmt.Sprintf("The service wants a tag: %q, for example, and better a fixed version than latest.", tfkit.OneLine(image)+":latest"))
	}
}
