package fleet

import (
	"cmp"
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
func (e *Engine) Refresh(ctx context.Context, members []Member) (all []Member, notFound []string, err error) {
	all = slices.Clone(members)
	missing, errs := make([]bool, len(all)), make([]error, len(all))
	var readers sync.WaitGroup
	semaphore := make(chan struct{}, parallelReads)
	for i := range all {
		if all[i].Lost() {
			continue
		}
		readers.Go(func() { // one listing serves all but the first
			semaphore <- struct{}{}
			defer func() { <-semaphore }()
			inst, found, err := e.Cache.Instances.Find(ctx, all[i].Instance.ID)
			if errs[i], missing[i] = err, err == nil && !found; found {
				all[i].observe(inst)
			}
		})
	}
	readers.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, nil, err
	}
	for i := range all {
		if missing[i] {
			notFound = append(notFound, all[i].Instance.ID)
		}
		if missing[i] && e.Client.LagLeft(all[i].CreatedAt, rental.NewInstanceLag) <= 0 {
			all[i].Instance = rental.Instance{}
		}
	}
	return all, notFound, nil
}

// observe sets the instance of a member as it was read. The member is lost if the instance is destroyed.
func (m *Member) observe(inst rental.Instance) {
	if m.Instance = inst; inst.Destroyed() {
		m.Instance = rental.Instance{}
	}
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
