package tfkit

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// Resource is embedded by every resource: it names the type, receives the
// configured provider and imports by id.
type Resource struct {
	// Name is the type's name without the provider's, for example "ssh_key".
	Name string
	// Meta is nil until the provider is configured.
	Meta *Meta
}

// Metadata implements resource.Resource.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.Name
}

// Configure implements resource.ResourceWithConfigure.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.Meta = metaFrom(req.ProviderData, &resp.Diagnostics)
	requireKey(r.Meta, &resp.Diagnostics)
}

// ImportState implements resource.ResourceWithImportState: it takes the id, and
// the read that follows fills in the rest.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}

// SkipRead says whether the resource cannot be read now because the provider's
// own configuration is not known yet, and warns that it was not refreshed.
func (r *Resource) SkipRead(diags *diag.Diagnostics) bool {
	if reading == readNothing {
		return true
	}
	if r.Meta.Ready() {
		return false
	}
	diags.AddWarning("Not refreshed",
		"The provider's base_url or api_key comes from something that this run is still to create or replace, "+
			"so the service could not be asked. The plan builds on what the state says.")
	return true
}

// DataSource is embedded by every data source: it names the type and receives
// the configured provider.
type DataSource struct {
	// Name is the type's name without the provider's, for example "offers".
	Name string
	// Public is true where the service answers without a key.
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
	d.Meta = metaFrom(req.ProviderData, &resp.Diagnostics)
	if !d.Public {
		requireKey(d.Meta, &resp.Diagnostics)
	}
}

// CanRead reports an error where what is needed of the provider's configuration
// is not known yet.
func (d *DataSource) CanRead(diags *diag.Diagnostics) bool {
	ready := d.Meta.Ready()
	if d.Public {
		ready = d.Meta != nil && d.Meta.Client != nil
	}
	if !ready {
		addConfigUnknown(diags)
	}
	return ready
}

// CanReadOwn is CanRead for the part of a public listing that only a key shows.
func (d *DataSource) CanReadOwn(diags *diag.Diagnostics) bool {
	requireKey(d.Meta, diags)
	if !diags.HasError() && !d.Meta.Ready() {
		addConfigUnknown(diags)
	}
	return !diags.HasError()
}

func addConfigUnknown(diags *diag.Diagnostics) {
	diags.AddError("Provider configuration not known yet",
		"The provider's base_url or api_key comes from something that this run is still to create or replace, and a data source "+
			"is read before that. Apply that first with -target, or let the data source depend on it with depends_on, so that it is read during apply.")
}

// metaFrom is nil without an error during validation, when no provider is
// configured yet.
func metaFrom(providerData any, diags *diag.Diagnostics) *Meta {
	if providerData == nil {
		return nil
	}
	meta, ok := providerData.(*Meta)
	if !ok {
		diags.AddError("Provider not configured", fmt.Sprintf("Expected *tfkit.Meta, got %T: a bug in this provider.", providerData))
		return nil
	}
	return meta
}

func requireKey(meta *Meta, diags *diag.Diagnostics) {
	if meta == nil || meta.KeyUnknown || meta.Client == nil || meta.Client.Authenticated() {
		return
	}
	diags.AddError("Missing API key",
		"This needs an API key. Give it in one of three ways: the provider argument api_key, the environment variable GPURENT_API_KEY, "+
			"or the credentials file (credentials.json in the gpurent folder of your user configuration). Keys are issued in the service's console.")
}
