package reconcile

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// Result is the state of a fleet after an apply.
type Result struct {
	// Members are all instances of the fleet that exist, sorted by slot.
	Members []Member
	// Lost are the members whose instance is gone and was not replaced.
	Lost []Member
	// Failures are the slots that are not as described, sorted by slot.
	Failures []Failure
	// Recovered are the members that an earlier run rented, and that the apply found by their idempotency keys.
	Recovered []Member
	// RolledBack are the members that the apply created and destroyed again, because it could not create all of them.
	RolledBack []Member
	// KeptForOther are the ids of the instances that the apply did not destroy, because another object of this run has
	// them. They are no members any more.
	KeptForOther []string
	// NotFound are the destroyed members that the API did not find.
	NotFound []Member
	// Choice describes the offers of the last attempt to find some; nil without one.
	Choice *placement.Choice
	// Interrupted: ctx ended first.
	Interrupted bool
}

// Apply takes the changes of Plan, at most for the time of the timeout, and as long again for each group of a rolling
// update. The members in the result exist, whatever else happened.
func (m *Manager) Apply(ctx context.Context, spec Spec, members []Member, timeout time.Duration) Result {
	a := &apply{
		Manager: m, Spec: spec, timeout: timeout,
		members: map[int]*Member{}, failures: map[int]error{}, total: spending.NewLedger(spec.MaxTotalKopH),
		created: map[int]bool{}, discards: map[int]Member{},
		tried: map[string]bool{}, raised: map[string]int{}, workers: make(chan struct{}, maxRequests),
	}
	for _, member := range members {
		if member.Lost() {
			continue
		}
		if _, ok := m.Placement.Owners.Claim(member.Instance.ID, spec.Object); !ok {
			a.result.KeptForOther = append(a.result.KeptForOther, member.Instance.ID)
			continue
		}
		a.members[member.Slot] = &member
		a.setInstance(&member, member.Instance)
	}
	changes := filter(Plan(spec, members), func(c Change) bool { return c.Member.Lost() || a.members[c.Slot] != nil })
	a.run(ctx, changes)
	a.result.Interrupted = ctx.Err() != nil
	for _, change := range changes {
		if change.Action != Destroy && a.members[change.Slot] == nil && change.Member.Generation > 0 {
			lost := change.Member
			lost.Instance = rental.Instance{}
			a.result.Lost = append(a.result.Lost, lost)
		}
	}
	return a.finish()
}

// apply is one apply of a fleet.
type apply struct {
	*Manager
	Spec
	timeout time.Duration
	workers chan struct{} // limits the create requests in flight
	waits   sync.WaitGroup
	// phaseCtx is the context of the present phase, and bootCtx that of its waits for new members. cancelBoot ends them.
	phaseCtx, bootCtx context.Context
	cancelBoot        context.CancelFunc

	mu       sync.Mutex
	members  map[int]*Member  // that exist, by slot
	failures map[int]error    // by slot
	total    *spending.Ledger // prices of the members by slot, and the total cap
	shrinks  bool             // members are destroyed that are not replaced
	created  map[int]bool     // slots whose instance this apply created for certain
	discards map[int]Member   // members that are discarded, by slot: their prices do not count for others
	// generation is the one of the member that was created last in a slot whose generation was unknown; 0 for none.
	generation int
	decided    error // the first failure that nothing in this apply changes
	updating   bool  // members with old arguments are being replaced
	fatal      error // prevents every further creation
	result     Result

	tried       map[string]bool // offers that were refused
	raised      map[string]int  // how often an offer was refused because its price rose
	refusals    int             // of available offers since the last success
	lastRefusal error
	paused      error // refusals end the current round
	pauses      int   // rounds that ended so
	destroyed   int   // instances
}

// maxRequests is the number of create requests in flight. It is small, because an interrupted run waits for all of
// them.
const maxRequests = 16

// run takes the changes: it destroys what is too much, moves existing members to the desired state, and fills the other
// slots at the same time. With All it fills slots only if it could move the existing members, because it would destroy
// the new members again otherwise. It replaces members with old arguments last, when everything else is ready. Only a
// larger fleet with a total cap grows after that, because cheaper arguments can make room for the new members.
func (a *apply) run(ctx context.Context, changes []Change) {
	for _, change := range changes {
		if change.Destroys() && change.Member.Protected {
			a.fail(change.Slot, &Error{Kind: NotPlanned})
		}
	}
	changes = filter(changes, func(c Change) bool { return a.failures[c.Slot] == nil })
	of := func(actions ...Action) []Change {
		return filter(changes, func(c Change) bool { return slices.Contains(actions, c.Action) })
	}
	a.shrinks = len(of(Destroy)) > 0
	early, late := of(Create, Replace), []Change(nil)
	if !a.All && a.MaxTotalKopH > 0 && len(of(Update)) > 0 {
		late = filter(early, Change.IsNew)
		early = filter(early, func(c Change) bool { return !c.IsNew() })
	}
	a.phase(ctx, func(ctx context.Context) {
		a.begin(func() { a.destroyAll(ctx, of(Destroy)) })
		a.moveAll(ctx, of(Start, Stop, Wait))
		if a.All {
			a.waits.Wait()
		}
		a.fill(ctx, early)
	})
	if a.All && a.failed() && ctx.Err() == nil {
		a.rollBack(ctx)
		a.updating = true
		a.failUnfilled(ctx, of(Update))
		return
	}
	outdated := of(Update)
	down := func(c Change) bool { return !c.Member.ready(a.State) }
	outdated = slices.Concat(filter(outdated, down), filter(outdated, func(c Change) bool { return !down(c) }))
	a.updating = true
	for len(outdated) > 0 && !a.failed() && ctx.Err() == nil {
		group := outdated[:min(max(1, a.MaxUnavailable), len(outdated))]
		outdated = outdated[len(group):]
		a.phase(ctx, func(ctx context.Context) { a.fill(ctx, group) })
	}
	if !a.failed() && ctx.Err() == nil {
		a.phase(ctx, func(ctx context.Context) { a.fill(ctx, late) })
		return
	}
	a.failUnfilled(ctx, append(outdated, late...))
}

