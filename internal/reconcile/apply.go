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
	// Destroyed are the ids of the instances that the apply destroyed. A list may still contain them.
	Destroyed []string
	// Unrelated are the ids of the orphans that do not belong to the fleet.
	Unrelated []string
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
		members: map[int]*Member{}, failures: map[int]error{}, pending: map[int]int64{},
		created: map[int]bool{}, checks: map[int]*spending.Creation{}, tried: map[string]bool{}, raised: map[string]int{},
		workers: make(chan struct{}, maxRequests),
	}
	for _, member := range members {
		if member.Lost() {
			continue
		}
		m.Placement.Owners.Add(member.Instance.ID)
		a.members[member.Slot] = &member
	}
	changes := Plan(spec, members)
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
	// bootCtx is the context of the waits for new members. cancelBoot ends them.
	bootCtx    context.Context
	cancelBoot context.CancelFunc

	mu       sync.Mutex
	members  map[int]*Member            // that exist, by slot
	failures map[int]error              // by slot
	pending  map[int]int64              // prices of what is being rented or started, by slot
	began    time.Time                  // by the clock of the API, before the first creation
	created  map[int]bool               // slots whose instance this apply created
	checks   map[int]*spending.Creation // by slot
	waited   bool                       // for offers
	// generation is the one of the member that was created last in a slot whose generation was unknown; 0 for none.
	generation int
	broken     bool  // a slot has failed, and nothing in this apply changes that
	updating   bool  // members with old arguments are being replaced
	fatal      error // prevents every further creation
	result     Result

	tried       map[string]bool // offers that were refused
	raised      map[string]int  // how often an offer was refused because its price rose
	refusals    int             // of available offers since the last success
	lastRefusal error
	paused      error // refusals end the current round
	pauses      int   // rounds that ended so
}

// maxRequests is the number of create requests in flight. It is small, because an interrupted run waits for all of
// them.
const maxRequests = 16

// run takes the changes: it destroys what is too much, moves existing members to the desired state, and fills the other
// slots at the same time. With All it fills slots only if it could move the existing members, because it would destroy
// the new members again otherwise. It replaces members with old arguments last, when everything else is ready.
func (a *apply) run(ctx context.Context, changes []Change) {
	of := func(actions ...Action) []Change {
		return filter(changes, func(c Change) bool { return slices.Contains(actions, c.Action) })
	}
	a.phase(ctx, func(ctx context.Context) {
		a.destroyAll(ctx, of(Destroy))
		a.moveAll(ctx, of(Start, Stop, Wait))
		missing := of(Create, Replace)
		if a.All {
			a.waits.Wait()
			if a.notTry(missing) {
				return
			}
		}
		a.fill(ctx, missing)
	})
	if a.All && a.failed() && ctx.Err() == nil {
		a.rollBack(ctx)
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
	if err := ctx.Err(); err != nil {
		for _, change := range outdated {
			a.fail(change.Slot, &placement.Error{Kind: placement.Interrupted, Err: err})
		}
	}
}

// phase runs a part of the apply and waits until its members are ready.
func (a *apply) phase(ctx context.Context, do func(ctx context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	a.bootCtx, a.cancelBoot = context.WithCancel(ctx)
	defer a.cancelBoot()
	do(ctx)
	if a.All && a.failed() {
		a.cancelBoot() // what was created is destroyed
	}
	a.waits.Wait()
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

// notTry records that slots are not filled if a change of another one has failed.
func (a *apply) notTry(missing []Change) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.failures) == 0 {
		return false
	}
	reason := a.failures[slices.Min(slices.Collect(maps.Keys(a.failures)))]
	for _, change := range missing {
		a.failures[change.Slot] = &Error{Kind: NotTried, Err: reason}
	}
	return true
}

func (a *apply) fail(slot int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failures[slot] = err
	a.decide()
}

// decide records that a slot has failed for this apply. With All that decides the outcome, and ends the waits for new
// members. The lock is held.
func (a *apply) decide() {
	a.broken = true
	if a.All && a.cancelBoot != nil {
		a.cancelBoot()
	}
}

// ended reports whether the failure of one slot prevents that others are filled.
func (a *apply) ended() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fatal != nil || a.broken && (a.All || a.updating)
}

