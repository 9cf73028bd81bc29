package fleet

import (
	"cmp"
	"context"
	"errors"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// slotContext makes the changes of single slots. The slots share only what is safe for concurrent use: the market and
// the manager of instances.
type slotContext struct {
	*Engine
	Spec
}

// slotResult is what became of a slot.
type slotResult struct {
	member   Member           // as it is now; missing if there is no instance
	was      Member           // the instance that the slot had during the change, for messages
	rented   lifecycle.Rented // the new instance of the slot; zero if there is none
	notFound Member           // the instance that was to be destroyed, if the API does not find it
	replaced string           // the id of the instance that was destroyed for the new one
	err      error
}

// rent rents an instance for a slot from an offer, or without one from the next offer, sends the event that it is
// rented, and waits until it is ready.
func (w slotContext) rent(
	ctx context.Context, change Change, order lifecycle.Order, search *market.Search, offers []lifecycle.Candidate,
	events chan<- event,
) slotResult {
	var rented lifecycle.Rented
	var result slotResult
	if change.Destroys() {
		if rented, result = w.replace(ctx, change.Member, order, search, offers); result.replaced == "" {
			return result
		}
	} else {
		rented, result.err = search.Rent(ctx, order, offers...)
	}
	if rented.ID == "" {
		result.member = w.withoutInstance(change.Member, order.Seed, result.err)
		result.was = result.member
		return result
	}
	if rented.Rejection() == nil { // else the end of the slot follows soon: it must not happen to the others
		events <- event{change: change, rented: rented}
	}
	return w.converge(ctx, change.Slot, rented, result)
}

// replace destroys a member as soon as there is an offer for its replacement, within the burn limit, and rents that.
// Without an offer, above the limit or after the end of the search, the member stays.
func (w slotContext) replace(
	ctx context.Context, member Member, order lifecycle.Order, search *market.Search, offers []lifecycle.Candidate,
) (rented lifecycle.Rented, result slotResult) {
	result = slotResult{member: member, was: member}
	if len(offers) == 0 {
		if offers, result.err = search.Take(ctx, 1, 1, true); result.err != nil {
			return rented, result
		}
	}
	kopH := offers[0].KopH
	err := w.Lifecycle.Account.Spend(ctx, member.Instance.ID, kopH, func(context.Context) (billed string, err error) {
		if err := cmp.Or(ctx.Err(), search.Err()); err != nil {
			return "", err
		}
		if result = w.destroy(ctx, member); result.err != nil {
			return "", result.err
		}
		result.replaced = member.Instance.ID
		rented, err = search.Rent(ctx, order, offers...)
		return rented.ID, err
	})
	if result.replaced == "" {
		search.Release(offers...)
	}
	switch {
	case result.err != nil: // not destroyed
	case result.replaced == "" && ctx.Err() != nil:
		result.err = lifecycle.Interrupted{Err: ctx.Err()}
	default:
		result.err = err
	}
	return rented, result
}

// destroy destroys a member and waits until it is destroyed.
func (w slotContext) destroy(ctx context.Context, member Member) slotResult {
	accepted, err := w.Lifecycle.Destroy(ctx, member.Instance.ID, member.CreatedAt)
	if err != nil {
		return slotResult{member: member, was: member, err: NotDestroyed{Accepted: accepted, Err: err}}
	}
	w.Market.Destroyed(member.Offer.ID)
	result := slotResult{member: Member{Slot: member.Slot, Generation: member.Generation}, was: member}
	if !accepted {
		result.notFound = member
	}
	return result
}

// move takes an existing member to the desired state.
func (w slotContext) move(ctx context.Context, member Member) slotResult {
	target := w.Target
	target.OfferID, target.CreatedAt = member.Offer.ID, member.CreatedAt
	now, err := w.Lifecycle.Converge(ctx, member.Instance, target)
	return w.moved(slotResult{}, member, now.Instance, err)
}

// converge takes a new or found instance to the desired state. result is what happened in the slot before.
func (w slotContext) converge(ctx context.Context, slot int, rented lifecycle.Rented, result slotResult) slotResult {
	now, err := w.Lifecycle.ConvergeRented(ctx, rented, w.Target)
	rented.Instance = now.Instance
	result = w.moved(result, w.newMember(slot, rented), now.Instance, err)
	result.rented = rented
	_, missing := errors.AsType[lifecycle.Missing](err)
	rejected, isRejected := errors.AsType[lifecycle.Rejected](err)
	destroyed := isRejected && rejected.Removal == lifecycle.Destroyed
	result.member.Rejected = rented.ByThisCreation() && isRejected && rejected.Removal == lifecycle.NotRemoved
	if missing || destroyed {
		result.member.Instance = rental.Instance{}
	}
	return result
}

// moved adds the result of a wait for a member.
func (w slotContext) moved(result slotResult, member Member, inst rental.Instance, err error) slotResult {
	if err == nil && w.Target.State == rental.DesiredRunning && inst.Status != rental.StatusRunning {
		err = KeptOutbid{}
	}
	member.Instance, member.NotReady = inst, err != nil
	result.member, result.was, result.err = member, member, err
	return result
}

// newMember returns the member that has a rented instance.
func (w slotContext) newMember(slot int, rented lifecycle.Rented) Member {
	member := Member{
		Slot: slot, Generation: 1, Instance: rented.Instance, Request: rented.Order.Request,
		CreatedAt: rented.CreatedAt, NotReady: true,
	}
	member.Request.Name = ""
	if member.CreatedAt.IsZero() {
		member.CreatedAt = w.Lifecycle.Client.Now()
	}
	if !rented.Order.Seed.Chosen() {
		member.Generation = rented.Generation
	}
	if rented.Recovered { // it can have other arguments
		member.Request = RequestOf(rented.Instance)
	}
	if rented.Candidate != nil {
		member.Offer = Offer{rented.Candidate.Offer.ID, market.LocationOf(rented.Candidate.Offer)}
	}
	return member
}

// withoutInstance returns the member of a slot in which nothing was rented, or in which the outcome is unknown.
func (w slotContext) withoutInstance(before Member, seed lifecycle.KeySeed, err error) Member {
	member := Member{Slot: before.Slot, Generation: before.Generation}
	unknown, ok := errors.AsType[lifecycle.OutcomeUnknown](err)
	if member.Unknown = ok; !ok {
		return member
	}
	if seed.Chosen() {
		member.Key = unknown.Key
	} else {
		member.Generation = unknown.Generation - 1 // the next key is the same one
	}
	return member
}
