package apikey

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Schema implements ephemeral.EphemeralResource.
func (e *keyEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"name": schema.StringAttribute{Required: true, MarkdownDescription: nameDescription, Validators: nameValidators},
		"scopes": schema.SetAttribute{
			Required: true, ElementType: types.StringType, MarkdownDescription: scopesDescription, Validators: scopesValidators,
		},
		"expires_in_days": schema.Int64Attribute{
			Optional: true, Computed: true,
			MarkdownDescription: "Lifetime of the key in days, unless it is revoked before. Must be between 1 and 3650. " +
				"Defaults to `1`.",
			Validators: daysValidators,
		},
		"secret": schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "Secret of the key."},
	}
	for name, description := range computedDescriptions {
		attributes[name] = schema.StringAttribute{Computed: true, MarkdownDescription: description}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Creates an API key for one run, for example with fewer scopes than the provider's own " +
			"key. The key is revoked after its last use, and stored neither in the state nor in a plan.\n\nEvery plan " +
			"and every apply creates a separate key, which takes two requests: the creation and the revocation. The " +
			"provider's own key needs the scopes `user:write` and those of the new key.\n\nThe provider also revokes " +
			"the key when the run fails, when it is interrupted (Ctrl-C, SIGTERM) and when Terraform or OpenTofu " +
			"crashes. It cannot revoke the key after the provider itself is killed (`kill -9`), after a " +
			"crash of the machine, or while the API rejects the revocation at the end of the run. The key then works " +
			"until it expires, by default one day after its creation, or until you revoke it.",
		Attributes: attributes,
	}
}