// moveAll starts to move existing members to the desired state.
func (a *apply) moveAll(ctx context.Context, changes []Change) {
	for _, change := range changes {
		a.mu.Lock()
		member := a.members[change.Slot]
		a.mu.Unlock()
		target := a.target(change.Member)
		if change.Action != Stop {
			limit, err := a.startLimit(ctx, change.Member)
			if err != nil {
				a.fail(change.Slot, err)
				continue
			}
			target.MaxPriceKopH = limit
		}
		a.waits.Go(func() {
			a.converge(ctx, member, target)
			a.unreserve(change.Slot)
		})
	}
}

// target returns the desired state of an existing member.
func (a *apply) target(member Member) lifecycle.Target {
	return lifecycle.Target{
		State: a.State, OnOutbid: a.OnOutbid, MaxPriceKopH: a.MaxPriceKopH, OfferID: member.offerID(),
		Template: a.Order.Template, Ready: a.Ready, BeforeStart: a.Spending.ReserveStart,
	}
}

// startLimit returns the highest price of a start without the disk, so that the fleet stays below its total cap, and
// reserves it.
func (a *apply) startLimit(ctx context.Context, member Member) (kopH int64, err error) {
	if a.MaxTotalKopH == 0 {
		return a.MaxPriceKopH, nil
	}
	inst := member.Instance
	price := inst.PriceWithoutDisk(inst.Price.StoppedKopH)
	disk := inst.Price.RunningKopH - price
	if inst.Type == rental.Interruptible && member.Offer != nil {
		offer, err := a.Client.GetOffer(ctx, member.Offer.ID)
		if err != nil && !rental.IsNotFound(err) {
			return 0, err
		}
		if bid, ok := offer.PriceKopH(inst.Type); err == nil && ok {
			price = max(price, bid) // a stopped instance may start at its old price
		}
	}
	if a.MaxPriceKopH > 0 {
		price = min(price, a.MaxPriceKopH)
	}
	if err := a.reserve(member.Slot, price+disk); err != nil {
		return 0, err
	}
	return price, nil
}

// reserve adds the price of a slot that is about to be filled or started, in place of the price of its present member.
// It returns an error if the fleet would exceed its total cap.
func (a *apply) reserve(slot int, kopH int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending[slot] = kopH
	if total := a.totalKopH(); a.MaxTotalKopH > 0 && total > a.MaxTotalKopH {
		delete(a.pending, slot)
		return &Error{Kind: OverBudget, PriceKopH: total, LimitKopH: a.MaxTotalKopH}
	}
	return nil
}

func (a *apply) unreserve(slot int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.pending, slot)
}

// totalKopH is the sum of the running prices of all members, and of what is being rented or started. The lock is held.
func (a *apply) totalKopH() (total int64) {
	for slot, member := range a.members {
		total += max(member.Instance.Price.RunningKopH, a.pending[slot])
	}
	for slot, kopH := range a.pending {
		if a.members[slot] == nil {
			total += kopH
		}
	}
	return total
}

// converge moves a member to the desired state and waits until it is there.
func (a *apply) converge(ctx context.Context, member *Member, target lifecycle.Target) {
	inst, _, err := a.Lifecycle.Converge(ctx, member.Instance, target)
	a.mu.Lock()
	defer a.mu.Unlock()
	member.Instance = inst
	member.NotReady = lifecycle.KindOf(err) == lifecycle.Interrupted
	if err == nil && a.State == rental.DesiredRunning && inst.Status != rental.StatusRunning {
		err = &Error{Kind: KeptOutbid}
	}
	if err != nil {
		a.failures[member.Slot] = err
		a.decide()
	}
	if lifecycle.KindOf(err) == lifecycle.Gone {
		delete(a.members, member.Slot)
		a.Placement.Remove(inst.ID)
	}
}

// finish returns the result.
func (a *apply) finish() Result {
	for _, member := range a.members {
		a.result.Members = append(a.result.Members, *member)
	}
	sortBySlot(a.result.Members)
	sortBySlot(a.result.Recovered)
	for _, slot := range slices.Sorted(maps.Keys(a.failures)) {
		a.result.Failures = append(a.result.Failures, Failure{slot, a.members[slot], a.failures[slot]})
	}
	return a.result
}
