package reconcile

import (
	"context"
	"errors"

	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// rent rents an instance for an empty slot, and begins to wait for it. Without a candidate it only recovers the
// instance of an earlier run. held is the hold of a replacement; nil without one. It returns true if nothing was rented
// and another offer may be tried.
func (a *apply) rent(
	ctx context.Context, change Change, candidate *placement.Candidate, held spending.Hold,
) (again bool) {
	slot := change.Slot
	request := a.request(change, candidate)
	request.Hold = a.hold(slot, a.Spending.Rentals())
	if held != nil {
		defer held.Release() // does nothing after Commit
		request.Hold = useHeld(held, candidate.KopH, request.Hold)
	}
	if candidate != nil && (a.halted() || ctx.Err() != nil) {
		a.release(candidate)
		return true
	}
	placed, err := a.Placement.Create(ctx, request)
	if err != nil {
		return a.refused(slot, candidate, err)
	}
	member, reason := a.add(change, candidate, placed, request)
	if reason != nil {
		a.fail(slot, a.discard(ctx, member, placed.Replayed, reason))
		return false
	}
	target := a.target(*member)
	target.New = true
	a.waits.Go(func() {
		a.convergeWithinCaps(ctx, a.bootCtx, member, target, observed{Placed: placed, request: request})
	})
	return false
}

// request returns the request for the instance of a slot.
func (a *apply) request(change Change, candidate *placement.Candidate) placement.Request {
	request := placement.Request{
		Order: a.Order, Image: a.Image, Candidate: candidate, MaxPriceKopH: a.MaxPriceKopH,
		KeySource: placement.SlotKey(a.Name, change.Slot), Generation: change.Member.Generation + 1,
		Object: a.Object, RecoverWithin: a.RecoverWithin,
	}
	if a.Exists {
		request.RecoverWithin = placement.AnyAge
	}
	if change.Member.Generation == 0 {
		a.mu.Lock()
		defer a.mu.Unlock()
		request.ExpectedGeneration = a.generation
	}
	request.Order.Name = MemberName(a.Name, change.Slot)
	return request
}

// refused records a failed creation. It returns true if another offer may be tried.
func (a *apply) refused(slot int, candidate *placement.Candidate, err error) (again bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, _ := errors.AsType[*placement.Error](err)
	switch {
	case KindOf(err) == OverBudget:
		return true
	case e != nil && e.Kind == placement.NoOffer:
		return true // there is nothing to recover
	case e != nil && (e.Kind == placement.OfferRefused || e.Kind == placement.OfferAboveCap):
		a.lastRefusal = err
		if id := candidate.Offer.ID; e.Available == placement.AboveCap && a.raised[id] < maxRaised {
			a.raised[id]++ // the next list has its new price
			return true
		}
		a.tried[candidate.Offer.ID] = true
		if e.Available == placement.Available || e.Available == placement.AvailabilityUnknown {
			if a.refusals++; a.refusals >= maxRefusals {
				a.paused = err
			}
		}
		return true
	}
	a.failures[slot] = err
	a.decide(err)
	_, limit := errors.AsType[*spending.Error](err)
	if limit || e == nil && rental.IsDefinitive(err) || !a.Exists && ofOtherObject(err) {
		a.fatal = err // it is the same for all slots
	}
	return false
}

// ofOtherObject reports whether the instance of a slot may belong to another fleet with the same name. A new fleet then
// rents nothing.
func ofOtherObject(err error) bool {
	kind := placement.KindOf(err)
	return kind == placement.NotLost || kind == placement.InUse || kind == placement.OtherArguments
}

// add records a new member. It returns the reason to discard it, nil for none: the member exceeds a cap, or is not as
// requested.
func (a *apply) add(
	change Change, candidate *placement.Candidate, placed placement.Placed, request placement.Request,
) (member *Member, reason *Error) {
	member = &Member{
		Slot: change.Slot, Generation: placed.Generation, Instance: placed.Instance, Order: request.Order,
		CreatedAt: a.createdAt(placed),
	}
	if placed.OfferID != "" && candidate != nil {
		member.Offer = &Offer{placed.OfferID, placement.LocationOf(candidate.Offer)}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refusals = 0
	a.members[change.Slot] = member
	a.setInstance(member, placed.Instance)
	a.created[change.Slot] = !placed.Replayed
	if change.Member.Generation == 0 {
		a.generation = placed.Generation
	}
	delete(a.failures, change.Slot)
	if placed.Recovered {
		a.result.Recovered = append(a.result.Recovered, *member)
	}
	reason = a.exceeds(change.Slot, placed, request)
	differences := placed.Differences(request)
	if reason == nil && placed.Unreadable == nil && !placed.Recovered && len(differences) > 0 && differences[0].Harmful {
		a.discards[change.Slot] = *member
		reason = &Error{Kind: NotAsRequested, Differences: differences}
	}
	return member, reason
}

// discard destroys a new member because of reason, or stops one that another run may have rented. An interruption does
// not prevent that. If it fails, the member stays and reason contains the error.
func (a *apply) discard(ctx context.Context, member *Member, replayed bool, reason *Error) error {
	ctx, stop := rental.Detached(ctx, rental.CancelGrace)
	defer stop()
	id := member.Instance.ID
	if replayed {
		reason.Stopped = true
		stopped, err := a.Lifecycle.RequestStop(ctx, id)
		a.mu.Lock()
		defer a.mu.Unlock()
		if reason.Err = err; err != nil {
			stopped = member.Instance
		}
		a.setInstance(member, stopped)
		member.NotReady, member.AboveCap = true, true
		return reason
	}
	if reason.Err = a.Lifecycle.RequestDestroy(ctx, id, a.Client.Now()); reason.Err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		member.Rejected = true
		a.setInstance(member, member.Instance)
		return reason
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.remove(member.Slot)
	a.setDestroyed(id)
	a.destroyed++
	return reason
}
