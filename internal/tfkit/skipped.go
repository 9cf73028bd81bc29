package tfkit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Skipped are the entries that lists omit because they cannot be read.
type Skipped struct{ entries []rental.Skipped }

// CollectSkipped returns a context in which lists record the entries that they omit. The lists must be read one after
// the other.
func CollectSkipped(ctx context.Context) (context.Context, *Skipped) {
	skipped := new(Skipped)
	return rental.WithSkipped(
		ctx,
		func(entry rental.Skipped) { skipped.entries = append(skipped.entries, entry) },
	), skipped
}

// Warn adds a warning that names the entries, if there are any. kind is their kind in the plural: "SSH keys".
func (s *Skipped) Warn(diags *diag.Diagnostics, kind Text) { WarnSkipped(diags, kind, s.entries) }

// WarnSkipped adds a warning that names the entries that a list omits, if there are any.
func WarnSkipped(diags *diag.Diagnostics, kind Text, entries []rental.Skipped) {
	if len(entries) > 0 {
		addSkipped(diags, kind, entries)
	}
}
