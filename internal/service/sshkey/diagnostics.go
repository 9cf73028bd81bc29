package sshkey

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// addNotAKey reports an invalid public key. It does not contain the value, which can be a private key.
func addNotAKey(diags *diag.Diagnostics, at path.Path, err error) {
	tfkit.AddAttributeError(diags, at, "Not a public key", tfkit.Textf("The value of %s: %s.", at, err))
}

// addNotCreated reports that a key was not created, or perhaps was.
func addNotCreated(ctx context.Context, diags *diag.Diagnostics, client *rental.Client, fingerprint string, err error) {
	mayBe := func(k rental.SSHKey) string {
		if canonical(k.Fingerprint) != fingerprint {
			return ""
		}
		return k.ID
	}
	next := tfkit.AfterUnknownCreation(err, client.ListSSHKeys(ctx, rental.ListOptions{}), mayBe,
		func(id string) tfkit.Text { return tfkit.ImportCreated("gpurent_ssh_key", id) })
	tfkit.AddAPIErrorAdvising(diags, "create SSH key", next, err, "name", "public_key")
}

// addNotAFingerprint reports an invalid fingerprint. It does not contain the value, which can be a private key.
func addNotAFingerprint(diags *diag.Diagnostics, at path.Path) {
	tfkit.AddAttributeError(diags, at, "Not a fingerprint",
		tfkit.Textf("The value of %s: this is not a SHA256 fingerprint, such as %q. For a public key, use the function "+
			"ssh_fingerprint.", at, exampleFingerprint))
}
