package fleet

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
)

// Result is the state of a fleet after an apply.
type Result struct {
	// Members are all instances of the fleet that exist, sorted by slot.
	Members []Member
	// Missing are the slots without an instance whose generation is known, or whose creation had an unknown outcome.
	Missing []Member
	// Failures are the slots that are not as described, sorted by slot.
	Failures []Failure
	// Recovered are the members that were rented before and found by their keys. A destruction has destroyed them.
	Recovered []Member
	// RolledBack are the members that the apply created and destroyed again, because it could not create all of them.
	RolledBack []Member
	// KeptForOther are the ids of the instances that the apply did not destroy, because another object of this run has
	// them. They are no members any more.
	KeptForOther []string
	// NotFound are the destroyed members that the API did not find.
	NotFound []Member
	// SearchedAt is when the apply searched for instances that are not in the state; zero if it could not.
	SearchedAt time.Time
	// Interrupted: ctx ended first.
	Interrupted bool
}

// Slots returns the members and the slots to remember.
func (r Result) Slots() []Member { return sortBySlot(slices.Concat(r.Members, r.Missing)) }

// Failure is the reason why a slot is not as described.
type Failure struct {
	Slot int
	// Member is the instance in the slot as it was last read, a new one before it was destroyed; missing if there was
	// none.
	Member Member
	// Replaced is the id of the instance that was destroyed for Member, or for one that was not rented.
	Replaced string
	Err      error
}

// run is one apply or destruction of a fleet. Only the goroutine that called Apply uses its fields: slots take values
// and return a slotResult.
type run struct {
	slotContext
	timeout time.Duration

	members  map[int]Member  // existing and missing, by slot
	failures map[int]Failure // by slot
	// found are the instances that were found by their keys, by slot. They are members, and were not compared with their
	// order yet. rented are these and the instances that this apply rented, whatever became of them.
	found, rented map[int]lifecycle.Rented
	ofOther       map[int]bool // slots whose instance another object of this run has
	// generation is the highest one that was found under a chosen seed, or that of the first new instance; 0 until then.
	generation int
	result     Result
}

// newRun begins a run with the members that no other object has.
func (e *Engine) newRun(spec Spec, members []Member, timeout time.Duration) *run {
	r := &run{
		slotContext: slotContext{e, spec}, timeout: timeout, members: map[int]Member{}, failures: map[int]Failure{},
		found: map[int]lifecycle.Rented{}, rented: map[int]lifecycle.Rented{}, ofOther: map[int]bool{},
	}
	for _, member := range members {
		id := member.Instance.ID
		if !member.Missing() {
			if _, ok := e.Lifecycle.Owners.Claim(id, spec.Owner.Object); !ok {
				r.result.KeptForOther = append(r.result.KeptForOther, id)
				r.ofOther[member.Slot] = true
				continue
			}
		}
		r.members[member.Slot] = member
	}
	return r
}

// Apply makes the changes of Plan, each phase at most for the time of the timeout. The members in the result exist,
// whatever else happened.
func (e *Engine) Apply(ctx context.Context, spec Spec, members []Member, timeout time.Duration) Result {
	r := e.newRun(spec, members, timeout)
	r.destroyRejected(ctx)
	_ = r.findInTime(ctx, false) //nolint:errcheck // the keys of the slots, or a later apply, find the rest
	phases := Plan(spec, slices.Collect(maps.Values(r.members)))
	if r.Owner.Seed.Chosen() && len(r.failures) > 0 { // the other slots may belong to another state, too
		r.failAll(filter(Changes(phases), func(c Change) bool { return r.failures[c.Slot].Err == nil }), r.skipReason(ctx))
		return r.finish(ctx)
	}
	for _, phase := range phases {
		r.failUnplanned(phase)
		phase = phase.filtered(r.permits)
		if phase.Strict && len(r.failures) > 0 || ctx.Err() != nil {
			r.failAll(phase.changes(), r.skipReason(ctx))
			continue
		}
		r.executeInTime(ctx, phase)
	}
	return r.finish(ctx)
}