// phase runs a part of the apply and waits until its members are ready.
func (a *apply) phase(ctx context.Context, do func(ctx context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	a.phaseCtx = ctx
	a.bootCtx, a.cancelBoot = context.WithCancel(ctx)
	defer a.cancelBoot()
	do(ctx)
	if a.All && a.failed() {
		a.cancelBoot() // what was created is destroyed
	}
	a.waits.Wait()
}

// headStart is how long an apply waits for one part before it begins the next one. A server that is slow must not
// prevent all other changes, but a request may wait for the next minute of the rate limit.
const headStart = time.Minute

// begin calls do and waits until it returns, or the head start is over. ended is closed when do returns.
func (a *apply) begin(do func()) (ended <-chan struct{}) {
	done := make(chan struct{})
	a.waits.Go(func() {
		defer close(done)
		do()
	})
	select {
	case <-done:
	case <-time.After(headStart):
	}
	return done
}

// filter returns the selected changes.
func filter(changes []Change, selected func(Change) bool) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return !selected(c) })
}

func (a *apply) failed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.failures) > 0
}

func (a *apply) fail(slot int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures[slot] = err
	a.decide(err)
}

// decide records that a slot has failed for this apply. With All that decides the outcome, and ends the waits for new
// members. The lock is held.
func (a *apply) decide(err error) {
	if a.decided == nil {
		a.decided = err
	}
	if a.All && a.cancelBoot != nil {
		a.cancelBoot()
	}
}

// obstacle returns the failure that prevents that other slots are filled; nil for none. The lock is held.
func (a *apply) obstacle() error {
	if a.fatal == nil && (a.All || a.updating) {
		return a.decided
	}
	return a.fatal
}

// ended reports whether no other slot is filled.
func (a *apply) ended() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.obstacle() != nil
}

// halted reports whether no other slot is filled in this round.
func (a *apply) halted() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.obstacle() != nil || a.paused != nil
}

// moveAll starts to move existing members to the desired state.
func (a *apply) moveAll(ctx context.Context, changes []Change) {
	for _, change := range changes {
		a.mu.Lock()
		member := a.members[change.Slot]
		a.mu.Unlock()
		target := a.target(change.Member)
		a.waits.Go(func() {
			if a.State != rental.DesiredRunning {
				a.converge(ctx, member, target)
				return
			}
			last := observed{
				Placed:     placement.Placed{Instance: change.Member.Instance, Recovered: true, Replayed: true},
				startsOnly: !change.Member.AboveCap,
			}
			if change.Member.AboveCap {
				last.request = placement.Request{Order: change.Member.Order, MaxPriceKopH: a.MaxPriceKopH}
			}
			a.convergeWithinCaps(ctx, ctx, member, target, last)
		})
	}
}

// target returns the desired state of a member.
func (a *apply) target(member Member) lifecycle.Target {
	target := lifecycle.Target{
		State: a.State, OnOutbid: a.OnOutbid, OfferID: member.OfferID(), Template: a.Order.Template, Ready: a.Ready,
		New: a.Client.LagLeft(member.CreatedAt, rental.NewInstanceLag) > 0,
	}
	if a.State == rental.DesiredRunning {
		target.MaxPriceKopH = a.startLimit(member.Slot)
		target.Hold = a.hold(member.Slot, a.Spending.Starts(member.Instance.ID))
	}
	return target
}

// converge moves a member to the desired state and waits until it is there.
func (a *apply) converge(ctx context.Context, member *Member, target lifecycle.Target) {
	inst, _, err := a.Lifecycle.Converge(ctx, member.Instance, target)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.setInstance(member, inst)
	member.NotReady = err != nil
	member.AboveCap = err != nil && (member.AboveCap || lifecycle.KindOf(err) == lifecycle.RunsAboveCap)
	if err == nil && a.State == rental.DesiredRunning && inst.Status != rental.StatusRunning {
		err = &Error{Kind: KeptOutbid}
	}
	if cancelled := lifecycle.KindOf(err) == lifecycle.Interrupted && a.phaseCtx.Err() == nil; cancelled {
		err = &Error{Kind: NotTried, Err: a.decided}
	}
	if err != nil {
		a.failures[member.Slot] = err
		a.decide(err)
	}
}

// finish returns the result.
func (a *apply) finish() Result {
	for _, member := range a.members {
		a.result.Members = append(a.result.Members, *member)
	}
	sortBySlot(a.result.Members)
	sortBySlot(a.result.Recovered)
	last := maps.Clone(a.members)
	for _, member := range slices.Concat(a.result.RolledBack, slices.Collect(maps.Values(a.discards))) {
		if last[member.Slot] == nil {
			last[member.Slot] = &member
		}
	}
	for _, slot := range slices.Sorted(maps.Keys(a.failures)) {
		a.result.Failures = append(a.result.Failures, Failure{slot, last[slot], a.failures[slot]})
	}
	return a.result
}
