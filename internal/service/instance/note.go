package instance

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// A note is left in the private part of a state or plan, which only the provider
// sees, for a later step in the life of the same server.

type noteReader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

type noteWriter interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

func leaveNote(ctx context.Context, in noteWriter, key string, note any) diag.Diagnostics {
	content, err := json.Marshal(note)
	if err != nil {
		return nil // texts and numbers always have a form in JSON
	}
	return in.SetKey(ctx, key, content)
}

// findNote returns nil when there is none, or one of another version.
func findNote[T any](ctx context.Context, in noteReader, key string) (*T, diag.Diagnostics) {
	content, diags := in.GetKey(ctx, key)
	note := new(T)
	if len(content) == 0 || json.Unmarshal(content, note) != nil {
		return nil, diags
	}
	return note, diags
}
