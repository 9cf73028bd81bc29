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
)

// Bounds of the service.
const (
	maxNameLength = 60
	maxExpiryDays = 3650
)

// scopes are all the service knows.
var scopes = []string{"user:read", "user:write", "instances:read", "instances:write", "billing:read"}

// What a key is made of, whether a state keeps it or not.
const (
	aboutName   = "Name, 1 to 60 characters."
	aboutScopes = "Permissions, at least one of `user:read`, `user:write`, `instances:read`, `instances:write`, `billing:read`. " +
		"A key cannot have scopes that the provider's own key lacks."
)

var (
	nameRules   = []validator.String{stringvalidator.UTF8LengthBetween(1, maxNameLength)}
	scopesRules = []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.OneOf(scopes...))}
	daysRules   = []validator.Int64{int64validator.Between(1, maxExpiryDays)}
)

// told is what the service tells of an issued key, besides the key itself.
var told = map[string]string{
	"id":         "Id of the key.",
	"prefix":     "How the key begins, to recognise it by.",
	"source":     "Where it was issued: `console`, `cli` or `api`.",
	"created_at": "When it was issued, RFC 3339 in UTC.",
	"expires_at": "When it expires, RFC 3339 in UTC. Null for never.",
}

// Schema implements resource.Resource.
func (r *keyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required: true, MarkdownDescription: aboutName, Validators: nameRules,
			PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
		},
		"scopes": schema.SetAttribute{
			Required: true, ElementType: types.StringType, MarkdownDescription: aboutScopes, Validators: scopesRules,
			PlanModifiers: []planmodifier.Set{setplanmodifier.RequiresReplace()},
		},
		"expires_in_days": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Lifetime from its creation, days, 1 to 3650. It never expires by default.",
			Validators:          daysRules,
			PlanModifiers:       []planmodifier.Int64{int64planmodifier.RequiresReplace()},
		},
		"rotate_before_days": schema.Int64Attribute{
			Optional: true,
			MarkdownDescription: "Replace the key when fewer than this many days are left, days, less than `expires_in_days`. Without it the key is replaced " +
				"once it has expired. With `lifecycle { create_before_destroy = true }` the new key is there before the old one is revoked.",
			Validators: daysRules,
		},
		"allow_self_revoke": schema.BoolAttribute{
			Optional: true,
			MarkdownDescription: "Whether Terraform may revoke this key if the provider itself uses it. Defaults to `false`: a plan that destroys or replaces the provider's own key fails, " +
				"and `rotate_before_days` does not replace it, because every later request of the run would fail. Apply `true` before you destroy or replace the key. " +
				"To rotate the provider's own key without an interruption, issue another key, configure the provider with it, and then destroy the old one.",
		},
		"secret": computed("The key itself. The service tells it only when the key is issued: null after an import.", true),
	}
	for name, about := range told {
		attributes[name] = computed(about, false)
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "An API key of the account, for example for a CI pipeline.\n\n" +
			"~> **The secret is stored in plain text in the state, and in plans that are saved once the key is there.** Keep both where only those can read them who may use the key. " +
			"A key that only one run needs is better an ephemeral one, which is stored nowhere.\n\n" +
			"The service cannot change a key, so a change replaces it. A key that was revoked or has expired is issued anew by the next apply.",
		Attributes: attributes,
	}
}

func computed(about string, sensitive bool) schema.StringAttribute {
	return schema.StringAttribute{
		Computed: true, Sensitive: sensitive, MarkdownDescription: about,
		PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

// ValidateConfig implements resource.ResourceWithValidateConfig.
func (r *keyResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var lifetime, rotate types.Int64
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("expires_in_days"), &lifetime)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("rotate_before_days"), &rotate)...)
	if rotate.IsNull() || rotate.IsUnknown() || lifetime.IsUnknown() {
		return
	}
	if lifetime.IsNull() {
		addNothingToRotate(&resp.Diagnostics)
	} else if rotate.ValueInt64() >= lifetime.ValueInt64() {
		addAlwaysRotated(&resp.Diagnostics, rotate.ValueInt64(), lifetime.ValueInt64())
	}
}
