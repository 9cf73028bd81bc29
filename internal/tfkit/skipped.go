package tfkit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Skipped are the entries that lists have left out because they cannot be read.
type Skipped struct{ entries []rental.Skipped }

// CollectSkipped returns a context in which lists report the entries that they leave out. The lists must be read one
// after the other.
func CollectSkipped(ctx context.Context) (context.Context, *Skipped) {
	skipped := new(Skipped)
	return rental.WithSkipped(
		ctx,
		func(entry rental.Skipped) { skipped.entries = append(skipped.entries, entry) },
	), skipped
}

// Warn names the entries in a warning, if there are any. noun is what they are, in the plural: "SSH keys".
func (s *Skipped) Warn(diags *diag.Diagnostics, noun Text) { WarnSkipped(diags, noun, s.entries) }

// WarnSkipped names the entries that a list lacks in a warning, if there are any.
func WarnSkipped(diags *diag.Diagnostics, noun Text, entries []rental.Skipped) {
	if len(entries) > 0 {
		addSkipped(diags, noun, entries)
	}
}
