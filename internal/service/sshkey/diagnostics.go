package sshkey

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const summaryNotAKey = "Not a public key"

// addNotAKey reports an invalid public key. It does not contain the value, which can be a private key.
func addNotAKey(diags *diag.Diagnostics, at path.Path, err error) {
	tfkit.AddAttributeError(diags, at, tfkit.Summaryf(summaryNotAKey), tfkit.Textf("The value of %s: %s.", at, err))
}
