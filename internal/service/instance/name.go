package instance

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// storedNameKey is where the private state keeps a name that the service normalized, for example to lower case.
const storedNameKey = "stored_name"

// storedName is a name as it was configured, and as the service returned it in its answer.
type storedName struct {
	Configured string `json:"configured"`
	Stored     string `json:"stored"`
}

// rememberName keeps how the service normalized a name that it was just given. An answer with the name from before shows
// no normalization, but that the name was not taken.
func rememberName(ctx context.Context, private noteWriter, configured, before types.String, answer rental.Instance) diag.Diagnostics {
	stored := nameOf(answer)
	if configured.IsNull() || answer.Omitted.Name || stored == configured.ValueString() || stored == before.ValueString() {
		return nil
	}
	return leaveNote(ctx, private, storedNameKey, storedName{configured.ValueString(), stored})
}

// isStoredName reports whether the service still has the name that it made of the configured one.
func isStoredName(ctx context.Context, private noteReader, configured types.String, inst rental.Instance) bool {
	note, diags := findNote[storedName](ctx, private, storedNameKey)
	return !diags.HasError() && note != nil && *note == storedName{configured.ValueString(), nameOf(inst)}
}
