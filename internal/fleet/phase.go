package fleet

import (
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
// handles what they report. Only the owner
// changes the fields; a slot reads the search and the events.
type phase struct {
	*run
	Phase
	search  *market.Search
	events  chan event // has room for all events of an attempt
	running int        // slots
	probed  bool       // the instances of a killed run were requested for all slots
	decided error      // the failure that ended the phase
	stop    context.CancelCauseFunc
}

// event is what a slot reports: that its new instance is as ordered, or what became of the slot.
type event struct {
	slot       int
	generation int         // of the new instance
	newSlot    bool        // the generation of the slot was unknown before
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
		clear(r.created)
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
		p.search.Restart()
	}
}

// planAgain returns the changes that are left in the slots of some changes.
func (r *run) planAgain(changes []Change) []Change {
	members := r.selected(func(m Member) bool { return !m.Lost() || concerns(changes, m.Slot) })
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

// beginMoves starts the goroutines of the changes that rent nothing, and returns the other changes.
func (p *phase) beginMoves(ctx context.Context, changes []Change) (fills []Change) {
	for _, change := range changes {
		found, isFound := p.found[change.Slot]
		order := p.order(change)
		work := func() slotResult { return p.move(ctx, change.Member) }
		switch {
		case change.Action.Rents():
			fills = append(fills, change)
			continue
		case change.Action == Destroy:
			work = func() slotResult { return p.destroy(ctx, change.Member) }
		case isFound:
			work = func() slotResult { return p.finishFound(ctx, order, change, found) }
		}
		p.begin(ctx, change.Slot, work)
	}
	return fills
}

// begin starts the goroutine of a slot.
func (p *phase) begin(ctx context.Context, slot int, work func() slotResult) {
	p.running++
	go func() {
		result := work()
		cause := context.Cause(ctx)
		if !errors.Is(ctx.Err(), cause) && failure.KindOf(result.err) == failure.Interrupted {
			result.err = notTried(cause) // the end of the phase interrupted it
		}
		p.events <- event{slot: slot, ended: &result}
	}()
}

// handle records an event.
func (p *phase) handle(e event) {
	switch {
	case e.ended != nil:
		p.running--
		p.recordAndDecide(*e.ended)
	case e.newSlot && p.generation == 0:
		p.generation = e.generation
	}
}

// recordAndDecide records what became of a slot. A failure ends the phase if it is strict, or if the failure concerns
// all slots.
func (p *phase) recordAndDecide(result slotResult) {
	p.record(result)
	err := result.err
	_, api := errors.AsType[*rental.Error](err)
	refused := api && rental.IsDefinitive(err) && failure.KindOf(err) == 0
	limited := failure.Exceeds(err, failure.MaxBurn) || failure.KindOf(err) == failure.AccountUnreadable
	foreign := !p.Exists && failure.MayBelongToOther(err)
	if err != nil && (p.Strict || result.fills && (refused || limited || foreign)) {
		p.end(err)
	}
}

// end ends the phase: nothing more is rented. With All, the waits for instances end, too.
func (p *phase) end(err error) {
	if p.decided == nil {
		p.decided = err
	}
	p.search.End(p.decided)
	if p.All {
		p.stop(p.decided)
	}
}

// fillAll reserves offers for slots and starts their goroutines. With All, the instances that a killed run rented can
// be the reason why there are too few offers.
func (p *phase) fillAll(ctx context.Context, fills []Change) {
	reserved, err := p.take(ctx, fills, p.probed && p.All)
	if p.All && !p.probed && failure.KindOf(err) == failure.NoOffer {
		p.probed = true
		lost := filter(fills, func(c Change) bool { return c.Member.Lost() }) // else the key of the next one is not used
		err = p.recover(ctx, lost, nil)
		fills = filter(p.planAgain(fills), p.permitted)
		if err == nil && len(p.failures) == 0 {
			fills = p.beginMoves(ctx, fills)
			reserved, err = p.take(ctx, fills, true)
		} else {
			err = p.skipReason(ctx)
		}
	}
	if err != nil {
		p.failAll(fills, err)
		p.end(notTried(err)) // not a lost race: a wait is over
		return
	}
	p.fillFrom(ctx, fills, reserved)
}

// headStart is how long an apply waits for the first rental before it begins the others. A refusal that concerns all
// slots must not cost all members that are replaced, nor a request for each.
const headStart = time.Minute

// fillFrom starts the goroutines of slots. The first one with an offer has a head start, preferably one that replaces a
// member.
func (p *phase) fillFrom(ctx context.Context, fills []Change, reserved []reservedOffer) {
	start := func(i int) {
		change, order := fills[i], p.reporting(fills[i])
		p.begin(ctx, change.Slot, func() slotResult { return p.fill(ctx, change, order, p.search, reserved[i]) })
	}
	if len(fills) == 0 {
		return
	}
	first := max(0, slices.IndexFunc(reserved, func(r reservedOffer) bool { return r.candidate != nil }))
	for i, change := range fills {
		if change.Destroys() && reserved[i].candidate != nil {
			first = i
			break
		}
	}
	start(first)
	if reserved[first].candidate != nil {
		p.awaitFirst(fills[first].Slot)
	}
	refusal := p.failures[fills[first].Slot].Err
	if fills[first].Destroys() && failure.KindOf(refusal) == failure.OfferRefused {
		p.end(refusal) // it may be the same for the others, whose members would be lost
	}
	for i := range fills {
		if i != first {
			start(i)
		}
	}
}

// awaitFirst handles events until a slot has an instance or has failed, or the head start is over.
func (p *phase) awaitFirst(slot int) {
	timer := time.NewTimer(headStart)
	defer timer.Stop()
	for {
		select {
		case e := <-p.events:
			if p.handle(e); e.slot == slot {
				return
			}
		case <-timer.C:
			return
		}
	}
}

// acceptance is a lifecycle.Progress that calls report when a new instance was compared with its order for the first
// time.
type acceptance struct {
	once   sync.Once
	report func()
}

// Requesting implements lifecycle.Progress.
func (a *acceptance) Requesting(rental.DesiredState) {}

// Observed implements lifecycle.Progress.
func (a *acceptance) Observed(rental.Instance) { a.once.Do(a.report) }

// reporting returns the order for a slot that reports when its new instance was compared with it for the first time.
func (p *phase) reporting(change Change) lifecycle.Order {
	order, generation := p.order(change), 0
	order.OnRented = func(rented lifecycle.Rented) { generation = rented.Generation }
	report := func() {
		p.events <- event{slot: change.Slot, generation: generation, newSlot: change.Member.Generation == 0}
	}
	order.Target.Progress = &acceptance{report: report}
	return order
}

// take reserves offers for slots: with All for each of them, else for as many as there are. It handles events
// meanwhile.
func (p *phase) take(ctx context.Context, fills []Change, wait bool) (reserved []reservedOffer, err error) {
	reserved = make([]reservedOffer, len(fills))
	if len(fills) == 0 {
		return nil, nil
	}
	need, room := 0, int64(0)
	if p.All {
		need = len(fills)
	}
	for _, change := range fills {
		room += change.Member.Instance.Price.RunningKopH
	}
	p.search.Join(p.demand(fills).Existing)
	var offers []lifecycle.Candidate
	done := make(chan struct{})
	go func() {
		defer close(done)
		offers, err = p.search.Take(ctx, len(fills), need, wait, room)
	}()
	for taking := true; taking; {
		select {
		case e := <-p.events:
			p.handle(e)
		case <-done:
			taking = false
		}
	}
	if !p.All && p.search.Wait > 0 && failure.KindOf(err) == failure.OffersUnreadable {
		err = nil // the slots wait
	}
	for i, offer := range offers {
		reserved[i].candidate = &offer
		if held, excess := p.total.Hold(ledgerKey(fills[i].Slot), offer.KopH); excess == nil {
			reserved[i].held = held // else the comparison before the rental refuses the price, too
		}
	}
	return reserved, err
}
