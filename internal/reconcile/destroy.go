package reconcile

import (
	"context"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// rollbackTimeout limits the destruction of what an apply created.
const rollbackTimeout = 15 * time.Minute

// destroyAll destroys members concurrently, and returns the slots that are empty afterwards.
func (a *apply) destroyAll(ctx context.Context, changes []Change) (emptied []Change) {
	var all sync.WaitGroup
	for _, change := range changes {
		all.Go(func() {
			if confirmed, err := a.destroy(ctx, change.Member); err != nil {
				a.fail(change.Slot, &Error{Kind: NotDestroyed, Confirmed: confirmed, Err: err})
				return
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			a.remove(change.Slot)
			emptied = append(emptied, change)
		})
	}
	all.Wait()
	return emptied
}

// createdAt returns when an instance was created: most likely now, if the API omits it.
func (a *apply) createdAt(placed placement.Placed) time.Time {
	if placed.CreatedAt.IsZero() {
		return a.Client.Now()
	}
	return placed.CreatedAt
}

// destroy destroys a member and waits until it is gone.
func (a *apply) destroy(ctx context.Context, member Member) (confirmed bool, err error) {
	id := member.Instance.ID
	if _, ok := a.Placement.Owners.Claim(id, a.Object); !ok {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.result.KeptForOther = append(a.result.KeptForOther, id)
		return true, nil
	}
	if confirmed, err = a.Lifecycle.Destroy(ctx, id, member.CreatedAt); err != nil {
		return confirmed, err
	}
	a.setDestroyed(id)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.destroyed++
	if !confirmed {
		a.result.NotFound = append(a.result.NotFound, member)
	}
	return true, nil
}

// rollBack destroys the members that this apply created. If the response to a create request was lost, another run may
// have rented the instance under the same key: it stays.
func (a *apply) rollBack(ctx context.Context) {
	var changes []Change
	for slot, member := range a.members {
		if a.created[slot] {
			changes = append(changes, Change{slot, Destroy, *member})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, rollbackTimeout+time.Duration(len(changes))*time.Second)
	defer cancel()
	timedOut := a.timedOut()
	for _, change := range a.destroyAll(ctx, changes) {
		a.result.RolledBack = append(a.result.RolledBack, change.Member)
		err := a.failures[change.Slot]
		if !timedOut && (lifecycle.KindOf(err) == lifecycle.Interrupted || KindOf(err) == NotTried) {
			delete(a.failures, change.Slot) // it was not the reason
		}
	}
	sortBySlot(a.result.RolledBack)
}

// timedOut reports whether the end of the time is the only reason for the failures.
func (a *apply) timedOut() bool {
	for _, err := range a.failures {
		if lifecycle.KindOf(err) != lifecycle.Interrupted {
			return false
		}
	}
	return true
}

// DestroyAll destroys members concurrently. The result contains those that may still exist.
func (m *Manager) DestroyAll(ctx context.Context, spec Spec, members []Member, timeout time.Duration) Result {
	waitCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	a := &apply{
		Manager: m, Spec: spec, members: map[int]*Member{}, failures: map[int]error{}, total: spending.NewLedger(0),
	}
	var changes []Change
	for _, member := range members {
		if !member.Lost() {
			a.members[member.Slot] = &member
			changes = append(changes, Change{member.Slot, Destroy, member})
		}
	}
	a.destroyAll(waitCtx, changes)
	a.result.Interrupted = ctx.Err() != nil
	return a.finish()
}
