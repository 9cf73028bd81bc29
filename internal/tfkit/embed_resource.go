package tfkit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Resource is embedded by every resource and list resource: it has the name of the type and the configured provider,
// and imports by id or by identity, which is the id.
type Resource struct {
	// Name is the type's name without the provider's, for example "ssh_key".
	Name string
	// Meta is nil until the provider is configured.
	Meta *Meta
}

// Metadata implements resource.Resource and list.ListResource.
func (r *Resource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.Name
}

// Configure implements resource.ResourceWithConfigure and list.ListResourceWithConfigure.
func (r *Resource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.Meta = configuredMeta(req.ProviderData, &resp.Diagnostics)
}

// IdentitySchema implements resource.ResourceWithIdentity.
func (r *Resource) IdentitySchema(
	_ context.Context,
	_ resource.IdentitySchemaRequest,
	resp *resource.IdentitySchemaResponse,
) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"id": identityschema.StringAttribute{RequiredForImport: true, Description: "Id of the resource, the same as " +
			"the attribute `id`."},
	}}
}

// Identify sets the identity if there is none, as after a creation and in the states of older versions.
func Identify(ctx context.Context, identity *tfsdk.ResourceIdentity, id types.String) diag.Diagnostics {
	if !identity.Raw.IsFullyNull() {
		return nil
	}
	return identity.SetAttribute(ctx, path.Root("id"), id)
}

// identifyAs is Identify with the id of a state.
func identifyAs(ctx context.Context, identity *tfsdk.ResourceIdentity, state tfsdk.State) diag.Diagnostics {
	if !identity.Raw.IsFullyNull() {
		return nil
	}
	var id types.String
	diags := state.GetAttribute(ctx, path.Root("id"), &id)
	diags.Append(Identify(ctx, identity, id)...)
	return diags
}

// ImportState implements resource.ResourceWithImportState: it sets the id, and the read that follows sets the rest.
// Without a known address and key that read is impossible, and the plan would replace the imported object.
func (r *Resource) ImportState(
	ctx context.Context,
	req resource.ImportStateRequest,
	resp *resource.ImportStateResponse,
) {
	if r.Meta.RequireConfig(&resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("id"), path.Root("id"), req, resp)
	resp.Diagnostics.Append(SetPrivate(ctx, resp.Private, PrivateObject, r.Meta.NewObject(ctx))...)
}

// Adopt is an update without a request: the plan becomes the state.
func Adopt(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
	resp.Diagnostics.Append(identifyAs(ctx, resp.Identity, req.State)...)
}

// BeginRead begins every read: it sets the identity, which is required even if the object is gone. It warns if the
// object cannot be read because the provider configuration is not known: then Meta.Ready is false, and the read ends.
func (r *Resource) BeginRead(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	resp.Diagnostics.Append(identifyAs(ctx, resp.Identity, req.State)...)
	if !r.Meta.Ready() {
		addNotRefreshed(&resp.Diagnostics)
	}
}
