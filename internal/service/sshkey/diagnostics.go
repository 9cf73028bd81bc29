package sshkey

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// addNotAKey reports an invalid public key. It does not contain the value, which can be a private key.
func addNotAKey(diags *diag.Diagnostics, at path.Path, err error) {
	tfkit.AddAttributeError(diags, at, "Not a public key", tfkit.Textf("The value of %s: %s.", at, err))
}
