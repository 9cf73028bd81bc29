package tfkit

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// The API has no request for a single template; all services of the provider share
// a listing.

// FindTemplate returns the template with a slug, of the service's catalogue or the
// account's own.
func FindTemplate(ctx context.Context, m *Meta, slug string) (template rental.Template, found bool, err error) {
	return Shared[Snapshot[rental.Template]](m).Find(ctx, templates(m), slug)
}

// RefreshTemplate is FindTemplate for what a state has: a template that was created a moment ago, and that the service does not list yet, is
// not taken for one that is gone.
func RefreshTemplate(ctx context.Context, m *Meta, slug string) (template rental.Template, found bool, err error) {
	source := templates(m)
	source.Lag = m.CachedListingLag()
	return Shared[Snapshot[rental.Template]](m).Find(ctx, source, slug)
}

// ListTemplates returns the service's catalogue and, where there is an API key, the
// account's own templates, in the service's order.
func ListTemplates(ctx context.Context, m *Meta) ([]rental.Template, error) {
	return Shared[Snapshot[rental.Template]](m).List(ctx, templates(m))
}

func templates(m *Meta) Source[rental.Template] {
	return Listed(m, "templates", func(t rental.Template) string { return t.Slug }, m.Client.ListTemplates)
}
