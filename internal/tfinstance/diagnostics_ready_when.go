package tfinstance

import (
	"regexp/syntax"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Summaries of diagnostics.
const summaryNotAPattern = "Invalid regular expression"

func addNotAPattern(diags *diag.Diagnostics, at path.Path, reason syntax.ErrorCode) {
	tfkit.AddAttributeError(diags, at, tfkit.Summaryf(summaryNotAPattern), tfkit.Textf(
		"The value of %s: %s. The syntax is that of RE2, as in the function regex of Terraform: without lookarounds and "+
			"backreferences.", at.String(), string(reason)))
}
