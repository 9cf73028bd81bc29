package tfkit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Meta is what the configured provider hands to every resource and data source.
type Meta struct {
	// Client talks to the service. It is nil while the provider's address is not
	// known yet, which happens only at plan.
	Client *rental.Client
	// KeyUnknown is true at plan while the API key comes from something that is
	// itself still to be created or replaced. Client, if any, has no key then.
	KeyUnknown bool
	// KeyStart is how the configured API key begins, enough to recognise it in a
	// listing and too little to use. Empty without a key.
	KeyStart string
	// PollInterval is the first pause between two looks at something that is
	// still changing.
	PollInterval time.Duration
}

// Ready says whether requests that need a key can be made.
func (m *Meta) Ready() bool { return m != nil && m.Client != nil && !m.KeyUnknown }

// Owns says whether the API key with this prefix is the one the provider
// itself uses.
func (m *Meta) Owns(prefix string) bool {
	return m != nil && len(prefix) >= keyPrefixLength && strings.HasPrefix(m.KeyStart, prefix[:keyPrefixLength])
}

// keyPrefixLength is how much of a key the service shows in listings: the four
// fixed characters and four that differ from key to key.
const keyPrefixLength = 8

// KeyStart returns what Meta may keep of a key.
func KeyStart(key string) string { return key[:min(len(key), keyPrefixLength)] }

// Resource is embedded by every resource: it receives the configured provider.
type Resource struct{ Meta *Meta }

// Configure implements resource.ResourceWithConfigure.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.Meta = metaFrom(req.ProviderData, &resp.Diagnostics)
	requireKey(r.Meta, &resp.Diagnostics)
}

// SkipRead says whether the resource cannot be read now because the provider's
// own configuration is not known yet, and warns that it was not refreshed.
func (r *Resource) SkipRead(diags *diag.Diagnostics) bool {
	if r.Meta.Ready() {
		return false
	}
	diags.AddWarning("Not refreshed",
		"The provider's base_url or api_key comes from something that this run is still to create or replace, "+
			"so the service could not be asked. The plan builds on what the state says.")
	return true
}

// DataSource is embedded by data sources of the account: they need a key.
type DataSource struct{ Meta *Meta }

// Configure implements datasource.DataSourceWithConfigure.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.Meta = metaFrom(req.ProviderData, &resp.Diagnostics)
	requireKey(d.Meta, &resp.Diagnostics)
}

// CanRead reports an error where the provider's configuration is not known yet.
func (d *DataSource) CanRead(diags *diag.Diagnostics) bool {
	if d.Meta.Ready() {
		return true
	}
	addConfigUnknown(diags)
	return false
}

// PublicDataSource is embedded by data sources that work without a key.
type PublicDataSource struct{ Meta *Meta }

// Configure implements datasource.DataSourceWithConfigure.
func (d *PublicDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.Meta = metaFrom(req.ProviderData, &resp.Diagnostics)
}

// CanReadOwn is CanRead for the part of a public listing that only a key shows.
func (d *PublicDataSource) CanReadOwn(diags *diag.Diagnostics) bool {
	requireKey(d.Meta, diags)
	if !diags.HasError() && !d.Meta.Ready() {
		addConfigUnknown(diags)
	}
	return !diags.HasError()
}

// CanRead reports an error where the service's address is not known yet.
func (d *PublicDataSource) CanRead(diags *diag.Diagnostics) bool {
	if d.Meta != nil && d.Meta.Client != nil {
		return true
	}
	addConfigUnknown(diags)
	return false
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
