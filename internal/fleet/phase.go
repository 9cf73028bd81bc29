package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// execution makes the changes of a phase. Only the goroutine that called Apply uses its fields: it starts a goroutine
// for each slot, which takes values, and handles the events that they send.
type execution struct {
	*run
	phase   Phase
	search  *market.Search
	offers  []lifecycle.Candidate // for the next rentals
	events  chan event            // has room for all events
	running int                   // slots
	renting map[int]bool          // slots of the current step with an offer that are not rented yet
	cause   error                 // the failure that ended the phase
	cancel  context.CancelFunc
}

// event is what a slot sends: that its instance is rented, and what became of it at the end.
type event struct {
	change Change
	rented lifecycle.Rented
	ended  *slotResult // nil while the slot goes on
}

// rentalTimeout is how long a step waits for the rentals of the step before.
const rentalTimeout = time.Minute

// execute makes the changes of a phase once. It returns the failure that ended the phase early.
func (r *run) execute(ctx context.Context, phase Phase, search *market.Search) error {
	slotCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := phase.changes()
	e := &execution{run: r, phase: phase, search: search, cancel: cancel}
	e.events, e.renting = make(chan event, 2*len(changes)), map[int]bool{}
	rentals := rentalsOf(changes)
	taken := len(rentals) == 0
	for _, step := range phase.Steps {
		if !taken && step[0].Action.Rents() {
			taken = true
			e.takeOffers(slotCtx, rentals)
		}
		e.begin(slotCtx, step)
		e.awaitRentals(ctx)
	}
	e.search.Release(e.offers...) // those of slots that were not tried
	for e.running > 0 {
		e.handle(ctx, <-e.events)
	}
	return e.cause
}

// takeOffers takes offers for rentals: with RollBack for each of them, else for as many as there are.
func (e *execution) takeOffers(ctx context.Context, rentals []Change) {
	need := 0
	if e.phase.RollBack {
		need = len(rentals)
	}
	e.search.Restart(e.demand(rentals).Existing)
	var err error
	e.offers, err = e.search.Take(ctx, len(rentals), need, e.phase.RollBack)
	_, unreadable := errors.AsType[market.OffersUnreadable](err)
	if err == nil || unreadable && !e.phase.RollBack && e.search.WaitLeft() > 0 { // the slots wait
		return
	}
	e.failAll(rentals, err)
	e.end(err)
}

// begin starts the goroutines of a step. After the end of the phase, it starts no rental.
func (e *execution) begin(ctx context.Context, step []Change) {
	for _, change := range step {
		if _, failed := e.failures[change.Slot]; failed {
			continue
		}
		switch {
		case change.Action.Rents() && e.cause != nil:
			e.fail(change.Slot, e.members[change.Slot], notTried(e.cause))
		case change.Action.Rents():
			e.beginRental(ctx, change)
		case change.Action == Destroy:
			e.start(change, func() slotResult { return e.destroy(ctx, change.Member) })
		default:
			found, isFound := e.found[change.Slot]
			e.start(change, func() slotResult {
				if isFound {
					return e.converge(ctx, change.Slot, found, slotResult{})
				}
				return e.move(ctx, change.Member)
			})
		}
	}
}

func (e *execution) beginRental(ctx context.Context, change Change) {
	var offers []lifecycle.Candidate
	if len(e.offers) > 0 {
		offers, e.offers = e.offers[:1:1], e.offers[1:]
		e.renting[change.Slot] = true
	}
	order := e.order(e.Owner.Seed, change.Member)
	e.start(change, func() slotResult {
		return e.rent(ctx, change, order, e.search, offers, e.events)
	})
}

// start starts the goroutine of a slot.
func (e *execution) start(change Change, work func() slotResult) {
	e.running++
	go func() {
		result := work()
		e.events <- event{change: change, ended: &result}
	}()
}

// awaitRentals waits until the instances of a step that had offers are rented.
func (e *execution) awaitRentals(ctx context.Context) {
	timeout := time.NewTimer(rentalTimeout)
	defer timeout.Stop()
	for len(e.renting) > 0 {
		select {
		case event := <-e.events:
			e.handle(ctx, event)
		case <-timeout.C:
			clear(e.renting)
		}
	}
}

// handle records an event. A failure ends the phase if it is strict, or if the failure most likely concerns all slots.
func (e *execution) handle(ctx context.Context, event event) {
	delete(e.renting, event.change.Slot)
	if event.ended == nil {
		if e.generation == 0 && e.Owner.Seed.Chosen() {
			e.generation = event.rented.Generation
		}
		return
	}
	e.running--
	result := *event.ended
	_, unknown := errors.AsType[lifecycle.OutcomeUnknown](result.err)
	_, destroying := errors.AsType[NotDestroyed](result.err)
	if e.cause != nil && ctx.Err() == nil && errors.Is(result.err, context.Canceled) && !unknown && !destroying {
		result.err = notTried(e.cause) // the end of the phase has canceled it
	}
	e.record(result)
	if result.err != nil && (e.phase.Strict || event.change.Action.Rents() && e.concernsAll(event.change, result.err)) {
		e.end(result.err)
	}
}

// concernsAll reports whether a failed rental most likely fails for the other slots, too: because of the account, or
// because their instances may belong to another state. The members that they replace would be destroyed for nothing.
func (e *execution) concernsAll(change Change, err error) bool {
	if _, notDestroyed := errors.AsType[NotDestroyed](err); notDestroyed {
		return false
	}
	_, aboveLimit := errors.AsType[spending.AboveBurnLimit](err)
	_, unreadable := errors.AsType[spending.AccountUnreadable](err)
	_, refused := errors.AsType[lifecycle.OfferRefused](err)
	_, before := lifecycle.RentedBefore(err)
	return aboveLimit || unreadable || refused && change.Destroys() || before && e.Owner.Seed.Chosen() ||
		rental.IsInsufficientFunds(err) || rental.IsUnauthorized(err) || rental.IsForbidden(err)
}

// end ends the phase: nothing more is rented. With RollBack, the waits for instances end, too.
func (e *execution) end(err error) {
	if e.cause == nil {
		e.cause = err
	}
	e.search.End(e.cause)
	if e.phase.RollBack {
		e.cancel()
	}
}
