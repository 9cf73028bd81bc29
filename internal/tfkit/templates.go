package tfkit

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// FindTemplate returns the template with a slug, of the service's catalogue or the
// account's own. The API has no request for a single one; all services of the
// provider share a listing.
func FindTemplate(ctx context.Context, m *Meta, slug string) (template rental.Template, found bool, err error) {
	source := Listed(m.Client, "templates", func(t rental.Template) string { return t.Slug }, m.Client.ListTemplates)
	return Shared[Snapshot[rental.Template]](m).Find(ctx, source, slug)
}
