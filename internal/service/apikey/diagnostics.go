package apikey

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

func addAlwaysRotated(diags *diag.Diagnostics, rotate, lifetime int64) {
	tfkit.AddAttributeError(diags, path.Root("rotate_before_days"), "The key would be replaced at every apply",
		tfkit.Textf("rotate_before_days is %d, and expires_in_days is %d. rotate_before_days must be less than "+
			"expires_in_days.", rotate, lifetime))
}

// addNotIssued reports why a key was not created. The API returns the same error for scopes that the provider's own key
// lacks and for a missing permission to create keys.
func addNotIssued(diags *diag.Diagnostics, create rental.APIKeyCreate, err error) {
	var advice tfkit.Text
	if rental.IsOutcomeUnknown(err) {
		advice = "The request may or may not have been carried out. If the data source gpurent_api_keys lists a " +
			"new key with this name, nobody has its secret: import it as a gpurent_api_key, and destroy that, which revokes " +
			"it. Then run again."
	}
	if rental.IsForbidden(err) {
		advice = tfkit.Textf("The provider's own key lacks the scope user:write, or one of the scopes of the new key (%s), "+
			"which it cannot give then. Configure the provider with a key that has these scopes, or remove scopes from the "+
			"new key.", create.Scopes)
	}
	tfkit.AddAPIErrorAdvising(diags, "Cannot create API key", advice, err, "name", "scopes", "expires_in_days")
}

// addWillBeRevoked warns that a plan revokes the provider's own key. The API returns only the first characters of keys.
func addWillBeRevoked(diags *diag.Diagnostics, key model) {
	tfkit.AddWarning(diags, "The provider's own API key will be revoked",
		tfkit.Textf("API key %s (%s…) is the key that this provider uses, judging by its first characters. After its "+
			"revocation every later request with it fails, also in this run, and instances are still billed. Configure the "+
			"provider with another API key first.", key.ID.ValueString(), key.Prefix.ValueString()))
}

// addCannotRevoke reports an ephemeral key that was not revoked. A used up request limit, and the revocation of the
// provider's own key in this run, are only warnings, because the key expires soon.
func addCannotRevoke(diags *diag.Diagnostics, key ephemeralKey, err error) {
	summary := tfkit.Textf("Cannot revoke API key %s", key.ID)
	detail := tfkit.Textf("%s\n\n"+
		"The provider tries again when this run ends. If that fails, too, the key works until it expires (%s). To revoke "+
		"it before, import it as a gpurent_api_key, and destroy that.", err, key.end())
	if rental.IsRateLimited(err) || rental.IsUnauthorized(err) {
		tfkit.AddWarning(diags, summary, detail)
		return
	}
	tfkit.AddError(diags, summary, detail)
}
