package fleet

import (
	"cmp"
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// slotContext makes the changes of single slots. The slots share only what is safe for concurrent use: the market, the
// ledgers and the manager of instances.
type slotContext struct {
	*Engine
	Spec
	total *spending.Ledger // prices of the members by slot, and the total cap
}

// slotResult is what became of a slot.
type slotResult struct {
	slot   int
	member Member // as it is now; lost if there is no instance
	// was is the instance that the slot had during the change, for messages.
	was       Member
	fills     bool // the change was to rent an instance
	rented    bool // there was one
	created   bool // this apply rented it for certain
	recovered bool // an earlier run rented it
	// notFound is the instance that was to be destroyed, if the API does not find it.
	notFound Member
	err      error
}

// destroy destroys a member and waits until it is gone.
func (w slotContext) destroy(ctx context.Context, member Member) slotResult {
	result := slotResult{slot: member.Slot, member: member, was: member}
	accepted, err := w.Lifecycle.Destroy(ctx, member.Instance.ID, member.CreatedAt)
	if err != nil {
		result.err = &failure.Error{Kind: failure.NotDestroyed, Accepted: accepted, Err: err}
		return result
	}
	w.Market.Destroyed(member.OfferID())
	w.total.Destroyed(ledgerKey(member.Slot))
	if !accepted {
		result.notFound = member
	}
	result.member.Instance = rental.Instance{}
	return result
}

// target returns the desired state of a member.
func (w slotContext) target(member Member) lifecycle.Target {
	return lifecycle.Target{
		State: w.State, OnOutbid: w.OnOutbid, MaxPriceKopH: w.MaxPriceKopH, OfferID: member.OfferID(),
		Template: w.Order.Template, Ready: w.Ready, CreatedAt: member.CreatedAt, Hold: w.hold(member.Slot),
	}
}

// move takes an existing member to the desired state.
func (w slotContext) move(ctx context.Context, member Member) slotResult {
	inst, _, err := w.Lifecycle.Converge(ctx, member.Instance, w.target(member))
	w.total.Set(ledgerKey(member.Slot), inst.Price.RunningKopH)
	return w.converged(member, inst, err)
}

// converged returns the result of a wait for a member.
func (w slotContext) converged(member Member, inst rental.Instance, err error) slotResult {
	if err == nil && w.State == rental.DesiredRunning && inst.Status != rental.StatusRunning {
		err = &failure.Error{Kind: failure.KeptOutbid}
	}
	member.Instance, member.NotReady = inst, err != nil
	return slotResult{slot: member.Slot, member: member, was: member, err: err}
}

// reservedOffer is an offer that is reserved for a slot.
type reservedOffer struct {
	candidate *lifecycle.Candidate // nil for none
	held      spending.Hold        // its price within the limits; nil for none
	replaced  string               // the id of the instance that makes room for it; empty for none
}

// release ends the reservation of the price.
func (r reservedOffer) release() {
	if r.held != nil {
		r.held.Release()
	}
}

// hold returns a comparison with limits that takes the place of the price that is held now.
func (r reservedOffer) hold(compare spending.HoldFunc) spending.HoldFunc {
	if compare == nil {
		return nil
	}
	return func(ctx context.Context, id string, kopH int64) (spending.Hold, error) {
		held, err := compare(ctx, cmp.Or(id, r.replaced), kopH)
		r.release()
		return held, err
	}
}

// fill rents an instance for a slot and waits until it is ready. It destroys the member in the slot only when there is
// an offer for its replacement.
func (w slotContext) fill(
	ctx context.Context, change Change, order lifecycle.Order, search *market.Search, reserved reservedOffer,
) slotResult {
	reserved.replaced = change.Member.Instance.ID
	defer func() { reserved.release() }()
	var replaced slotResult
	if change.Destroys() {
		if replaced = w.makeRoom(ctx, change.Member, search, &reserved); replaced.err != nil {
			replaced.fills = true
			return replaced
		}
	}
	order.Target.Hold = reserved.hold(w.hold(change.Slot))
	rented, err := search.Rent(ctx, order, reserved.candidate)
	result := w.filled(order, change, rented, err)
	result.notFound = replaced.notFound
	return result
}

// makeRoom destroys a member when an offer is reserved for its replacement and the limits allow its price. With an
// error it releases the offer.
func (w slotContext) makeRoom(
	ctx context.Context, member Member, search *market.Search, reserved *reservedOffer,
) slotResult {
	result := slotResult{slot: member.Slot, member: member, was: member}
	if reserved.candidate == nil {
		offers, err := search.Take(ctx, 1, 1, !search.All, member.Instance.Price.RunningKopH)
		if result.err = err; err != nil {
			return result
		}
		reserved.candidate = &offers[0]
	}
	if hold := reserved.hold(w.hold(member.Slot)); hold != nil {
		reserved.held, result.err = hold(ctx, "", reserved.candidate.KopH)
	}
	if ctx.Err() != nil {
		result.err = &failure.Error{Kind: failure.Interrupted, Err: ctx.Err()}
	}
	if result.err == nil {
		result.err = search.Err()
	}
	if result.err == nil {
		result = w.destroy(ctx, member)
	}
	if result.err != nil {
		search.Release(*reserved.candidate)
	}
	return result
}

// finishFound waits for an instance that was found for a slot.
func (w slotContext) finishFound(
	ctx context.Context, order lifecycle.Order, change Change, found lifecycle.Rented,
) slotResult {
	rented, err := w.Lifecycle.Finish(ctx, order, found)
	return w.filled(order, change, rented, err)
}

// newMember returns the member that was rented for an order.
func (w slotContext) newMember(order lifecycle.Order, slot int, rented lifecycle.Rented) Member {
	member := Member{
		Slot: slot, Generation: rented.Generation, Instance: rented.Instance, Order: order.InstanceCreate,
		CreatedAt: rented.CreatedAt, NotReady: true,
	}
	if member.CreatedAt.IsZero() {
		member.CreatedAt = w.Client.Now()
	}
	if rented.Recovered { // it can have other arguments
		member.Order = OrderOf(rented.Instance)
	}
	if rented.Candidate != nil {
		member.Offer = &Offer{rented.Candidate.Offer.ID, market.LocationOf(rented.Candidate.Offer)}
	}
	return member
}

// filled returns the result of a rental and of the wait after it.
func (w slotContext) filled(order lifecycle.Order, change Change, rented lifecycle.Rented, err error) slotResult {
	slot := change.Slot
	if rented.ID == "" {
		empty := Member{Slot: slot, Generation: change.Member.Generation}
		return slotResult{slot: slot, member: empty, was: empty, fills: true, err: err}
	}
	result := w.converged(w.newMember(order, slot, rented), rented.Instance, err)
	result.fills, result.rented, result.created, result.recovered = true, true, !rented.Replayed, rented.Recovered
	e := failure.As(err)
	result.member.Rejected = result.created && e.Removal == failure.NotRemoved
	if e.Kind == failure.Gone || e.Removal == failure.Destroyed {
		result.member.Instance = rental.Instance{}
		w.total.Destroyed(ledgerKey(slot))
	} else {
		w.total.Set(ledgerKey(slot), rented.Price.RunningKopH)
	}
	return result
}
