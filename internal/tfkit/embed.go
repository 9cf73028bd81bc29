package tfkit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
)

// This file and embed_resource.go contain a struct for each kind of type, which the types of that kind embed.

// RequireConfig reports an error if no request that needs an API key can be sent: see Ready. It adds none to other
// errors.
func (m *Meta) RequireConfig(diags *diag.Diagnostics) {
	if !diags.HasError() && !m.Ready() {
		addConfigUnknown(diags)
	}
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

// DataSource is embedded by every data source: it has the name of the type and the configured provider.
type DataSource struct {
	// Name is the type's name without the provider's, for example "offers".
	Name string
	// Public is true if the operation needs no key.
	Public bool
	// Meta is nil until the provider is configured.
	Meta *Meta
}

// Metadata implements datasource.DataSource.
func (d *DataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + d.Name
}

// Configure implements datasource.DataSourceWithConfigure.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.Meta, _ = req.ProviderData.(*Meta)
	if !d.Public {
		requireKey(d.Meta, &resp.Diagnostics)
	}
}

// RequireConfig reports an error if the provider configuration that the operation needs is not known. It adds none to
// other errors.
func (d *DataSource) RequireConfig(diags *diag.Diagnostics) {
	if d.Public && d.Meta != nil && d.Meta.Client != nil {
		return
	}
	d.Meta.RequireConfig(diags)
}

// RequireKey is RequireConfig for the part of a public list that the API returns only with a key.
func (d *DataSource) RequireKey(diags *diag.Diagnostics) {
	requireKey(d.Meta, diags)
	d.Meta.RequireConfig(diags)
}

// Ephemeral is embedded by every ephemeral resource: it has the name of the type and the configured provider.
type Ephemeral struct {
	// Name is the type's name without the provider's, for example "api_key".
	Name string
	// Meta is nil until the provider is configured.
	Meta *Meta
}

// Metadata implements ephemeral.EphemeralResource.
func (e *Ephemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + e.Name
}

// Configure implements ephemeral.EphemeralResourceWithConfigure.
func (e *Ephemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	e.Meta = configuredMeta(req.ProviderData, &resp.Diagnostics)
}

// Action is embedded by every action: it has the name of the type and the configured provider.
type Action struct {
	// Name is the type's name without the provider's, for example "instance_stop".
	Name string
	// Meta is nil until the provider is configured.
	Meta *Meta
}

// Metadata implements action.Action.
func (a *Action) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + a.Name
}

// Configure implements action.ActionWithConfigure.
func (a *Action) Configure(_ context.Context, req action.ConfigureRequest, resp *action.ConfigureResponse) {
	a.Meta = configuredMeta(req.ProviderData, &resp.Diagnostics)
}
