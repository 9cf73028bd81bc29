package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// A server that was taken over may have been made from a template of the same
// content as the configured one. The service goes on to name that one, which
// must not look like a change: it would replace the server.

const twinTemplateKey = "twin_template"

// rememberTwin notes the template that a server was made from; empty for none.
func rememberTwin(ctx context.Context, private noteWriter, slug string) diag.Diagnostics {
	if slug == "" {
		return nil
	}
	return leaveNote(ctx, private, twinTemplateKey, slug)
}

// isTwin says whether a server is known to have been made from that template in
// place of the configured one.
func isTwin(ctx context.Context, private noteReader, slug string) bool {
	noted, diags := findNote[string](ctx, private, twinTemplateKey)
	return !diags.HasError() && noted != nil && *noted == slug
}
