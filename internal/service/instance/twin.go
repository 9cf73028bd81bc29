package instance

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// A server that was taken over may have been made from a template of the same
// content as the configured one. The service goes on to name that one, which
// must not look like a change: it would replace the server.

// privateData is the part of a state that only the provider sees.
type privateData interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

const twinTemplateKey = "twin_template"

// rememberTwin notes the template that a server was made from; empty for none.
func rememberTwin(ctx context.Context, private privateData, slug string) diag.Diagnostics {
	if slug == "" {
		return nil
	}
	note, err := json.Marshal(slug)
	if err != nil {
		return nil // a string always has a form in JSON
	}
	return private.SetKey(ctx, twinTemplateKey, note)
}

// isTwin says whether a server is known to have been made from that template in
// place of the configured one.
func isTwin(ctx context.Context, private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}, slug string,
) bool {
	note, diags := private.GetKey(ctx, twinTemplateKey)
	var noted string
	return !diags.HasError() && len(note) > 0 && json.Unmarshal(note, &noted) == nil && noted == slug
}
