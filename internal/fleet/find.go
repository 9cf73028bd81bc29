package fleet

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// unusedKeys is how many unused keys in a row end the search for the instance of a slot: the API may have forgotten
	// the keys of destroyed instances.
	unusedKeys = 3
	// searchMargin is how long before a search an instance can have been created that its list lacks.
	searchMargin = 5 * time.Minute
	// probedSlots is how many free slots are requested at once without a name in a list, as many as can be rented at once.
	probedSlots = 16
)

// find takes the instances that are the fleet's by their keys and are not in the state: of slots whose creation had an
// unknown outcome, and those that an interrupted apply rented. A new fleet with a chosen seed finds what an interrupted
// creation rented. One with a random seed has nothing to find. The error is that of the list: then some instances may
// not have been found.
func (r *run) find(ctx context.Context, destroys bool) error {
	if r.Seed.New() {
		return nil
	}
	began := r.Lifecycle.Client.Now()
	slots := map[int]bool{}
	for slot, member := range r.members {
		if member.Unknown {
			slots[slot] = true
		}
	}
	listed, err := r.List(ctx, r.Name)
	for _, named := range listed {
		if r.mayBeOwn(named) {
			slots[named.Slot] = true
		}
	}
	asked := r.ask(ctx, slices.Sorted(maps.Keys(slots)))
	if rental.IsListTooLong(err) {
		err = nil // another attempt would end in the same way
	}
	if err == nil && asked == nil {
		r.result.SearchedAt = began
	}
	if destroys || r.GenerationsUnknown {
		r.probe(ctx, destroys)
	}
	return err
}

// probe finds instances that the list lacks, because it lags or omits names: in free slots, and in a destruction also
// beyond the size. An apply fills slots one after the other until the first one has an instance, so that the lowest of
// some free slots shows whether there is any in a higher one. With the generations of its slots, an apply requests
// their keys when it fills them.
func (r *run) probe(ctx context.Context, destroys bool) {
	isFree := func(slot int) bool { return r.members[slot].Lost() && r.failures[slot].Err == nil && !r.ofOther[slot] }
	var free []int
	for slot := range r.Size {
		if isFree(slot) {
			free = append(free, slot)
		}
	}
	for group := range slices.Chunk(free, probedSlots) {
		if err := r.ask(ctx, group); err != nil || isFree(group[0]) {
			break
		}
	}
	for slot := r.Size; destroys && ctx.Err() == nil; slot++ {
		if !isFree(slot) {
			continue
		}
		if err := r.ask(ctx, []int{slot}); err != nil || isFree(slot) {
			return
		}
	}
}

// mayBeOwn reports whether an active instance with a member's name, which is not a member, may be the fleet's. Only its
// key proves that it is. An earlier apply has requested the keys of older instances.
func (r *run) mayBeOwn(named Member) bool {
	if r.Seed.Chosen() {
		return true
	}
	created := named.Instance.CreatedAt
	older := !created.IsZero() && created.Before(r.SearchedAt.Add(-searchMargin))
	return !older && !r.Lifecycle.Owners.Has(named.Instance.ID) && r.members[named.Slot].Lost()
}

// RentedBefore reports whether the reason for a failure is an instance that was rented before under the key and that
// the fleet may not take.
func RentedBefore(err error) bool {
	switch failure.KindOf(err) {
	case failure.NotLost, failure.OtherArguments, failure.InUse:
		return true
	default:
		return false
	}
}

// ask requests the keys of slots without an instance, and takes the instances that were rented under them. It records
// why an instance cannot be taken, and returns the first reason. A new fleet then takes none.
func (r *run) ask(ctx context.Context, slots []int) (first error) {
	found, errs := make([]lifecycle.Rented, len(slots)), make([]error, len(slots))
	var all sync.WaitGroup
	for i, slot := range slots {
		member := r.members[slot]
		member.Slot = slot
		all.Go(func() { found[i], errs[i] = r.askKeys(ctx, member) })
	}
	all.Wait()
	first = cmp.Or(errs...)
	for i, slot := range slots {
		member := r.members[slot]
		if errs[i] != nil {
			r.fail(slot, member, errs[i])
		} else if member.Unknown {
			member.Unknown, member.Key = false, ""
			r.members[slot] = member
		}
	}
	for i, slot := range slots {
		switch {
		case found[i].ID == "":
		case first != nil && r.Seed.Chosen():
			r.Lifecycle.Owners.Release(found[i].ID)
		default:
			r.keep(slot, found[i])
		}
	}
	return first
}

// askKeys returns the instance that was rented under a key of the slot of a member; the zero value if there is none. If
// the outcome of a creation is unknown, its key can be a chosen one, which proves less.
func (r *run) askKeys(ctx context.Context, member Member) (lifecycle.Rented, error) {
	orders := []lifecycle.Order{r.order(r.Seed, member)}
	switch {
	case member.Key != "":
		order := r.order(r.Chosen, member)
		order.Seed, order.Generation = lifecycle.ExactKey(member.Key), 1
		orders = append(orders, order)
	case member.Unknown && r.GenerationsUnknown && r.Chosen.Chosen(): // the private state had the key
		orders = append(orders, r.order(r.Chosen, member))
	}
	for _, order := range orders {
		for range unusedKeys {
			rented, err := r.Lifecycle.Recover(ctx, order)
			unused := failure.As(err)
			if unused.Kind != failure.NoOffer {
				return rented, err
			}
			order.Generation = unused.Generation + 1
		}
	}
	return lifecycle.Rented{}, nil
}

// keep adds an instance that was found.
func (r *run) keep(slot int, found lifecycle.Rented) {
	r.members[slot] = r.newMember(r.order(r.Seed, Member{Slot: slot}), slot, found)
	r.found[slot], r.rented[slot] = found, found
}

// order returns the order for the next instance of the slot of a member. If a creation under a chosen seed has found
// the first keys of one slot used by those before it, they have used those of the other slots, too, most likely.
func (r *run) order(seed lifecycle.KeySeed, member Member) lifecycle.Order {
	order := lifecycle.Order{
		InstanceCreate: r.Order, ExpectedImage: r.Image, Seed: seed.Slot(member.Slot), Generation: member.Generation + 1,
		Object: r.Object, RecoverWithin: r.RecoverWithin, Target: r.target(Member{Slot: member.Slot}),
	}
	if seed.Chosen() {
		order.Generation = max(1, r.generation-1)
	}
	order.Name = MemberName(r.Name, member.Slot)
	return order
}
