package template

import (
	"github.com/distribution/reference"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// taggedImage is a validator for references of container images with a tag.
var taggedImage = tfkit.StringRule{
	Text: "a container image with a tag",
	Check: func(diags *diag.Diagnostics, at path.Path, value string) {
		named, err := reference.ParseNormalizedNamed(value)
		if _, tagged := named.(reference.Tagged); err != nil || !tagged {
			addNotAnImage(diags, at)
		}
	},
}
