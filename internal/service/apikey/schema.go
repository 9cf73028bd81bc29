package apikey

import (
	"context"
	"fmt"

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

// Schema implements resource.Resource.
func (r *keyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"name": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "Name, 1 to 60 characters.",
			Validators:          []validator.String{stringvalidator.UTF8LengthBetween(1, maxNameLength)},
			PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
		},
		"scopes": schema.SetAttribute{
			Required: true, ElementType: types.StringType,
			MarkdownDescription: "Permissions, at least one of `user:read`, `user:write`, `instances:read`, `instances:write`, `billing:read`. " +
				"A key cannot have scopes that the provider's own key lacks.",
			Validators:    []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(stringvalidator.OneOf(scopes...))},
			PlanModifiers: []planmodifier.Set{setplanmodifier.RequiresReplace()},
		},
		"expires_in_days": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Lifetime from its creation, days, 1 to 3650. It never expires by default.",
			Validators:          []validator.Int64{int64validator.Between(1, maxExpiryDays)},
			PlanModifiers:       []planmodifier.Int64{int64planmodifier.RequiresReplace()},
		},
		"rotate_before_days": schema.Int64Attribute{
			Optional: true,
			MarkdownDescription: "Replace the key when fewer than this many days are left, days, less than `expires_in_days`. Without it the key is replaced " +
				"once it has expired. With `lifecycle { create_before_destroy = true }` the new key is there before the old one is revoked.",
			Validators: []validator.Int64{int64validator.Between(1, maxExpiryDays)},
		},
	}
	addComputed(attributes)
	resp.Schema = schema.Schema{
		MarkdownDescription: "An API key of the account, for example for a CI pipeline.\n\n" +
			"~> **The secret is stored in plain text in the state, and in plans that are saved once the key is there.** Keep both where only those can read them who may use the key.\n\n" +
			"The service cannot change a key, so a change replaces it. A key that was revoked or has expired is issued anew by the next apply.",
		Attributes: attributes,
	}
}

func addComputed(attributes map[string]schema.Attribute) {
	computed := func(description string) schema.StringAttribute {
		return schema.StringAttribute{
			Computed: true, MarkdownDescription: description,
			PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
		}
	}
	attributes["id"] = computed("Id of the key.")
	attributes["prefix"] = computed("How the key begins, to recognise it by.")
	secret := computed("The key itself. The service tells it only when the key is issued: null after an import.")
	secret.Sensitive = true
	attributes["secret"] = secret
	attributes["source"] = computed("Where it was issued: `console`, `cli` or `api`.")
	attributes["created_at"] = computed("When it was issued, RFC 3339 in UTC.")
	attributes["expires_at"] = computed("When it expires, RFC 3339 in UTC. Null for never.")
}

// ValidateConfig implements resource.ResourceWithValidateConfig.
func (r *keyResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var lifetime, rotate types.Int64
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("expires_in_days"), &lifetime)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("rotate_before_days"), &rotate)...)
	if rotate.IsNull() || rotate.IsUnknown() || lifetime.IsUnknown() {
		return
	}
	at := path.Root("rotate_before_days")
	if lifetime.IsNull() {
		resp.Diagnostics.AddAttributeError(at, "Nothing to rotate", "rotate_before_days needs expires_in_days: this key never expires.")
	} else if rotate.ValueInt64() >= lifetime.ValueInt64() {
		resp.Diagnostics.AddAttributeError(at, "The key would be replaced at every apply",
			fmt.Sprintf("rotate_before_days is %d, but expires_in_days is only %d: it must be less.", rotate.ValueInt64(), lifetime.ValueInt64()))
	}
}
