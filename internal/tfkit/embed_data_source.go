package tfkit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
)

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

// CanRead is false, with an error, if the provider configuration is not known.
func (d *DataSource) CanRead(diags *diag.Diagnostics) bool {
	if d.Public && d.Meta != nil && d.Meta.Client != nil {
		return true
	}
	return d.Meta.RequireConfig(diags)
}

// CanReadOwn is CanRead for the part of a public list that the API returns only with a key.
func (d *DataSource) CanReadOwn(diags *diag.Diagnostics) bool {
	requireKey(d.Meta, diags)
	return !diags.HasError() && d.Meta.RequireConfig(diags)
}
