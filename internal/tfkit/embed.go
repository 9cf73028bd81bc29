package tfkit

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// Each kind of type has a struct that all its types embed, in a file of its own.

// requireConfig is false, with an error, where what is needed of the provider's
// configuration is not known yet. tooEarly and later are those of addConfigUnknown.
func requireConfig(meta *Meta, diags *diag.Diagnostics, tooEarly, later string) bool {
	if !meta.Ready() {
		addConfigUnknown(diags, tooEarly, later)
	}
	return meta.Ready()
}

// addConfigUnknown tells of something that happens too early, such as "a data
// source is read", and what makes the CLIs do it later; empty where nothing does.
func addConfigUnknown(diags *diag.Diagnostics, tooEarly, later string) {
	if later != "" {
		later = ", or " + later + ", so that this waits for the apply"
	}
	diags.AddError("Provider configuration not known yet",
		"The provider's base_url or api_key comes from something that this run is still to create or replace, and "+tooEarly+
			" before that. Apply that first with -target"+later+".")
}

// metaFrom is nil without an error during validation, when no provider is
// configured yet.
func metaFrom(providerData any, diags *diag.Diagnostics) *Meta {
	if providerData == nil {
		return nil
	}
	meta, ok := providerData.(*Meta)
	if !ok {
		diags.AddError("Provider not configured", fmt.Sprintf("Expected *tfkit.Meta, got %T. This is a mistake in the provider; please report it.", providerData))
		return nil
	}
	return meta
}

// metaWithKey is metaFrom for what cannot do without an API key.
func metaWithKey(providerData any, diags *diag.Diagnostics) *Meta {
	meta := metaFrom(providerData, diags)
	requireKey(meta, diags)
	return meta
}

func requireKey(meta *Meta, diags *diag.Diagnostics) {
	if meta == nil || meta.KeyUnknown || meta.Client == nil || meta.Client.Authenticated() {
		return
	}
	diags.AddError("Missing API key",
		"This needs an API key. Log in with \"terraform-provider-gpurent login\", which keeps one in the credentials file (credentials.json in the gpurent "+
			"folder of your user configuration), or give one that the service's console has issued: the provider argument api_key, or the environment variable GPURENT_API_KEY.")
}
