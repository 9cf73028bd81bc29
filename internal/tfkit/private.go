package tfkit

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// PrivateGetter is the private state in a request.
type PrivateGetter interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

// PrivateSetter is the private state in a response.
type PrivateSetter interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// SetPrivate stores a value as JSON.
func SetPrivate(ctx context.Context, private PrivateSetter, key string, value any) diag.Diagnostics {
	content, err := json.Marshal(value)
	if err != nil {
		return nil // the stored types can always be marshaled
	}
	return private.SetKey(ctx, key, content)
}

// GetPrivate returns a stored value; the zero value if there is none, or one of another version.
func GetPrivate[T any](ctx context.Context, private PrivateGetter, key string, diags *diag.Diagnostics) (value T) {
	content, problems := private.GetKey(ctx, key)
	diags.Append(problems...)
	var stored T
	if len(content) == 0 || json.Unmarshal(content, &stored) != nil {
		return value
	}
	return stored
}
