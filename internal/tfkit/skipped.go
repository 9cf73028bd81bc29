package tfkit

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Skipped are the entries that lists have left out because they cannot be read.
type Skipped struct{ entries []rental.Skipped }

// CollectSkipped returns a context in which lists report the entries that they leave out. They are to be read one after the other.
func CollectSkipped(ctx context.Context) (context.Context, *Skipped) {
	skipped := new(Skipped)
	return rental.WithSkipped(ctx, func(entry rental.Skipped) { skipped.entries = append(skipped.entries, entry) }), skipped
}

// Warn names the entries in a warning, if there are any. noun is what they are, in the plural: "SSH keys".
func (s *Skipped) Warn(diags *diag.Diagnostics, noun string) {
	if len(s.entries) == 0 {
		return
	}
	var lines strings.Builder
	for _, entry := range s.entries[:min(len(s.entries), maxTold)] {
		id := OneLine(entry.ID)
		if id == "" {
			id = "without an id"
		}
		fmt.Fprintf(&lines, "\n  %s: %s", id, OneLine(entry.Err.Error()))
	}
	lines.WriteString(andMore("\n  ", len(s.entries)))
	diags.AddWarning(fmt.Sprintf("Some %s cannot be read", noun),
		fmt.Sprintf("The service's list has entries that this version of the provider cannot read. They were left out (%d):%s\n\n"+
			"Update the provider if a newer version exists, or report this to the service's support.", len(s.entries), lines.String()))
}
