package tfkit

import (
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const summaryOtherOrigin = "Cannot find %s in this account"

// addConfigUnknown reports that an operation needs a provider configuration that is not known yet.
func addConfigUnknown(diags *diag.Diagnostics) {
	AddError(diags, "Provider configuration is unknown",
		"base_url or api_key of the provider depends on a resource that this run has not created yet, so that no request "+
			"can be sent. First apply that resource with -target. Or add it to depends_on of the data source, or use it in an "+
			"argument of the ephemeral resource: then the apply reads or opens it later.")
}

func addMissingKey(diags *diag.Diagnostics) {
	AddError(diags, "Missing API key",
		"This needs an API key. Log in with \"terraform-provider-gpurent login\", or set the environment variable "+
			"GPURENT_API_KEY or the provider argument api_key to a key.")
}

func addNotRefreshed(diags *diag.Diagnostics) {
	AddWarning(diags, "Not refreshed",
		"base_url or api_key of the provider depends on a resource that this run "+
			"has not created yet, so the object was not read. The plan uses the values of the state. Nothing to do: the next "+
			"plan reads it.")
}

// addUnknownOrigin reports that an object was not found, and that the state does not contain its account.
func addUnknownOrigin(diags *diag.Diagnostics, what Text) {
	AddError(diags, Textf(summaryOtherOrigin, what), "The state does not contain the account in which it was created: an "+
		"apply may have been interrupted. "+originAdvice)
}

// originAdvice is what to do about an object that may belong to another account.
const originAdvice = "It may still exist and be billed, so it stays in the state. Set the API key and base_url of " +
	"its account, then run again. If it is gone, run `terraform state rm ADDRESS`."

// addOtherOrigin reports that an object was created in another account, or at another address, than the API key and the
// address of this run belong to.
func addOtherOrigin(diags *diag.Diagnostics, what Text, created, now Origin) {
	text := Textf("It was created at %s, and this run uses %s.", created.BaseURL, now.BaseURL)
	if created.BaseURL == now.BaseURL {
		text = Textf("It belongs to the account %s, and the API key of this run to the account %s.", created.AccountID,
			now.AccountID)
	}
	AddError(diags, Textf(summaryOtherOrigin, what), text+" "+originAdvice)
}

// addOtherKey reports that an object was not found with another API key than the last one, and that the scope user:read
// is missing, which shows whether both belong to one account.
func addOtherKey(diags *diag.Diagnostics, what Text, now Origin) {
	lacks := Text("and the last one lacked the scope user:read, so its account is not known. Use the last key.")
	if now.AccountID == "" {
		lacks = "and lacks the scope user:read, so the accounts of both keys cannot be compared. Add the scope, or use the " +
			"last key."
	}
	AddError(diags, Textf(summaryOtherOrigin, what), "This run uses another API key than the last one, "+lacks+" "+
		originAdvice)
}

// WarnUnchecked warns that the checks of a new resource could not reach the API. It ignores all other errors: the API
// checks the request at apply. The CLIs group equal warnings.
func WarnUnchecked(diags *diag.Diagnostics, err error) {
	if !rental.IsUnreachable(err) {
		return
	}
	AddWarning(diags, "New resources were not checked",
		Textf("%s\n\nThe plan could not check templates, offers, names and the balance for new resources. An apply needs "+
			"the API: check base_url, the network and the proxy, then plan again.", err))
}

// AddMissing warns that an object no longer exists. The CLIs group warnings with the same summary.
func AddMissing(diags *diag.Diagnostics, kind Text, id string) {
	AddWarning(diags, "Object no longer exists", Textf("The API returned \"not found\" or \"destroyed\" for %s %s. It "+
		"leaves the state. The plan creates it again if the configuration contains it.", kind, id))
}

// addInvalidValue has the summary of the errors of the framework's validators.
func addInvalidValue(diags *diag.Diagnostics, at path.Path, description Text) {
	AddAttributeError(diags, at, "Invalid Attribute Value", Textf("Attribute %s %s.", at.String(), description))
}