// executeInTime makes the changes of a phase. With RollBack, it destroys what it rented if it cannot rent everything,
// and tries again while it may wait for offers: nothing is billed during the wait.
func (r *run) executeInTime(ctx context.Context, phase Phase) {
	phaseCtx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	demand := r.demand(rentalsOf(phase.changes()))
	demand.All = phase.RollBack
	search := r.Market.Search(demand)
	for {
		cause := r.execute(phaseCtx, phase, search)
		if !phase.RollBack || len(r.failures) == 0 || ctx.Err() != nil {
			return
		}
		_, noOffer := errors.AsType[market.NoOffer](cause)
		if !r.rollBack(ctx) || !noOffer || search.WaitLeft() <= 0 || phaseCtx.Err() != nil {
			return
		}
		phase = r.remaining(phase)
		clear(r.failures)
	}
}

// remaining returns a phase after its instances were destroyed again. A missing member keeps its generation of the
// plan, so that its keys are requested from the same one as by the next apply, if this one is interrupted: the API may
// no longer have the keys of what was destroyed meanwhile. An instance that was found by its key stays, and needs no
// offer.
func (r *run) remaining(phase Phase) Phase {
	changes := phase.changes()
	for i, change := range changes {
		switch member := r.members[change.Slot]; {
		case member.Missing():
			changes[i] = Change{Create, Member{Slot: change.Slot, Generation: change.Generation}}
		case member.Instance.ID != change.Instance.ID:
			changes[i] = Change{Wait, member}
		}
	}
	phase.Steps = inSteps(changes)
	return phase
}

// Destroy destroys all members, and what is found by its key. With an error, which is that of a list, nothing was
// destroyed. The members in the result exist.
func (e *Engine) Destroy(ctx context.Context, spec Spec, members []Member, timeout time.Duration) (Result, error) {
	strict := *e
	strict.RecoverWithin = 0 // a chosen key does not prove that an instance may be destroyed
	r := strict.newRun(spec, members, timeout)
	if err := r.findInTime(ctx, true); err != nil {
		return r.finish(ctx), err
	}
	destroyCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found := r.selected(func(m Member) bool { return r.found[m.Slot].ID != "" })
	for _, result := range r.destroyAll(destroyCtx, r.selected(func(m Member) bool { return !m.Missing() })) {
		r.record(result)
	}
	result := r.finish(ctx)
	result.Recovered = slices.DeleteFunc(found, func(m Member) bool { return !r.members[m.Slot].Missing() })
	return result, nil
}

// findInTime limits find to the timeout.
func (r *run) findInTime(ctx context.Context, destroys bool) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	return r.find(ctx, destroys)
}

// destroyRejected destroys the rejected members: they must not run until there is an offer for their replacement.
func (r *run) destroyRejected(ctx context.Context) {
	rejected := r.selected(func(m Member) bool { return m.Rejected && !m.Protected && !m.Missing() })
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	for _, result := range r.destroyAll(ctx, rejected) {
		r.record(result)
	}
}

// isUnplanned reports whether a change destroys an instance that the plan of Terraform has not shown.
func (r *run) isUnplanned(change Change) bool {
	_, found := r.found[change.Slot]
	return change.Destroys() && (change.Protected || found)
}

// permits reports whether a change may be made: nothing that the plan has not shown, and nothing in a slot that has
// failed.
func (r *run) permits(change Change) bool {
	_, failed := r.failures[change.Slot]
	return !failed && !r.isUnplanned(change)
}

// failUnplanned records the unplanned changes. A found instance beyond the size is no failure: it stays for the next
// plan.
func (r *run) failUnplanned(phase Phase) {
	for _, change := range phase.changes() {
		_, found := r.found[change.Slot]
		if r.isUnplanned(change) && (!found || change.Action != Destroy) {
			r.fail(change.Slot, change.Member, NotPlanned{})
		}
	}
}

// fail records the reason why a slot is not as described.
func (r *run) fail(slot int, member Member, err error) {
	r.failures[slot] = Failure{Slot: slot, Member: member, Err: err}
}

