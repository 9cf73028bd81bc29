package sshkey

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// maxNameLength is the limit of the API in characters.
const maxNameLength = 60

// Schema implements resource.Resource.
func (r *keyResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages a public SSH key of the account. Keys are attached to new instances. A change of " +
			"a key does not affect existing instances.",
		Attributes: map[string]schema.Attribute{
			"public_key": schema.StringAttribute{
				Required: true,
				MarkdownDescription: "One line of a public key file, such as `ssh-ed25519 AAAA… comment`. Private keys, " +
					"certificates and lines with options are errors. A private key is never sent. Changing this forces a new " +
					"resource to be created. Changes of white space and of the comment are ignored. After an import, the " +
					"value is the SHA256 fingerprint, because the API does not return the key. You can replace the " +
					"fingerprint with the key.",
				Validators: []validator.String{isPublicKey},
			},
			"name": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Name of the key. 1 to 60 characters. Defaults to the name that the API chooses. " +
					"Changing this forces a new resource to be created.",
				Validators: []validator.String{stringvalidator.UTF8LengthBetween(1, maxNameLength)},
				PlanModifiers: []planmodifier.String{
					stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplaceIfConfigured(),
				},
			},
			"id":   tfkit.ComputedOnce("Id of the key."),
			"type": tfkit.ComputedOnce("Type of the key, such as `ssh-ed25519`. Known at plan."),
			"fingerprint": tfkit.ComputedOnce("SHA256 fingerprint of the key, as in the output of `ssh-keygen -l`. Known at " +
				"plan."),
			"created_at": tfkit.ComputedOnce("Time of the creation, RFC 3339 in UTC."),
		},
	}
}
