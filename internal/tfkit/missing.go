package tfkit

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
)

// RemoveMissing ends the read of an object that the API does not find: it removes the object from the state, with a
// warning. It keeps an object that may belong to another account, with an error, and one that was created less than lag
// ago, because the API may not find that yet.
func (r *Resource) RemoveMissing(
	ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse, kind Text, id string, lag time.Duration,
) {
	object := GetObject(ctx, req.Private, &resp.Diagnostics)
	// Only responses that no cache can serve show the time of the API, from which the age of the object follows.
	_, _ = r.Meta.origin(ctx, false) //nolint:errcheck // CheckOrigin reads the account again if that is necessary
	if resp.Diagnostics.HasError() || !r.Meta.CheckOrigin(ctx, object, kind+Textf(" %s", id), &resp.Diagnostics) ||
		r.Meta.Client.LagLeft(object.CreatedAt, lag) > 0 {
		return
	}
	resp.State.RemoveResource(ctx)
	r.Meta.WarnMissing(ctx, kind, id, &resp.Diagnostics)
}

// missingObjects collects what a refresh removes from the state, so that one warning names all of it. The CLI reads the
// objects of a state concurrently. The zero value is ready for use.
type missingObjects struct {
	mu      sync.Mutex
	waiting bool              // a read collects
	ids     map[Text][]string // by kind
	count   int               // of the ids
}

const (
	// missingPause is how long the reads of a refresh must find nothing missing before the warning appears.
	missingPause = 250 * time.Millisecond
	// missingWait limits the total time.
	missingWait = 2 * time.Second
)

// WarnMissing warns of an object that no longer exists, together with the others that the present reads find missing.
func (m *Meta) WarnMissing(ctx context.Context, kind Text, id string, diags *diag.Diagnostics) {
	if all := m.missing.collect(ctx, kind, id); all != "" {
		addMissing(diags, all)
	}
}

// collect adds an object. It returns the description of all collected ones to a single read.
func (m *missingObjects) collect(ctx context.Context, kind Text, id string) (all Text) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ids == nil {
		m.ids = map[Text][]string{}
	}
	m.ids[kind] = append(m.ids[kind], id)
	m.count++
	if m.waiting {
		return ""
	}
	m.waiting = true
	for began, count := time.Now(), 0; count < m.count && time.Since(began) < missingWait; {
		count = m.count
		m.mu.Unlock()
		err := backoff.Sleep(ctx, missingPause)
		m.mu.Lock()
		if err != nil {
			break
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(m.ids)) {
		all += missingText(kind, m.ids[kind])
	}
	m.waiting, m.ids, m.count = false, nil, 0
	return all
}
