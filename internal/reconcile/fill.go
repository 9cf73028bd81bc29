package reconcile

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
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
	recovered := false
	for round := 0; len(missing) > 0 && !a.ended(); round++ {
		a.resume()
		before, done := len(missing), a.progress()
		missing = a.allocate(ctx, missing, round)
		left := a.WaitForOffer - time.Since(began)
		progress := len(missing) < before || a.progress() > done
		switch {
		case len(missing) == 0 || ctx.Err() != nil || a.ended():
		case progress && round+1 < attempts:
			continue // another offer may be available now
		case left <= 0 && !recovered:
			// A killed run can be the reason for too few offers, and the list may lack what it rented.
			recovered, before = true, len(missing)
			if missing = a.recoverAll(ctx, missing); len(missing) < before {
				continue
			}
		case left > 0:
			a.waited = true
			clear(a.tried)                                                // they may become available again
			_ = backoff.Sleep(ctx, min(left, a.Placement.LookInterval())) //nolint:errcheck // allocate checks ctx
			continue
		}
		break
	}
	for _, change := range missing {
		a.failUnfilled(ctx, change.Slot)
	}
}

// progress grows with each reason to look for offers again at once.
func (a *apply) progress() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	raised := 0
	for _, n := range a.raised {
		raised += n
	}
	return len(a.tried) + raised + len(a.result.Destroyed)
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

// adopt recovers the orphans that belong to the fleet, before anything is rented: they count towards the total cap. It
// returns the slots that are still missing.
func (a *apply) adopt(ctx context.Context, missing []Change) []Change {
	named := map[int]bool{}
	if listing, _ := a.Cache.InitialInstances(ctx); listing != nil { //nolint:errcheck // the keys find them, too
		for _, member := range Named(listing.Items, a.Name) {
			named[member.Slot] = named[member.Slot] || !a.Placement.Owners.Has(member.Instance.ID)
		}
	}
	if a.began.IsZero() {
		a.began = a.Client.Now() // the list has shown the clock of the API
	}
	return a.recover(ctx, missing, func(_ int, change Change) bool {
		return change.Member.Orphan != "" || change.Action == Create && named[change.Slot]
	})
}

// failUnfilled records why a slot was not filled, unless an attempt has recorded it.
func (a *apply) failUnfilled(ctx context.Context, slot int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.failures[slot] != nil:
	case ctx.Err() != nil:
		a.failures[slot] = &placement.Error{Kind: placement.Interrupted, Err: ctx.Err()}
	case a.fatal != nil:
		a.failures[slot] = &Error{Kind: NotTried, Err: a.fatal}
	case a.result.Choice != nil && a.result.Choice.OverBudget:
		a.failures[slot] = &Error{Kind: OverBudget, LimitKopH: a.MaxTotalKopH}
	default:
		a.failures[slot] = &Error{Kind: NoOffer, Err: a.lastRefusal}
	}
}

// allocate chooses offers for all missing slots and rents from them. It returns the slots that are still missing.
func (a *apply) allocate(ctx context.Context, missing []Change, round int) []Change {
	choice, err := a.Placement.Choose(ctx, a.demand(missing), round > 0)
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
	candidates := choice.Candidates
	if a.All && len(candidates) < len(missing) {
		a.release(candidates)
		return missing
	}
	used := min(len(candidates), len(missing))
	a.release(candidates[used:])
	changes, reserved := slices.Clone(missing[:used]), make([]*placement.Candidate, used)
	for i := range reserved {
		reserved[i] = &candidates[i]
	}
	left := slices.Clone(missing[used:])
	if first := slices.IndexFunc(changes, Change.replaces); first >= 0 {
		// A refusal that concerns all slots must not cost all members that are replaced.
		left = append(left, a.rentAll(ctx, changes[first:first+1], reserved[first:first+1])...)
		changes, reserved = slices.Delete(changes, first, first+1), slices.Delete(reserved, first, first+1)
	}
	left = append(left, a.rentAll(ctx, changes, reserved)...)
	sortChanges(left)
	return left
}

// rentAll rents instances for empty slots concurrently, each from its candidate, and returns the slots for which
// another offer may be tried.
func (a *apply) rentAll(ctx context.Context, changes []Change, candidates []*placement.Candidate) (again []Change) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for i, change := range changes {
		all.Go(func() {
			a.workers <- struct{}{}
			defer func() { <-a.workers }()
			if change.replaces() {
				stays, failed := a.destroyReplaced(ctx, change, candidates[i])
				if stays {
					mu.Lock()
					defer mu.Unlock()
					again = append(again, change)
				}
				if stays || failed {
					return
				}
			}
			if a.rent(ctx, change, candidates[i]) {
				mu.Lock()
				defer mu.Unlock()
				again = append(again, Change{Slot: change.Slot, Action: Create, Member: change.Member})
			}
		})
	}
	all.Wait()
	return again
}

