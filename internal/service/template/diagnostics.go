package template

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Summaries of diagnostics.
const (
	summaryNotAnImage              = "Not a container image"
	summaryNoTag                   = "Container image without a tag"
	summaryRecommendedBelowMinimum = "Recommended disk below the minimum"
	summaryNotOwn                  = "Not a template of this account"
)

func addNotAnImage(diags *diag.Diagnostics, at path.Path, image string) {
	tfkit.AddAttributeError(diags, at, tfkit.Summaryf(summaryNotAnImage), tfkit.Textf(
		"%q is not an image reference, such as registry.example/team/app:1.2. The path must be in lower case.", image))
}

func addNoTag(diags *diag.Diagnostics, at path.Path, image string) {
	tfkit.AddAttributeError(diags, at, tfkit.Summaryf(summaryNoTag), tfkit.Textf(
		"The API requires a tag, for example %q. Use a fixed version rather than latest.", image+":latest"))
}

func addRecommendedBelowMinimum(diags *diag.Diagnostics, recommended, minimum int64) {
	tfkit.AddAttributeError(diags, path.Root("recommended_disk_gb"), tfkit.Summaryf(summaryRecommendedBelowMinimum),
		tfkit.Textf(
			"recommended_disk_gb is %d, and min_disk_gb is %d. recommended_disk_gb must not be below min_disk_gb.", recommended,
			minimum))
}

func addNotOwn(diags *diag.Diagnostics, slug string) {
	tfkit.AddError(diags, tfkit.Summaryf(summaryNotOwn),
		tfkit.Textf("Template %q belongs to the catalog and cannot be managed. Use "+
			"its slug directly, or the data source gpurent_templates.", slug))
}
