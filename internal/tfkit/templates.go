package tfkit

import (
	"context"
	"iter"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// FindTemplate returns the template with a slug, of the service's catalogue or the
// account's own. The API has no request for a single one; all services of the
// provider share a listing.
func FindTemplate(ctx context.Context, m *Meta, slug string) (template rental.Template, found bool, err error) {
	client := m.Client
	return Shared[Snapshot[rental.Template]](m).Find(ctx, Source[rental.Template]{
		ID: func(t rental.Template) string { return t.Slug },
		All: func(ctx context.Context) iter.Seq2[rental.Template, error] {
			return client.ListTemplates(ctx, rental.ListOptions{})
		},
		Writes: func() uint64 { return client.Writes("templates") },
	}, slug)
}
