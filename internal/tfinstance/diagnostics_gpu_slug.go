package tfinstance

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const summaryUnknownGPU = "No such GPU model"

// addUnknownGPUs warns of a number of slugs that the API does not list. It does not print them: a message contains no
// value of an argument, because that may be sensitive. nearest are similar ones.
func addUnknownGPUs(diags *diag.Diagnostics, at path.Path, unknown, all int, nearest []string) {
	similar := tfkit.Text("")
	if len(nearest) > 0 {
		similar = tfkit.Textf(" Similar models: %s.", strings.Join(nearest, ", "))
	}
	tfkit.AddAttributeWarning(diags, at, tfkit.Summaryf(summaryUnknownGPU), tfkit.Textf("Slugs in %s that are no GPU "+
		"model: %d of %d. The list of models of the API does not contain them, and it includes models without an offer.%s "+
		"The data source gpurent_gpus lists all models.", at.String(), unknown, all, similar))
}
