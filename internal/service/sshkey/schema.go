package sshkey

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// maxNameLength is the service's bound.
const maxNameLength = 60

// Schema implements resource.Resource.
func (r *keyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A public SSH key of the account. Keys are attached to instances when these are created; running instances stay as they are.",
		Attributes: map[string]schema.Attribute{
			"public_key": schema.StringAttribute{
				Required: true,
				MarkdownDescription: "One line of a public key file, for example `ssh-ed25519 AAAA… comment`. White space and comment are not a difference; " +
					"another key replaces. A private key is refused and never sent. After an import it is the SHA256 fingerprint, since the service does not tell the key; " +
					"the key itself can be put in its place at any time.",
				Validators: []validator.String{isPublicKey{}},
			},
			"name": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Name, up to 60 characters. The service chooses by default. The service cannot change it, so a change replaces.",
				Validators:          []validator.String{stringvalidator.UTF8LengthBetween(1, maxNameLength)},
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplaceIfConfigured()},
			},
			"id":          schema.StringAttribute{Computed: true, MarkdownDescription: "Id of the key.", PlanModifiers: keep},
			"type":        schema.StringAttribute{Computed: true, MarkdownDescription: "Type of the key, for example `ssh-ed25519`. Known at plan.", PlanModifiers: keep},
			"fingerprint": schema.StringAttribute{Computed: true, MarkdownDescription: "SHA256 fingerprint, as `ssh-keygen -l` writes it. Known at plan.", PlanModifiers: keep},
			"created_at":  schema.StringAttribute{Computed: true, MarkdownDescription: "When it was added, RFC 3339 in UTC.", PlanModifiers: keep},
		},
	}
}
