package template

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

func addNotAnImage(diags *diag.Diagnostics, at path.Path) {
	tfkit.AddAttributeError(diags, at, "Not a container image with a tag", tfkit.Textf("The value of %s must be an image "+
		"reference with a tag, such as registry.example/team/app:1.2. The path must be in lower case.", at.String()))
}

func addRecommendedBelowMinimum(diags *diag.Diagnostics, recommended, minimum int64) {
	tfkit.AddAttributeError(diags, path.Root("recommended_disk_gb"), "Recommended disk below the minimum",
		tfkit.Textf(
			"recommended_disk_gb is %d, and min_disk_gb is %d. recommended_disk_gb must not be below min_disk_gb.", recommended,
			minimum))
}

func addNotOwn(diags *diag.Diagnostics, slug string) {
	tfkit.AddError(diags, "Not a template of this account",
		tfkit.Textf("Template %q belongs to the catalog and cannot be managed. Use "+
			"its slug directly, or the data source gpurent_templates.", slug))
}
