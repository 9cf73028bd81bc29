package tfkit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

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

// ListResource is embedded by every list resource: it has the name of the resource that it lists and the configured
// provider.
type ListResource struct {
	// Name is the resource's name without the provider's, for example "instance".
	Name string
	// Meta is nil until the provider is configured.
	Meta *Meta
}

// Metadata implements list.ListResource.
func (l *ListResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + l.Name
}

// Configure implements list.ListResourceWithConfigure.
func (l *ListResource) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	l.Meta = configuredMeta(req.ProviderData, &resp.Diagnostics)
}

// CanList sets a model to the configuration. It is false, with an error in the stream, if that or the provider
// configuration is not known.
func (l *ListResource) CanList(
	ctx context.Context,
	req list.ListRequest,
	stream *list.ListResultsStream,
	config any,
) bool {
	diags := req.Config.Get(ctx, config)
	if !diags.HasError() {
		l.Meta.RequireConfig(&diags)
	}
	if diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
	}
	return !diags.HasError()
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
