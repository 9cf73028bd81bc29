package tfinstance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// CheckAccount reports an error if the e-mail address of the account is not verified, because the API then refuses
// every rental. It reports nothing if the API key may not read the account, or if the API omits the field. replaces
// reports that the creation replaces an instance: then an account that cannot be read is an error, too.
func CheckAccount(ctx context.Context, meta *tfkit.Meta, replaces bool, diags *diag.Diagnostics) {
	user, err := meta.Account(ctx)
	switch {
	case rental.IsForbidden(err):
	case err != nil && replaces:
		tfkit.AddAPIError(diags, "read the account", err)
	case err != nil:
		tfkit.WarnUnchecked(diags, err) // the API checks the request at apply
	case user.EmailVerified != nil && !*user.EmailVerified:
		tfkit.AddError(diags, "E-mail address is not verified", "The API refuses every rental until the e-mail "+
			"address of the account is verified. Nothing was rented or destroyed. Confirm the address in the service's "+
			"console, then run again.")
	}
}
