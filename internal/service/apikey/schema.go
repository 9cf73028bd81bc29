package apikey

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// Limits of the API.
const (
	maxNameLength = 60
	maxExpiryDays = 3650
)

// scopes are the scopes of the API.
var scopes = []string{"user:read", "user:write", "instances:read", "instances:write", "billing:read"}

// Descriptions and validators that the resource and the ephemeral resource share.
const (
	nameDescription   = "Name of the key. 1 to 60 characters."
	scopesDescription = "Scopes of the key. Valid values: `user:read`, `user:write`, `instances:read`, " +
		"`instances:write`, `billing:read`. Must not be empty. A key cannot have scopes that the provider's own key lacks."

	forcesReplacement = " Changing this forces a new resource to be created."
)

var (
	nameValidators   = []validator.String{stringvalidator.UTF8LengthBetween(1, maxNameLength)}
	scopesValidators = []validator.Set{
		setvalidator.SizeAtLeast(1), tfkit.Elements(tfkit.OneOf(scopes...)),
	}
	daysValidators = []validator.Int64{int64validator.Between(1, maxExpiryDays)}
)

// computedDescriptions are the descriptions of the computed attributes except the secret.
var computedDescriptions = map[string]string{
	"id":         "Id of the key.",
	"prefix":     "First characters of the key.",
	"source":     "Origin of the key: `console`, `cli` or `api`.",
	"created_at": "Time of the creation, RFC 3339 in UTC.",
	"expires_at": "Time of the expiry, RFC 3339 in UTC. Null if the key never expires.",
}

// Schema implements resource.Resource.
func (r *keyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required: true, MarkdownDescription: nameDescription + forcesReplacement, Validators: nameValidators,
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
		},
		"scopes": schema.SetAttribute{
			Required: true, ElementType: types.StringType, MarkdownDescription: scopesDescription + forcesReplacement,
			Validators:    scopesValidators,
			PlanModifiers: []planmodifier.Set{setplanmodifier.RequiresReplace()},
		},
		"expires_in_days": schema.Int64Attribute{
			Optional: true,
			MarkdownDescription: "Lifetime of the key in days. Must be between 1 and 3650. By default, the key never " +
				"expires. Changing this forces a new resource to be created.",
			Validators:    daysValidators,
			PlanModifiers: []planmodifier.Int64{int64planmodifier.RequiresReplace()},
		},
		"rotate_before_days": schema.Int64Attribute{
			Optional: true,
			MarkdownDescription: "Number of days before the expiry at which a plan replaces the key. Must be between 1 " +
				"and 3650, and less than `expires_in_days`. Requires `expires_in_days`. By default, a key is replaced after " +
				"it has expired. With `lifecycle { create_before_destroy = true }`, the new key exists before the old one is " +
				"revoked.",
			Validators: append(daysValidators, int64validator.AlsoRequires(path.MatchRoot("expires_in_days"))),
		},
		"secret": schema.StringAttribute{
			Computed: true, Sensitive: true,
			MarkdownDescription: "Secret of the key, which the API returns only at the creation. Null after an import.",
			PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		},
	}
	for name, description := range computedDescriptions {
		attributes[name] = tfkit.ComputedOnce(description)
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages an API key of the account, for example for a CI pipeline. The next apply " +
			"replaces a key that was revoked or has expired.\n\n**The state, and plans that are saved after the " +
			"creation, contain the secret in plain text.** Restrict access to both to users who may use the key. For a " +
			"key that only one run needs, use the ephemeral resource, which stores nothing." +
			"\n\nA plan that destroys or replaces the key that the provider itself uses warns: every later request with it " +
			"fails. Configure the provider with another key first.",
		Attributes: attributes,
	}
}

// ValidateConfig implements resource.ResourceWithValidateConfig.
func (r *keyResource) ValidateConfig(
	ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse,
) {
	var lifetime, rotate types.Int64
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("expires_in_days"), &lifetime)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("rotate_before_days"), &rotate)...)
	known := !rotate.IsNull() && !rotate.IsUnknown() && !lifetime.IsNull() && !lifetime.IsUnknown()
	if known && rotate.ValueInt64() >= lifetime.ValueInt64() {
		addAlwaysRotated(&resp.Diagnostics, rotate.ValueInt64(), lifetime.ValueInt64())
	}
}
