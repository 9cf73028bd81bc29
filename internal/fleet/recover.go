package fleet

import (
	"cmp"
	"context"
	"sync"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// recoverNamed takes the instances that a killed run rented for new members, as far as a list shows them, before
// anything else is done. If the account cannot be listed, a new fleet rents nothing: the keys do not find an instance
// whose key the API has forgotten.
func (r *run) recoverNamed(ctx context.Context, creates []Change) error {
	if len(creates) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	listing, err := r.Cache.Instances.List(ctx)
	if err != nil && !r.Exists && !rental.IsListTooLong(err) {
		r.failAll(creates, err)
		return err
	}
	named := map[int][]rental.Instance{}
	if listing != nil {
		for _, member := range Named(listing.Items, r.Name) {
			owner, found := r.Lifecycle.Owners.Owner(member.Instance.ID)
			if !owner.Destroyed && (!found || !r.Exists) {
				named[member.Slot] = append(named[member.Slot], member.Instance)
			}
		}
	}
	return r.recover(ctx, filter(creates, func(c Change) bool { return named[c.Slot] != nil }), named)
}

// recover takes the instances that a killed run rented for some slots. It records why an instance cannot be taken, and
// returns the first reason. A new fleet then takes nothing; the same applies if its key does not return an instance
// with the name of a slot.
func (r *run) recover(ctx context.Context, changes []Change, named map[int][]rental.Instance) (first error) {
	found, errs := make([]lifecycle.Rented, len(changes)), make([]error, len(changes))
	var all sync.WaitGroup
	for i, change := range changes {
		order := r.order(change)
		all.Go(func() {
			found[i], errs[i] = r.Lifecycle.Recover(ctx, order)
			if change.Generation > 0 && len(named[change.Slot]) > 0 && failure.KindOf(errs[i]) == failure.NoOffer {
				// If the API has forgotten the key of the slot's last instance, a later run may have used it again.
				order.Generation = change.Generation
				found[i], errs[i] = r.Lifecycle.Recover(ctx, order)
			}
		})
	}
	all.Wait()
	for i, change := range changes {
		if failure.KindOf(errs[i]) == failure.NoOffer {
			errs[i] = nil // nothing was rented under the key
		}
		for _, inst := range named[change.Slot] {
			if errs[i] == nil && !r.Exists && inst.ID != found[i].ID {
				errs[i] = &failure.Error{Kind: failure.NotByKey, Instance: inst}
				if r.Lifecycle.Owners.Has(inst.ID) {
					errs[i] = &failure.Error{Kind: failure.InUse, Instance: inst}
				}
			}
		}
		if errs[i] != nil {
			r.fail(change.Slot, r.members[change.Slot], errs[i])
		}
	}
	first = cmp.Or(errs...)
	for i, change := range changes {
		switch {
		case found[i].ID == "":
		case first != nil && !r.Exists:
			r.Lifecycle.Owners.Release(found[i].ID)
		default:
			r.keep(change, found[i])
		}
	}
	return first
}

// keep adds an instance that a killed run rented. Its price counts at once, unless it does not fit: then the comparison
// with its order refuses it, and not another member.
func (r *run) keep(change Change, found lifecycle.Rented) {
	r.members[change.Slot] = r.newMember(r.order(change), change.Slot, found)
	r.found[change.Slot], r.rented[change.Slot] = found, found
	if price := found.Price.RunningKopH; price <= r.total.Left() {
		r.total.Set(ledgerKey(change.Slot), price)
	}
}

// order returns the order for the next instance of a slot.
func (r *run) order(change Change) lifecycle.Order {
	order := lifecycle.Order{
		InstanceCreate: r.Order, ExpectedImage: r.Image, Keys: lifecycle.SlotKey(r.Name, change.Slot),
		Generation: change.Generation + 1, Object: r.Object, RecoverWithin: r.RecoverWithin,
		Target: r.target(Member{Slot: change.Slot}),
	}
	if change.Generation == 0 {
		order.ExpectedGeneration = r.generation
	} else {
		// The slot has been this fleet's, so its next key is, too. A killed update may have rented the instance with other
		// arguments, which the next plan shows.
		order.RecoverWithin = lifecycle.AnyAge
	}
	order.Name = MemberName(r.Name, change.Slot)
	return order
}
