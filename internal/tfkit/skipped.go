package tfkit

import (
	"cmp"
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// ReadList returns a list of objects of the API, with a warning that names the entries that cannot be read. It is nil,
// with an error, if the list itself cannot be read. kind is the kind of the objects in the plural: "SSH keys".
func ReadList[T any](
	ctx context.Context, list *rental.Collection[T], kind Text, diags *diag.Diagnostics,
) *rental.Listing[T] {
	listing, err := list.List(ctx)
	if err != nil {
		AddAPIError(diags, "list "+kind, err)
		return nil
	}
	WarnSkipped(diags, kind, listing.Skipped)
	return listing
}

// WarnSkipped adds a warning that names the entries that a list omits, if there are any. kind is that of ReadList.
func WarnSkipped(diags *diag.Diagnostics, kind Text, entries []rental.Skipped) {
	if len(entries) == 0 {
		return
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = fmt.Sprintf("%s (%v)", cmp.Or(entry.ID, "without an id"), entry.Err)
	}
	AddWarning(diags, Textf("Some %s cannot be read", kind), Textf("This version of the provider cannot read %d entries "+
		"of the list. They were left out: %s. Update the provider, or contact the service's support.", len(names), names))
}