// skipReason is why changes are not made: an interruption, or the first of the failures.
func (r *run) skipReason(ctx context.Context) error {
	if ctx.Err() != nil {
		return lifecycle.Interrupted{Err: ctx.Err()}
	}
	return notTried(r.failures[slices.Min(slices.Collect(maps.Keys(r.failures)))].Err)
}

// failAll records an error that prevents changes.
func (r *run) failAll(changes []Change, err error) {
	for _, change := range changes {
		r.fail(change.Slot, r.members[change.Slot], err)
	}
}

// notTried returns NotTried with the first cause.
func notTried(cause error) error {
	if _, ok := errors.AsType[market.NotTried](cause); ok {
		return cause
	}
	return market.NotTried{Cause: cause}
}

// record adds what became of a slot.
func (r *run) record(result slotResult) {
	slot := result.member.Slot
	delete(r.failures, slot)
	r.members[slot] = result.member
	if result.err != nil {
		r.failures[slot] = Failure{Slot: slot, Member: result.was, Replaced: result.replaced, Err: result.err}
	}
	if result.rented.ID != "" {
		r.rented[slot] = result.rented
	}
	delete(r.found, slot)
	if !result.notFound.Missing() {
		r.result.NotFound = append(r.result.NotFound, result.notFound)
	}
}

// rollbackTimeout limits the destruction of what an apply created, in addition to a second for each instance.
const rollbackTimeout = 15 * time.Minute

// rollBack destroys the members that the apply rented. It returns true if none of them stays, or may exist.
func (r *run) rollBack(ctx context.Context) (complete bool) {
	created := r.selected(func(m Member) bool {
		rented, found := r.rented[m.Slot]
		return found && rented.ByThisCreation() && !m.Missing()
	})
	ctx, cancel := context.WithTimeout(ctx, rollbackTimeout+time.Duration(len(created))*time.Second)
	defer cancel()
	complete = len(r.selected(func(m Member) bool { return m.Unknown })) == 0
	for _, result := range r.destroyAll(ctx, created) {
		reason, failed := r.failures[result.member.Slot]
		r.record(result)
		complete = complete && result.err == nil
		if result.err == nil {
			r.result.RolledBack = append(r.result.RolledBack, result.was)
			if _, notTried := errors.AsType[market.NotTried](reason.Err); failed && !notTried {
				r.failures[reason.Slot] = reason
			}
		}
	}
	return complete
}

// selected returns the selected members, sorted by slot.
func (r *run) selected(selected func(Member) bool) []Member {
	all := slices.Collect(maps.Values(r.members))
	return sortBySlot(slices.DeleteFunc(all, func(m Member) bool { return !selected(m) }))
}

// destroyAll destroys members at the same time.
func (r *run) destroyAll(ctx context.Context, members []Member) []slotResult {
	results := make([]slotResult, len(members))
	var all sync.WaitGroup
	for i, member := range members {
		all.Go(func() { results[i] = r.destroy(ctx, member) })
	}
	all.Wait()
	return results
}

// finish returns the result.
func (r *run) finish(ctx context.Context) Result {
	r.result.Interrupted = ctx.Err() != nil
	r.result.Members = r.selected(func(m Member) bool { return !m.Missing() })
	r.result.Missing = r.selected(func(m Member) bool { return m.Missing() && (m.Generation > 0 || m.Unknown) })
	r.result.Recovered = r.selected(func(m Member) bool { return !m.Missing() && r.rented[m.Slot].Recovered })
	for _, slot := range slices.Sorted(maps.Keys(r.failures)) {
		r.result.Failures = append(r.result.Failures, r.failures[slot])
	}
	return r.result
}

// demand returns the demand for the offers of changes.
func (r *run) demand(changes []Change) market.Demand {
	stays := r.selected(func(m Member) bool { return !m.Missing() && !concerns(changes, m.Slot) })
	return r.Demand(len(changes), stays)
}

// concerns reports whether one of the changes is about a slot.
func concerns(changes []Change, slot int) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Slot == slot })
}
