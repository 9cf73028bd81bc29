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

// clockTolerance is how much older than its fleet the API may state a member to be.
const clockTolerance = time.Minute

// find takes the instances that are the fleet's by their keys and are not in the state: of slots whose creation had an
// unknown outcome, and those that an interrupted apply rented, as far as the names in a list show them. A new fleet
// with a chosen seed finds what an interrupted creation rented. One with a random seed has nothing to find. The error is
// that of the list: then some instances may not have been found.
func (r *run) find(ctx context.Context) error {
	if !r.Exists && !r.Chosen.Chosen() {
		return nil
	}
	slots := map[int]bool{}
	for slot, member := range r.members {
		slots[slot] = member.Unknown
	}
	maps.DeleteFunc(slots, func(_ int, unknown bool) bool { return !unknown })
	listed, err := r.List(ctx, r.Name)
	for _, named := range listed {
		if r.mayBeOwn(named) {
			slots[named.Slot] = true
		}
	}
	_ = r.ask(ctx, slices.Sorted(maps.Keys(slots))) //nolint:errcheck // the failures of the slots
	if rental.IsListTooLong(err) {
		err = nil // another attempt would end in the same way
	}
	return err
}

// mayBeOwn reports whether an active instance with the name of a member that is none can be the fleet's. Only its key
// proves that it is.
func (r *run) mayBeOwn(named Member) bool {
	created := named.Instance.CreatedAt
	older := !created.IsZero() && created.Before(r.CreatedAt.Add(-clockTolerance)) // than the fleet
	_, owned := r.Lifecycle.Owners.Owner(named.Instance.ID)
	if !r.Exists {
		return named.Slot < r.Size
	}
	return !older && !owned && r.members[named.Slot].Lost()
}

// ask requests the keys of slots without an instance, and takes the instances that were rented under them. It records
// why an instance cannot be taken, and returns the first reason. A new fleet then takes none.
func (r *run) ask(ctx context.Context, slots []int) (first error) {
	found, errs := make([]lifecycle.Rented, len(slots)), make([]error, len(slots))
	var all sync.WaitGroup
	for i, slot := range slots {
		member := r.members[slot]
		member.Slot = slot
		orders := []lifecycle.Order{r.order(member)}
		if r.Exists && member.Unknown && r.Chosen.Chosen() { // the creation of the fleet may have requested it
			orders = append(orders, r.chosenOrder(member))
		}
		all.Go(func() { found[i], errs[i] = r.askKeys(ctx, orders) })
	}
	all.Wait()
	first = cmp.Or(errs...)
	for i, slot := range slots {
		member := r.members[slot]
		if errs[i] != nil {
			r.fail(slot, member, errs[i])
		} else if member.Unknown {
			member.Unknown = false
			r.members[slot] = member
		}
	}
	for i, slot := range slots {
		switch {
		case found[i].ID == "":
		case first != nil && !r.Exists:
			r.Lifecycle.Owners.Release(found[i].ID)
		default:
			r.keep(slot, found[i])
		}
	}
	return first
}

// askKeys returns the instance that was rented under the first key that has one; the zero value if none has.
func (r *run) askKeys(ctx context.Context, orders []lifecycle.Order) (lifecycle.Rented, error) {
	for _, order := range orders {
		rented, err := r.Lifecycle.Recover(ctx, order)
		if failure.KindOf(err) != failure.NoOffer {
			return rented, err
		}
	}
	return lifecycle.Rented{}, nil
}

// keep adds an instance that was found. Its price counts at once, unless it does not fit: then the comparison with its
// order refuses it, and not another member.
func (r *run) keep(slot int, found lifecycle.Rented) {
	r.members[slot] = r.newMember(r.order(Member{Slot: slot}), slot, found)
	r.found[slot], r.rented[slot] = found, found
	if price := found.Price.RunningKopH; price <= r.total.Left() {
		r.total.Set(ledgerKey(slot), price)
	}
}

// order returns the order for the next instance of the slot of a member.
func (r *run) order(member Member) lifecycle.Order {
	if !r.Exists && r.Chosen.Chosen() {
		return r.chosenOrder(member)
	}
	order := r.orderWith(lifecycle.FleetSeed(r.ID, !r.Exists), member)
	order.Generation = member.Generation + 1
	return order
}

// chosenOrder returns the order for an instance that the creation of the fleet rents under a chosen seed. If the
// creations before this one have used the keys of another slot, they have used those of this slot, too, most likely.
func (r *run) chosenOrder(member Member) lifecycle.Order {
	order := r.orderWith(r.Chosen, member)
	order.Generation = max(1, r.generation-1)
	return order
}

func (r *run) orderWith(seed lifecycle.KeySeed, member Member) lifecycle.Order {
	order := lifecycle.Order{
		InstanceCreate: r.Order, ExpectedImage: r.Image, Seed: seed.Slot(member.Slot), Object: r.Object,
		RecoverWithin: r.RecoverWithin, Target: r.target(Member{Slot: member.Slot}),
	}
	order.Name = MemberName(r.Name, member.Slot)
	return order
}
