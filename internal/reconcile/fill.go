package reconcile

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// maxRefusals is how many available offers the API may refuse in succession before the apply rents nothing more: most
// likely a limit of the account is reached.
const maxRefusals = maxRequests + 3

// maxRaised is how often an offer is tried again after its price rose.
const maxRaised = 2

// fill rents instances for slots, and begins to wait for them. It destroys the member in a slot only when an offer for
// its replacement is reserved.
func (a *apply) fill(ctx context.Context, missing []Change) {
	attempts := 1
	for _, query := range a.Queries {
		attempts = max(attempts, query.MaxAttempts)
	}
	began := time.Now()
	missing = a.adopt(ctx, missing)
	probed, recovered := false, false
	for round := 0; len(missing) > 0 && !a.ended(); round++ {
		a.resume()
		before, done := len(missing), a.progress()
		missing = a.allocate(ctx, missing, round)
		left := a.WaitForOffer - time.Since(began)
		progress := len(missing) < before || a.progress() > done
		switch {
		case len(missing) == 0 || ctx.Err() != nil || a.ended():
		case progress && round+1 < attempts, round == 0 && !progress:
			continue // another offer may be available now, or the list was old
		case left > 0 && !a.spent(missing):
			if !probed {
				probed, missing = true, a.recoverKilled(ctx, missing)
			}
			clear(a.tried)                                                // they may become available again
			_ = backoff.Sleep(ctx, min(left, a.Placement.ListInterval())) //nolint:errcheck // allocate checks ctx
			continue
		case !recovered:
			// A killed run can be the reason for too few offers.
			recovered, before = true, len(missing)
			if missing = a.recoverAll(ctx, missing); len(missing) < before {
				continue
			}
		}
		break
	}
	a.failUnfilled(ctx, missing)
}

// spent reports whether the members that stay use the whole total cap, so that no offer can fit.
func (a *apply) spent(missing []Change) bool {
	budget := a.demand(missing).BudgetKopH
	return budget != nil && *budget <= 0 && !a.shrinks
}

// progress grows with each reason to look for offers again at once.
func (a *apply) progress() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	raised := 0
	for _, n := range a.raised {
		raised += n
	}
	return len(a.tried) + raised + a.destroyed
}

// maxPauses is how many rounds may end with refusals. An old list of offers can explain the first ones.
const maxPauses = 3

// resume begins a round after one that ended with refusals.
func (a *apply) resume() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.paused == nil {
		return
	}
	if a.pauses++; a.pauses >= maxPauses {
		a.fatal = a.paused
	}
	a.paused, a.refusals = nil, 0
}

// adopt recovers what a killed run rented, as far as the list shows it, before anything is rented: it counts towards
// the total cap. It also destroys the rejected members, which must not run until an offer is available. It returns the
// slots that are still missing.
func (a *apply) adopt(ctx context.Context, missing []Change) []Change {
	named := map[int]bool{}
	var listing *rental.Listing[rental.Instance]
	if slices.ContainsFunc(missing, func(c Change) bool { return c.Action == Create }) {
		listing, _ = a.Cache.Instances.List(ctx) //nolint:errcheck // the keys find them, too
	}
	if listing != nil {
		for _, member := range Named(listing.Items, a.Name) {
			named[member.Slot] = named[member.Slot] || !a.Placement.Owners.Has(member.Instance.ID)
		}
	}
	return a.recover(ctx, missing, func(change Change) bool {
		return change.Member.Rejected || change.Action == Create && named[change.Slot]
	})
}

// failUnfilled records why slots were not filled, unless an attempt has recorded it.
func (a *apply) failUnfilled(ctx context.Context, missing []Change) {
	a.mu.Lock()
	defer a.mu.Unlock()
	reason := error(&Error{Kind: NoOffer, Err: a.lastRefusal})
	switch obstacle := a.obstacle(); {
	case ctx.Err() != nil:
		reason = &placement.Error{Kind: placement.Interrupted, Err: ctx.Err()}
	case obstacle != nil:
		reason = &Error{Kind: NotTried, Err: obstacle}
	case a.result.Choice != nil && a.result.Choice.OverBudget:
		reason = &Error{Kind: OverBudget, LimitKopH: a.MaxTotalKopH}
	}
	for _, change := range missing {
		if a.failures[change.Slot] == nil {
			a.failures[change.Slot] = reason
		}
	}
	if len(missing) > 0 && a.decided == nil {
		a.decided = reason
	}
}

