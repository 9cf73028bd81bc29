package fleet

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// phase makes the changes of a Phase. Its owner, the goroutine that called Apply, starts a goroutine for each slot and
// handles what they report. Only the owner changes the fields; a slot reads the search and the events.
type phase struct {
	*run
	Phase
	search  *market.Search
	events  chan event // has room for all events of an attempt
	running int        // slots
	probed  bool       // the keys of all slots were requested
	decided error      // the failure that ended the phase
	stop    context.CancelCauseFunc
}

// event is what a slot reports: that its new instance is as ordered, or what became of the slot.
type event struct {
	change     Change
	generation int         // of the new instance
	ended      *slotResult // nil while the slot goes on
}

// phase makes the changes of a phase. With All, it destroys what it rented if it cannot rent everything, and tries
// again while it may wait for offers: nothing is billed during the wait.
func (r *run) phase(ctx context.Context, planned Phase) {
	demand := r.demand(filter(planned.Changes, func(c Change) bool { return c.Action.Rents() }))
	demand.All = planned.All
	p := &phase{run: r, Phase: planned, search: r.Market.Search(demand), events: make(chan event, 2*len(planned.Changes))}
	phaseCtx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	for {
		p.attempt(phaseCtx)
		if !p.All || len(r.failures) == 0 || ctx.Err() != nil {
			return
		}
		complete := r.rollBack(ctx)
		mayWait := failure.KindOf(p.decided) == failure.NoOffer && p.search.WaitLeft() > 0 && phaseCtx.Err() == nil
		if !complete || !mayWait {
			return
		}
		p.Changes, p.decided = r.planAgain(p.Changes), nil
		clear(r.failures)
	}
}

// planAgain returns the changes that are left in the slots of the given changes.
//
// A lost slot keeps its generation of the first plan, so that its keys are tried from the same one as by the next run,
// if this one is killed: the API may no longer have the keys of what was destroyed meanwhile.
func (r *run) planAgain(changes []Change) []Change {
	members := r.selected(func(m Member) bool { return !m.Lost() })
	for _, change := range changes {
		if r.members[change.Slot].Lost() {
			members = append(members, Member{Slot: change.Slot, Generation: change.Generation})
		}
	}
	return filter(r.changes(members), func(c Change) bool { return concerns(changes, c.Slot) })
}

// attempt makes the changes once.
func (p *phase) attempt(ctx context.Context) {
	ctx, p.stop = context.WithCancelCause(ctx)
	defer p.stop(nil)
	p.fillAll(ctx, p.beginMoves(ctx, p.Changes))
	for p.running > 0 {
		p.handle(<-p.events)
	}
}

// beginMoves starts the goroutines of the changes that rent nothing, and returns the other changes, those that replace
// a member first.
func (p *phase) beginMoves(ctx context.Context, changes []Change) (fills []Change) {
	for _, change := range changes {
		order := p.order(p.Seed, change.Member)
		found, isFound := p.found[change.Slot]
		work := func() slotResult { return p.move(ctx, change.Member) }
		switch {
		case change.Action.Rents():
			fills = append(fills, change)
			continue
		case change.Action == Destroy:
			work = func() slotResult { return p.destroy(ctx, change.Member) }
		case isFound:
			work = func() slotResult {
				rented, err := p.Lifecycle.Finish(ctx, order, found)
				return p.filled(order, change, rented, err)
			}
		}
		p.begin(ctx, change, work)
	}
	slices.SortStableFunc(fills, func(a, b Change) int { return cmp.Compare(b.presence(), a.presence()) })
	return fills
}

// begin starts the goroutine of a slot.
func (p *phase) begin(ctx context.Context, change Change, work func() slotResult) {
	p.running++
	go func() {
		result := work()
		kind := failure.KindOf(result.err)
		_, isCause := errors.AsType[ended](result.err)
		if end, ok := errors.AsType[ended](context.Cause(ctx)); ok && (kind == failure.Interrupted || kind == "" && isCause) {
			result.err = notTried(end.by)
		}
		p.events <- event{change: change, ended: &result}
	}()
}

// handle records an event. A failure ends the phase if it is strict, or if the failure concerns all slots.
func (p *phase) handle(e event) {
	if e.ended == nil {
		if p.generation == 0 && p.Seed.Chosen() {
			p.generation = e.generation
		}
		return
	}
	p.running--
	p.record(*e.ended)
	err := e.ended.err
	_, api := errors.AsType[*rental.Error](err)
	refused := api && rental.IsDefinitive(err) && failure.KindOf(err) == ""
	limited := failure.Exceeds(err, failure.MaxBurn) || failure.KindOf(err) == failure.AccountUnreadable
	foreign := p.Seed.Chosen() && RentedBefore(err) // so may be the servers of the other slots
	if err != nil && (p.Strict || e.change.Action.Rents() && (refused || limited || foreign)) {
		p.end(err)
	}
}

