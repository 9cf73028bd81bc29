package tfkit

import "github.com/hashicorp/terraform-plugin-framework/diag"

// The other embed files contain a struct for each kind of type, which the types of that kind embed.

// RequireConfig is Ready, with an error if it is false.
func (m *Meta) RequireConfig(diags *diag.Diagnostics) bool {
	if !m.Ready() {
		addConfigUnknown(diags)
	}
	return m.Ready()
}

// configuredMeta returns the configured provider for types that need an API key, with an error if there is none. The
// result is nil during validation, when no provider is configured.
func configuredMeta(providerData any, diags *diag.Diagnostics) *Meta {
	meta, _ := providerData.(*Meta)
	requireKey(meta, diags)
	return meta
}

func requireKey(meta *Meta, diags *diag.Diagnostics) {
	if meta == nil || meta.KeyUnknown || meta.Client == nil || meta.Client.Authenticated() {
		return
	}
	addMissingKey(diags)
}