func (a *apply) release(candidates []placement.Candidate) {
	for _, candidate := range candidates {
		a.Placement.Release(candidate)
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
	total := a.totalKopH()
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

// replaces reports whether the member of the slot has to be destroyed first.
func (c Change) replaces() bool { return c.Action != Create && !c.Member.Lost() }

// destroyReplaced destroys the member that is replaced from a candidate. It stays if nothing can be rented any more.
func (a *apply) destroyReplaced(
	ctx context.Context, change Change, candidate *placement.Candidate,
) (stays, failed bool) {
	a.mu.Lock()
	stays = a.fatal != nil || a.paused != nil || ctx.Err() != nil
	a.mu.Unlock()
	failed = !stays && len(a.destroyAll(ctx, []Change{change})) == 0
	if stays || failed {
		a.Placement.Release(*candidate)
	}
	return stays, failed
}

// recoverAll returns the slots without those whose instance an earlier run rented.
func (a *apply) recoverAll(ctx context.Context, missing []Change) []Change {
	return a.recover(ctx, missing, func(_ int, change Change) bool {
		return change.Action == Create // else its instance exists, so the key of the next one is not used
	})
}

// recover finds the instances that an earlier run rented for some of the slots. It returns the slots that are still
// missing.
func (a *apply) recover(ctx context.Context, missing []Change, selected func(i int, change Change) bool) []Change {
	var unknown, left []Change
	for i, change := range missing {
		if selected(i, change) {
			unknown = append(unknown, change)
		} else {
			left = append(left, change)
		}
	}
	left = append(left, a.rentAll(ctx, unknown, make([]*placement.Candidate, len(unknown)))...)
	sortChanges(left)
	return left
}

// rent rents an instance for an empty slot, and begins to wait for it. Without a candidate it only recovers the
// instance of an earlier run. It returns true if nothing was rented and another offer may be tried.
func (a *apply) rent(ctx context.Context, change Change, candidate *placement.Candidate) (again bool) {
	slot := change.Slot
	a.mu.Lock()
	ended := a.fatal != nil || a.paused != nil
	a.mu.Unlock()
	if candidate != nil {
		err := a.reserve(slot, candidate.KopH)
		if err != nil || ended || ctx.Err() != nil {
			a.unreserve(slot)
			a.Placement.Release(*candidate)
			return true
		}
	}
	request := a.request(change, candidate)
	check := a.check(slot, candidate)
	request.CheckPrice = check.CheckPrice()
	placed, err := a.Placement.Create(ctx, request)
	if err != nil {
		check.End()
		a.unreserve(slot)
		if e, ok := errors.AsType[*placement.Error](err); ok && e.Kind == placement.OtherArguments &&
			change.Member.owns(e.Instance) {
			// A killed run has rented the instance, and it is outdated now.
			if _, err = a.destroy(ctx, Member{Slot: slot, Instance: e.Instance}); err == nil {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.result.Destroyed = append(a.result.Destroyed, e.Instance.ID)
				return true
			}
		}
		return a.refused(slot, candidate, err)
	}
	check.Created(placed.Instance)
	member := a.add(change, candidate, placed, request)
	if err := a.reject(ctx, member, placed, request); err != nil {
		check.End()
		a.fail(slot, err)
		return false
	}
	target := a.target(*member)
	if a.MaxTotalKopH > 0 { // it may be outbid, and a new bid must not cost more
		target.MaxPriceKopH = placed.PriceWithoutDisk(placed.Price.StoppedKopH)
		if a.MaxPriceKopH > 0 {
			target.MaxPriceKopH = min(target.MaxPriceKopH, a.MaxPriceKopH)
		}
	}
	a.waits.Go(func() {
		defer check.End()
		var total int64
		target.Accept = func(inst rental.Instance, started bool) bool {
			placed.Instance = inst
			total = a.observe(member, inst)
			return started || !placed.AboveCap(request) && (a.MaxTotalKopH == 0 || total <= a.MaxTotalKopH)
		}
		a.converge(a.bootCtx, member, target) //nolint:contextcheck // it ends earlier than ctx
		if a.rejected(slot) {
			reason := &Error{Kind: AboveCap, PriceKopH: placed.Price.RunningKopH, LimitKopH: a.MaxPriceKopH}
			if !placed.AboveCap(request) {
				reason = &Error{Kind: AboveTotal, PriceKopH: total, LimitKopH: a.MaxTotalKopH}
			}
			a.fail(slot, a.discard(ctx, member, placed.Recovered, reason))
		}
	})
	return false
}

// check returns the spending check of a slot, nil if nothing is rented. Several attempts to fill a slot share it: they
// add its price to the plan only once.
func (a *apply) check(slot int, candidate *placement.Candidate) *spending.Creation {
	if candidate == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.checks[slot] == nil {
		a.checks[slot] = a.Spending.BeginCreate(SpendingKey(a.Name, slot), a.waited)
	}
	a.checks[slot].SetWaits(a.waited)
	return a.checks[slot]
}

// owns reports whether an instance with the idempotency key of a lost member belongs to its fleet and not to another
// one with the same name: the state had a member in its slot, or the plan has shown the instance.
func (m Member) owns(inst rental.Instance) bool {
	return m.Lost() && (m.Generation > 0 || m.Orphan == inst.ID)
}

// observe records an observation of a new member, and returns the sum of the running prices.
func (a *apply) observe(member *Member, inst rental.Instance) (totalKopH int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	member.Instance = inst
	return a.totalKopH()
}

func (a *apply) rejected(slot int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return lifecycle.KindOf(a.failures[slot]) == lifecycle.Rejected
}

// request returns the request for the instance of a slot.
func (a *apply) request(change Change, candidate *placement.Candidate) placement.Request {
	request := placement.Request{
		Order: a.Order, Image: a.Image, Candidate: candidate, MaxPriceKopH: a.MaxPriceKopH, IdempotencyPrefix: keyPrefix,
		Generation: change.Member.Generation + 1,
	}
	request.Order.Name = MemberName(a.Name, change.Slot)
	return request
}

// SpendingKey identifies the planned price of the member in a slot: see spending.Tracker.Plan.
func SpendingKey(fleet string, slot int) string { return keyPrefix + MemberName(fleet, slot) }

// refused records a failed creation. It returns true if another offer may be tried.
func (a *apply) refused(slot int, candidate *placement.Candidate, err error) (again bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, _ := errors.AsType[*placement.Error](err)
	switch {
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
	a.decide()
	if _, limit := errors.AsType[spending.Problems](err); limit || e == nil && rental.IsDefinitive(err) {
		a.fatal = err // it is the same for all slots
	}
	return false
}

// add records a new member.
func (a *apply) add(
	change Change, candidate *placement.Candidate, placed placement.Placed, request placement.Request,
) *Member {
	member := &Member{
		Slot: change.Slot, Generation: placed.Generation, Instance: placed.Instance, Order: request.Order,
		Recovery: placed.Recovery,
	}
	if placed.OfferID != "" && candidate != nil {
		member.Offer = &Offer{placed.OfferID, placement.LocationOf(candidate.Offer), candidate.Query}
	}
	a.Placement.Owners.Add(placed.ID)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refusals = 0
	a.members[change.Slot] = member
	// The API returns whole seconds. Without a time, an earlier attempt of this apply may have created the instance.
	existed := !placed.CreatedAt.IsZero() && placed.CreatedAt.Before(a.began.Add(-time.Second))
	a.created[change.Slot] = !placed.Recovered || !existed
	delete(a.pending, change.Slot)
	delete(a.failures, change.Slot)
	if placed.Recovered {
		a.result.Recovered = append(a.result.Recovered, *member)
	}
	return member
}

// reject discards a new instance that exceeds a cap or is not as requested. It returns the reason, nil if the instance
// stays.
func (a *apply) reject(
	ctx context.Context, member *Member, placed placement.Placed, request placement.Request,
) error {
	a.mu.Lock()
	total := a.totalKopH()
	a.mu.Unlock()
	differences := placed.Differences(request)
	switch {
	case placed.AboveCap(request):
		price := placed.Price.RunningKopH
		return a.discard(ctx, member, placed.Recovered, &Error{Kind: AboveCap, PriceKopH: price, LimitKopH: a.MaxPriceKopH})
	case a.MaxTotalKopH > 0 && total > a.MaxTotalKopH:
		return a.discard(ctx, member, placed.Recovered, &Error{Kind: AboveTotal, PriceKopH: total, LimitKopH: a.MaxTotalKopH})
	case placed.Unreadable == nil && !placed.Recovered && len(differences) > 0 && differences[0].Harmful:
		return a.discard(ctx, member, false, &Error{Kind: NotAsRequested, Differences: differences})
	}
	return nil
}

// discard destroys a new member because of reason, or stops one that an earlier run rented. An interruption does not
// prevent that. If it fails, the member stays and reason contains the error.
func (a *apply) discard(ctx context.Context, member *Member, recovered bool, reason *Error) error {
	ctx, stop := rental.Detached(ctx, rental.CancelGrace)
	defer stop()
	id := member.Instance.ID
	if recovered {
		reason.Stopped = true
		stopped, err := a.Lifecycle.RequestStop(ctx, id)
		a.mu.Lock()
		defer a.mu.Unlock()
		if reason.Err = err; err == nil {
			member.Instance = stopped
		}
		return reason
	}
	owners := &a.Placement.Owners
	owners.BeginDestroy(id, member.Recovery)
	if reason.Err = a.Lifecycle.RequestDestroy(ctx, id); reason.Err != nil {
		owners.CancelDestroy(id)
		a.mu.Lock()
		defer a.mu.Unlock()
		member.Rejected = true
		return reason
	}
	a.Placement.Remove(id)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.members, member.Slot)
	a.result.Destroyed = append(a.result.Destroyed, id)
	return reason
}
