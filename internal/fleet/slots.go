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

// slotContext makes the changes of single slots. The slots share only what is safe for concurrent use: the market and
// the manager of instances.
type slotContext struct {
	*Engine
	Spec
}

// slotResult is what became of a slot.
type slotResult struct {
	member   Member           // as it is now; lost if there is no instance
	was      Member           // the instance that the slot had during the change, for messages
	rented   lifecycle.Rented // the new instance of the slot; zero for none
	notFound Member           // the instance that was to be destroyed, if the API does not find it
	replaced string           // the id of the instance that was destroyed for the new one; empty for none
	err      error
}

// destroy destroys a member and waits until it is gone.
func (w slotContext) destroy(ctx context.Context, member Member) slotResult {
	accepted, err := w.Lifecycle.Destroy(ctx, member.Instance.ID, member.CreatedAt)
	if err != nil {
		err = &failure.Error{Kind: failure.NotDestroyed, Accepted: accepted, Err: err}
		return slotResult{member: member, was: member, err: err}
	}
	w.Market.Destroyed(member.Offer.ID)
	result := slotResult{member: Member{Slot: member.Slot, Generation: member.Generation}, was: member}
	if !accepted {
		result.notFound = member
	}
	return result
}

// target returns the desired state of a member.
func (w slotContext) target(member Member) lifecycle.Target {
	return lifecycle.Target{
		State: w.State, OnOutbid: w.OnOutbid, MaxPriceKopH: w.MaxPriceKopH, OfferID: member.Offer.ID,
		Template: w.Order.Template, Ready: w.Ready, CreatedAt: member.CreatedAt, Hold: w.hold(member),
	}
}

// move takes an existing member to the desired state.
func (w slotContext) move(ctx context.Context, member Member) slotResult {
	inst, _, err := w.Lifecycle.Converge(ctx, member.Instance, w.target(member))
	return w.converged(member, inst, err)
}

// converged returns the result of a wait for a member.
func (w slotContext) converged(member Member, inst rental.Instance, err error) slotResult {
	if err == nil && w.State == rental.DesiredRunning && inst.Status != rental.StatusRunning {
		err = &failure.Error{Kind: failure.KeptOutbid}
	}
	member.Instance, member.NotReady = inst, err != nil
	return slotResult{member: member, was: member, err: err}
}

// fill rents an instance for a slot from an offer, nil for none yet, and waits until it is ready. It destroys the
// member in the slot only when there is an offer for its replacement.
func (w slotContext) fill(
	ctx context.Context, change Change, order lifecycle.Order, search *market.Search, offer *lifecycle.Candidate,
) slotResult {
	hold := w.hold(change.Member)
	order.Target.Hold = hold
	var replaced slotResult
	if change.Destroys() {
		var held spending.Hold
		var err error
		if offer, held, err = w.reserve(ctx, hold, search, offer); err != nil {
			return slotResult{member: change.Member, was: change.Member, err: err}
		}
		defer held.Release()
		if hold != nil { // its first comparison takes the place of the price that is held
			order.Target.Hold = func(ctx context.Context, id string, kopH int64) (spending.Hold, error) {
				defer held.Release()
				return hold(ctx, id, kopH)
			}
		}
		if replaced = w.destroy(ctx, change.Member); replaced.err != nil {
			search.Release(*offer)
			return replaced
		}
	} else if err := search.Err(); err != nil && offer != nil {
		search.Release(*offer)
		return w.filled(order, change, lifecycle.Rented{}, err)
	}
	rented, err := search.Rent(ctx, order, offer)
	result := w.filled(order, change, rented, err)
	result.notFound, result.replaced = replaced.notFound, replaced.was.Instance.ID
	return result
}

// reserve reserves an offer for the replacement of a member if there is none yet, and holds its price within the limit
// of the account.
func (w slotContext) reserve(
	ctx context.Context, hold spending.HoldFunc, search *market.Search, offer *lifecycle.Candidate,
) (*lifecycle.Candidate, spending.Hold, error) {
	if offer == nil {
		offers, err := search.Take(ctx, 1, 1, !search.All)
		if err != nil {
			return nil, nil, err
		}
		offer = &offers[0]
	}
	held, err := hold.Ask(ctx, "", offer.KopH)
	if ctx.Err() != nil {
		err = &failure.Error{Kind: failure.Interrupted, Err: ctx.Err()}
	}
	if err = cmp.Or(err, search.Err()); err != nil {
		held.Release()
		search.Release(*offer)
	}
	return offer, held, err
}

// newMember returns the member that was rented for an order.
func (w slotContext) newMember(order lifecycle.Order, slot int, rented lifecycle.Rented) Member {
	member := Member{
		Slot: slot, Generation: 1, Instance: rented.Instance, Order: order.InstanceCreate,
		CreatedAt: rented.CreatedAt, NotReady: true,
	}
	if member.CreatedAt.IsZero() {
		member.CreatedAt = w.Lifecycle.Client.Now()
	}
	if !order.Seed.Chosen() {
		member.Generation = rented.Generation
	}
	if rented.Recovered { // it can have other arguments
		member.Order = OrderOf(rented.Instance)
	}
	if rented.Candidate != nil {
		member.Offer = Offer{rented.Candidate.Offer.ID, market.LocationOf(rented.Candidate.Offer)}
	}
	return member
}

// filled returns the result of a rental and of the wait after it.
func (w slotContext) filled(order lifecycle.Order, change Change, rented lifecycle.Rented, err error) slotResult {
	slot, e := change.Slot, failure.As(err)
	if rented.ID == "" {
		empty := Member{Slot: slot, Generation: change.Generation, Unknown: e.Kind == failure.OutcomeUnknown}
		switch {
		case !empty.Unknown:
		case order.Seed.Chosen():
			empty.Key = e.Key
		default:
			empty.Generation = e.Generation - 1 // the next key is the same one
		}
		return slotResult{member: empty, was: empty, err: err}
	}
	result := w.converged(w.newMember(order, slot, rented), rented.Instance, err)
	result.rented = rented
	result.member.Rejected = rented.ByThisCreation() && e.Removal == failure.NotRemoved
	if e.Kind == failure.Gone || e.Removal == failure.Destroyed {
		result.member.Instance = rental.Instance{}
	}
	return result
}