// allocate chooses offers for all missing slots and rents from them. It returns the slots that are still missing.
func (a *apply) allocate(ctx context.Context, missing []Change, round int) []Change {
	choice, err := a.Placement.Choose(ctx, a.demand(missing), round > 0)
	if err != nil && ctx.Err() != nil {
		return missing // the end of the apply is the reason
	}
	if err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, change := range missing {
			a.failures[change.Slot] = err
		}
		if rental.IsDefinitive(err) {
			a.fatal = err
		}
		return missing
	}
	a.result.Choice = &choice
	a.forgetUnreadable(missing)
	candidates := choice.Candidates
	reserved := make([]*placement.Candidate, len(candidates))
	for i := range reserved {
		reserved[i] = &candidates[i]
	}
	if a.All && len(reserved) < len(missing) {
		a.release(reserved...)
		return missing
	}
	used := min(len(reserved), len(missing))
	a.release(reserved[used:]...)
	changes, reserved := slices.Clone(missing[:used]), reserved[:used]
	left := slices.Clone(missing[used:])
	if used > 0 {
		// A refusal that concerns all slots must not cost all members that are replaced, nor a request for each. And the
		// others need not search for their keys.
		first := max(0, slices.IndexFunc(changes, Change.Destroys))
		alone, candidate := changes[first], reserved[first]
		changes, reserved = slices.Delete(changes, first, first+1), slices.Delete(reserved, first, first+1)
		var again []Change
		ended := a.begin(func() {
			again = a.rentAll(ctx, []Change{alone}, []*placement.Candidate{candidate})
		})
		left = append(left, a.rentAll(ctx, changes, reserved)...)
		<-ended
		left = append(left, again...)
	}
	sortChanges(left)
	return left
}

// forgetUnreadable removes the failures of earlier attempts to read the offers.
func (a *apply) forgetUnreadable(missing []Change) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, change := range missing {
		if placement.KindOf(a.failures[change.Slot]) == placement.OffersUnreadable {
			delete(a.failures, change.Slot)
		}
	}
}

// rentAll rents instances for empty slots concurrently, each from its candidate, and returns the slots for which
// another offer may be tried.
func (a *apply) rentAll(ctx context.Context, changes []Change, candidates []*placement.Candidate) (again []Change) {
	var all sync.WaitGroup
	var mu sync.Mutex
	retry := func(change Change) {
		mu.Lock()
		defer mu.Unlock()
		again = append(again, change)
	}
	for i, change := range changes {
		all.Go(func() {
			a.workers <- struct{}{}
			defer func() { <-a.workers }()
			var held spending.Hold
			if change.Destroys() {
				var another bool
				if held, another = a.destroyReplaced(ctx, change, candidates[i]); another {
					retry(change)
				}
				if a.occupied(change.Slot) {
					a.release(candidates[i])
					return
				}
			}
			if a.rent(ctx, change, candidates[i], held) {
				retry(Change{Slot: change.Slot, Action: Create, Member: change.Member})
			}
		})
	}
	all.Wait()
	return again
}

func (a *apply) release(candidates ...*placement.Candidate) {
	for _, candidate := range candidates {
		if candidate != nil {
			a.Placement.Release(*candidate)
		}
	}
}

// demand returns the demand for the offers of slots.
func (a *apply) demand(missing []Change) placement.Demand {
	a.mu.Lock()
	defer a.mu.Unlock()
	replaced := map[int]bool{}
	for _, change := range missing {
		replaced[change.Slot] = true
	}
	total := a.total.Total()
	var stays []Member
	for slot, member := range a.members {
		if replaced[slot] {
			total -= member.Instance.Price.RunningKopH
		} else {
			stays = append(stays, *member)
		}
	}
	demand := a.Demand(len(missing), sortBySlot(stays))
	demand.Except = a.tried
	if a.MaxTotalKopH > 0 {
		demand.BudgetKopH = new(a.MaxTotalKopH - total)
	}
	return demand
}

// destroyReplaced destroys the member that is replaced, and returns the hold of its replacement; nil without a limit.
// The member stays if nothing can be rented any more, or if a limit does not allow its replacement; again reports
// whether another offer may be tried.
func (a *apply) destroyReplaced(
	ctx context.Context, change Change, candidate *placement.Candidate,
) (held spending.Hold, again bool) {
	if a.halted() || ctx.Err() != nil {
		return nil, true
	}
	hold := a.hold(change.Slot, a.Spending.Starts(change.Member.Instance.ID))
	if candidate != nil && hold != nil {
		var err error
		if held, err = hold(ctx, candidate.KopH); err != nil {
			return nil, a.refused(change.Slot, candidate, err)
		}
	}
	if len(a.destroyAll(ctx, []Change{change})) == 0 && held != nil {
		held.Release()
	}
	return held, false
}

// occupied reports whether a slot has a member.
func (a *apply) occupied(slot int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.members[slot] != nil
}

// recoverKilled finds what a killed run rented, also if the list lacks it. That run rented for the first slot before
// the others, so a request for that slot shows whether there was one. It returns the slots that are still missing.
func (a *apply) recoverKilled(ctx context.Context, missing []Change) []Change {
	first := missing[0].Slot
	left := a.recover(ctx, missing, func(c Change) bool { return c.Slot == first && c.Action == Create })
	if len(left) < len(missing) {
		return a.recoverAll(ctx, left)
	}
	return left
}

// recoverAll returns the slots without those whose instance an earlier run rented.
func (a *apply) recoverAll(ctx context.Context, missing []Change) []Change {
	return a.recover(ctx, missing, func(change Change) bool {
		return change.Action == Create // else its instance exists, so the key of the next one is not used
	})
}

// recover finds the instances that an earlier run rented for some of the slots. It returns the slots that are still
// missing.
func (a *apply) recover(ctx context.Context, missing []Change, selected func(Change) bool) []Change {
	unknown := filter(missing, selected)
	left := filter(missing, func(c Change) bool { return !selected(c) })
	left = append(left, a.rentAll(ctx, unknown, make([]*placement.Candidate, len(unknown)))...)
	sortChanges(left)
	return left
}
