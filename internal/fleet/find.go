package fleet

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// unusedKeys is how many unused keys in a row end the search for the instance of a slot: the API may have forgotten
	// the keys of destroyed instances.
	unusedKeys = 3
	// searchMargin is how long before a search an instance can have been created that its list lacks.
	searchMargin = 5 * time.Minute
	// probedSlots is how many free slots are requested at once without a name in a list, as many as can be rented at
	// once.
	probedSlots = 16
)

// find takes the instances that are the fleet's by their keys and are not in the state: of slots whose creation had an
// unknown outcome, and those that an interrupted apply rented. A new fleet with a chosen seed finds what an interrupted
// creation rented. One with a random seed has nothing to find. The error is that of the list: then some instances may
// not have been found.
func (r *run) find(ctx context.Context, destroys bool) error {
	if r.Owner.Seed.New() {
		return nil
	}
	began := r.Lifecycle.Client.Now()
	slots := map[int]bool{}
	for slot, member := range r.members {
		if member.Unknown {
			slots[slot] = true
		}
	}
	listed, err := r.list(ctx)
	for _, named := range Named(listed, r.Name) {
		if r.Owner.Seed.Chosen() || r.mayBeFound(named.Instance) && r.members[named.Slot].Missing() {
			slots[named.Slot] = true
		}
	}
	nameless := func(inst rental.Instance) bool { return inst.Omitted.Name && !inst.Destroyed() && r.mayBeFound(inst) }
	findErr := r.findKeys(ctx, slices.Sorted(maps.Keys(slots)))
	if r.generation > 1 { // the first keys of a slot can be unused: see order
		maps.DeleteFunc(slots, func(slot int, _ bool) bool { return !r.members[slot].Missing() })
		findErr = cmp.Or(findErr, r.findKeys(ctx, slices.Sorted(maps.Keys(slots))))
	}
	if destroys || r.Owner.GenerationsUnknown || slices.ContainsFunc(listed, nameless) {
		findErr = cmp.Or(findErr, r.probe(ctx, destroys))
	}
	if rental.IsListTooLong(err) {
		err = nil // another attempt would end in the same way
	}
	if err == nil && findErr == nil {
		r.result.SearchedAt = began
	}
	return err
}

// probe finds instances that the list lacks or has without names: in free slots, and in a destruction also beyond the
// size. An apply rents for the slots in their order until the first one has an instance, so that the lowest of several
// free slots shows whether there is one in a higher slot. With the generations of its slots, an apply requests their
// keys when it rents.
func (r *run) probe(ctx context.Context, destroys bool) error {
	isFree := func(slot int) bool {
		return r.members[slot].Missing() && r.failures[slot].Err == nil && !r.ofOther[slot]
	}
	var free []int
	for slot := range r.Size {
		if isFree(slot) {
			free = append(free, slot)
		}
	}
	for group := range slices.Chunk(free, probedSlots) {
		if err := r.findKeys(ctx, group); err != nil {
			return err
		}
		if isFree(group[0]) {
			break
		}
	}
	for slot := r.Size; destroys && ctx.Err() == nil; slot++ {
		if !isFree(slot) {
			continue
		}
		if err := r.findKeys(ctx, []int{slot}); err != nil || isFree(slot) {
			return err
		}
	}
	return nil
}

// mayBeFound reports whether an instance may be the fleet's and not in the state. Only its key proves that it is. An
// earlier apply has requested the keys of older instances.
func (r *run) mayBeFound(inst rental.Instance) bool {
	older := !inst.CreatedAt.IsZero() && inst.CreatedAt.Before(r.Owner.SearchedAt.Add(-searchMargin))
	return !older && !r.Lifecycle.Owners.Has(inst.ID)
}

// findKeys requests the keys of slots without an instance, and takes the instances that were rented under them. It
// records why an instance cannot be taken, and returns the first reason. A new fleet then takes none.
func (r *run) findKeys(ctx context.Context, slots []int) (first error) {
	found, errs := make([]lifecycle.Rented, len(slots)), make([]error, len(slots))
	var all sync.WaitGroup
	for i, slot := range slots {
		member := r.members[slot]
		member.Slot = slot
		all.Go(func() { found[i], errs[i] = r.findMember(ctx, member) })
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
		case first != nil && r.Owner.Seed.Chosen():
			r.Lifecycle.Owners.Release(found[i].ID)
		default:
			r.members[slot] = r.newMember(slot, found[i])
			r.found[slot], r.rented[slot] = found[i], found[i]
			if r.Owner.Seed.Chosen() {
				r.generation = max(r.generation, found[i].Generation)
			}
		}
	}
	return first
}

// findMember returns the instance that was rented under a key of the slot of a member, if there is one. If the outcome
// of a creation is unknown, its key can be a chosen one, which proves less.
func (r *run) findMember(ctx context.Context, member Member) (lifecycle.Rented, error) {
	orders := []lifecycle.Order{r.order(r.Owner.Seed, member)}
	switch {
	case member.Key != "":
		order := r.order(r.Owner.Chosen, member)
		order.Seed, order.Generation = lifecycle.ExactKey(member.Key), 1
		orders = append(orders, order)
	case member.Unknown && r.Owner.GenerationsUnknown && r.Owner.Chosen.Chosen(): // the private state had the key
		orders = append(orders, r.order(r.Owner.Chosen, member))
	}
	for _, order := range orders {
		if rented, found, err := r.Lifecycle.Find(ctx, order, unusedKeys); found || err != nil {
			return rented, err
		}
	}
	return lifecycle.Rented{}, nil
}

// order returns the order for the next instance of the slot of a member. If a creation under a chosen seed has found
// the first keys of one slot used by those before it, they have used those of the other slots, too, most likely. A slot
// that they did not have then gets an instance although its first keys are unused.
func (r *run) order(seed lifecycle.KeySeed, member Member) lifecycle.Order {
	order := lifecycle.Order{
		Request: r.Request, ExpectedImage: r.Image, MaxPriceKopH: r.Target.MaxPriceKopH, Seed: seed.Slot(member.Slot),
		Generation: member.Generation + 1, Object: r.Owner.Object, RecoverWithin: r.RecoverWithin,
		Replaces: member.Instance.ID,
	}
	if seed.Chosen() {
		order.Generation = max(1, r.generation-1)
	}
	order.Request.Name = MemberName(r.Name, member.Slot)
	return order
}
