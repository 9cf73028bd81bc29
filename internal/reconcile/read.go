package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// parallelReads is the number of parallel requests for single instances.
const parallelReads = 8

// Refresh reads the members. Those that are gone become lost: the API reports them as destroyed or not found. A new
// instance that is not found stays as it was, because the API may not find it yet. notFound are all ids that the API
// does not find.
func (m *Manager) Refresh(ctx context.Context, members []Member) (all []Member, notFound []string, err error) {
	if len(members) == 0 {
		return nil, nil, nil
	}
	listing, err := m.Cache.Instances.List(ctx)
	if err != nil && !rental.IsListTooLong(err) {
		return nil, nil, err
	}
	refreshed := make([]*Member, len(members))
	errs := make([]error, len(members))
	var readers sync.WaitGroup
	turns := make(chan struct{}, parallelReads)
	for i, member := range members {
		if member.Lost() {
			continue
		}
		if inst, found := listing.Find(member.Instance.ID); found {
			member.Instance = inst
			refreshed[i] = &member
			continue
		}
		readers.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			inst, found, err := m.Cache.Instances.Find(ctx, member.Instance.ID)
			switch {
			case err != nil:
				errs[i] = err
			case found:
				member.Instance = inst
				refreshed[i] = &member
			}
		})
	}
	readers.Wait()
	all = slices.Clone(members)
	for i, member := range refreshed {
		if member == nil && !members[i].Lost() && errs[i] == nil {
			notFound = append(notFound, members[i].Instance.ID)
		}
		switch {
		case errs[i] != nil:
			return nil, nil, errs[i]
		case member == nil && m.Client.LagLeft(members[i].CreatedAt, rental.NewInstanceLag) > 0:
		case member == nil || member.Instance.Destroyed():
			all[i].Instance = rental.Instance{}
		default:
			all[i] = *member
		}
	}
	return all, notFound, nil
}

// DuplicateSlotError reports that two instances have the name of the same member.
type DuplicateSlotError struct {
	Name string
	IDs  []string
}

// Error implements error.
func (e *DuplicateSlotError) Error() string {
	return fmt.Sprintf("the instances %s have the same name %q", strings.Join(e.IDs, " and "), e.Name)
}

// Named returns the active instances that have the names of members of a fleet, in their order. Two of them can have
// the same slot.
func Named(instances []rental.Instance, fleet string) (named []Member) {
	for _, inst := range instances {
		name, slot, ok := ParseMemberName(inst.NameString())
		if ok && name == fleet && !inst.Destroyed() {
			named = append(named, Member{Slot: slot, Instance: inst})
		}
	}
	return named
}

// ByName returns the active instances that have the names of members of a fleet, sorted by slot.
func ByName(instances []rental.Instance, fleet string) ([]Member, error) {
	members := sortBySlot(Named(instances, fleet))
	for i := 1; i < len(members); i++ {
		one, other := members[i-1], members[i]
		if one.Slot == other.Slot {
			ids := []string{one.Instance.ID, other.Instance.ID}
			return nil, &DuplicateSlotError{other.Instance.NameString(), ids}
		}
	}
	return members, nil
}
