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
		"name": schema.StringAttribute{Required: true, MarkdownDescription: aboutName, Validators: nameRules},
		"scopes": schema.SetAttribute{
			Required: true, ElementType: types.StringType, MarkdownDescription: aboutScopes, Validators: scopesRules,
		},
		"expires_in_days": schema.Int64Attribute{
			Optional: true, Computed: true,
			MarkdownDescription: "How long the key works if nothing can revoke it, days, 1 (default) to 3650.",
			Validators:          daysRules,
		},
		"secret": schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The key itself."},
	}
	for name, about := range told {
		attributes[name] = schema.StringAttribute{Computed: true, MarkdownDescription: about}
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "An API key that lives as long as a run needs it, for example with fewer scopes than the provider's own for one part of a configuration. " +
			"It is issued when it is first used, revoked when everything that uses it is done, and kept in no state and no plan.\n\n" +
			"Every plan and every apply issues a key of its own, which takes three requests: a look at the keys that are there, the issue and the revocation. " +
			"The provider's own key needs the scopes `user:read`, `user:write` and those that it gives.\n\n" +
			"The key is also revoked when the run fails, when it is interrupted (Ctrl-C, SIGTERM) and when Terraform or OpenTofu dies. " +
			"Only when the provider itself is killed (`kill -9`) or the machine dies is nobody left to do it, and when the service refuses or does not answer at the end of the run: " +
			"then the key works until it expires, by default a day after it was issued. The service's console shows it, and can revoke it.",
		Attributes: attributes,
	}
}
