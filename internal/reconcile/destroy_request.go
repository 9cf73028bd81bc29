package reconcile

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// RequestDestroyAll requests the destruction of members concurrently. It does not wait until they are gone, and does
// not search for orphans, because the process is about to end. It omits members that another creation of this process
// has recovered. The error names the instances that may still exist.
func (m *Manager) RequestDestroyAll(ctx context.Context, members []Member) error {
	owners := &m.Placement.Owners
	errs := make([]error, len(members))
	var all sync.WaitGroup
	turns := make(chan struct{}, maxRequests)
	for i, member := range members {
		id := member.Instance.ID
		if member.Lost() || !owners.BeginDestroy(id, member.Recovery) {
			continue
		}
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if err := m.Lifecycle.RequestDestroy(ctx, id); err != nil {
				owners.CancelDestroy(id)
				errs[i] = fmt.Errorf("instance %s: %w", id, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
