package tfkit

import "github.com/hashicorp/terraform-plugin-framework/diag"

// The other embed files contain a struct for each kind of type, which the types of that kind embed.

// requireConfig is false, with an error, if the provider configuration is not known. early and later are those of
// addConfigUnknown.
func requireConfig(meta *Meta, diags *diag.Diagnostics, early, later Text) bool {
	if !meta.Ready() {
		addConfigUnknown(diags, early, later)
	}
	return meta.Ready()
}

// metaFrom is nil without an error during validation, when no provider is configured.
func metaFrom(providerData any, diags *diag.Diagnostics) *Meta {
	if providerData == nil {
		return nil
	}
	meta, ok := providerData.(*Meta)
	if !ok {
		addNotConfigured(diags, providerData)
		return nil
	}
	return meta
}

// metaWithKey is metaFrom for types that need an API key.
func metaWithKey(providerData any, diags *diag.Diagnostics) *Meta {
	meta := metaFrom(providerData, diags)
	requireKey(meta, diags)
	return meta
}

func requireKey(meta *Meta, diags *diag.Diagnostics) {
	if meta == nil || meta.KeyUnknown || meta.Client == nil || meta.Client.Authenticated() {
		return
	}
	addMissingKey(diags)
}
