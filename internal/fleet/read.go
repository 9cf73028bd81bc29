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

// Refresh reads the members. Those that the API reports as destroyed or not found become missing. A new instance that
// is not found stays as it was, because the API may not find it yet. notFound are all ids that the API does not find.
func (e *Engine) Refresh(ctx context.Context, members []Member) (all []Member, notFound []string, err error) {
	all = slices.Clone(members)
	missing, errs := make([]bool, len(all)), make([]error, len(all))
	var readers sync.WaitGroup
	semaphore := make(chan struct{}, parallelReads)
	for i := range all {
		if all[i].Missing() {
			continue
		}
		readers.Go(func() { // one listing serves all but the first
			semaphore <- struct{}{}
			defer func() { <-semaphore }()
			inst, found, err := e.Cache.Instances.Find(ctx, all[i].Instance.ID)
			errs[i], missing[i] = err, err == nil && !found
			switch {
			case found && inst.Destroyed():
				all[i].Instance = rental.Instance{}
			case found:
				all[i].Instance = inst
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
		if missing[i] && e.Lifecycle.Client.LagLeft(all[i].CreatedAt, rental.NewInstanceLag) <= 0 {
			all[i].Instance = rental.Instance{}
		}
	}
	return all, notFound, nil
}

// List returns the active instances that have the names of members of a fleet. An instance whose name the API omits
// each time counts as one without a name. With an error it returns what could be listed.
func (e *Engine) List(ctx context.Context, fleet string) ([]Member, error) {
	instances, err := e.list(ctx)
	return Named(instances, fleet), err
}

// list returns the instances. It reads those whose names the list omits.
func (e *Engine) list(ctx context.Context) (instances []rental.Instance, err error) {
	listing, err := e.Cache.Instances.List(ctx)
	if listing == nil {
		return nil, err
	}
	instances = slices.Clone(listing.Items)
	for i, inst := range instances {
		if inst.Omitted.Name {
			instances[i] = e.Lifecycle.Client.ReadOmitted(ctx, inst)
		}
	}
	return instances, err
}

// Named returns the active instances that have the names of members of a fleet, in their order. Two of them can have
// the same slot.
func Named(instances []rental.Instance, fleet string) (named []Member) {
	for _, inst := range instances {
		name, slot, ok := ParseMemberName(inst.NameString())
		if ok && strings.EqualFold(name, fleet) && !inst.Destroyed() {
			named = append(named, Member{Slot: slot, Instance: inst})
		}
	}
	return named
}

// Distinct sorts named members by slot. It is an error if two of them have the same name.
func Distinct(members []Member) ([]Member, error) {
	members = sortBySlot(members)
	for i := 1; i < len(members); i++ {
		one, other := members[i-1], members[i]
		if one.Slot == other.Slot {
			return nil, fmt.Errorf("%s and %s have the same name %q",
				one.Instance.ID, other.Instance.ID, other.Instance.NameString())
		}
	}
	return members, nil
}