// ended is the cause with which a phase cancels its slots. It does not unwrap: requests return the cause, and a slot
// must not take the failure of another one for its own.
type ended struct{ by error }

func (e ended) Error() string { return "ended by another slot: " + e.by.Error() }

// end ends the phase: nothing more is rented. With All, the waits for instances end, too.
func (p *phase) end(err error) {
	if p.decided == nil {
		p.decided = err
	}
	p.search.End(p.decided)
	if p.All {
		p.stop(ended{p.decided})
	}
}

// fillAll reserves offers for slots and starts their goroutines. With All, instances that an interrupted apply rented
// can be the reason why there are too few offers.
func (p *phase) fillAll(ctx context.Context, fills []Change) {
	offers, err := p.take(ctx, fills, p.probed && p.All)
	if p.All && !p.probed && failure.KindOf(err) == failure.NoOffer {
		p.probed = true
		var lost []int
		for _, change := range fills {
			if change.Lost() { // else the key of the next instance is not used
				lost = append(lost, change.Slot)
			}
		}
		err = p.ask(ctx, lost)
		fills = filter(p.planAgain(fills), p.permitted)
		if err == nil && len(p.failures) == 0 {
			fills = p.beginMoves(ctx, fills)
			if offers, err = p.take(ctx, fills, true); err != nil && p.decided != nil {
				err = notTried(p.decided) // the end of the phase interrupted it
			}
		} else {
			err = p.skipReason(ctx)
		}
	}
	if err != nil {
		p.failAll(fills, err)
		p.end(notTried(err)) // the wait for offers is over
		return
	}
	p.fillFrom(ctx, fills, offers)
}

// noSlot is the number of no slot.
const noSlot = -1

// headStart is how long an apply waits for the first rental before it begins the others. A refusal that concerns all
// slots must not cost all members that are replaced, nor a request for each.
const headStart = time.Minute

// fillFrom starts the goroutines of slots. The first one has a head start if it has an offer.
func (p *phase) fillFrom(ctx context.Context, fills []Change, offers []*lifecycle.Candidate) {
	for i, change := range fills {
		order := p.reporting(change)
		p.begin(ctx, change, func() slotResult { return p.fill(ctx, change, order, p.search, offers[i]) })
		if i > 0 || offers[i] == nil {
			continue
		}
		first, cancel := context.WithTimeout(ctx, headStart)
		p.handleUntil(first.Done(), change.Slot)
		cancel()
		refusal := p.failures[change.Slot].Err
		if change.Destroys() && failure.KindOf(refusal) == failure.OfferRefused {
			p.end(refusal) // it may be the same for the others, whose members would be lost
		}
	}
}

// handleUntil handles events until done is closed, or a slot has an instance or has failed.
func (p *phase) handleUntil(done <-chan struct{}, slot int) {
	for {
		select {
		case e := <-p.events:
			if p.handle(e); e.change.Slot == slot {
				return
			}
		case <-done:
			return
		}
	}
}

// reporting returns the order for a slot that reports when its new instance was compared with it for the first time.
func (p *phase) reporting(change Change) lifecycle.Order {
	order, generation := p.order(p.Seed, change.Member), 0
	order.OnRented = func(rented lifecycle.Rented) { generation = rented.Generation }
	report := sync.OnceFunc(func() { p.events <- event{change: change, generation: generation} })
	order.Target.Observed = func(rental.Instance) { report() }
	return order
}

// take reserves offers for slots: with All for each of them, else for as many as there are. It handles events
// meanwhile.
func (p *phase) take(ctx context.Context, fills []Change, wait bool) (offers []*lifecycle.Candidate, err error) {
	offers = make([]*lifecycle.Candidate, len(fills))
	if len(fills) == 0 {
		return nil, nil
	}
	need := 0
	if p.All {
		need = len(fills)
	}
	p.search.Restart(p.demand(fills).Existing)
	var taken []lifecycle.Candidate
	done := make(chan struct{})
	go func() {
		defer close(done)
		taken, err = p.search.Take(ctx, len(fills), need, wait)
	}()
	p.handleUntil(done, noSlot)
	if !p.All && p.search.Wait > 0 && failure.KindOf(err) == failure.OffersUnreadable {
		err = nil // the slots wait
	}
	for i := range taken {
		offers[i] = &taken[i]
	}
	return offers, err
}
