package reconcile

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// startLimit returns the highest price of a start without the disk, so that the fleet stays below its total cap, and
// reserves it.
func (a *apply) startLimit(ctx context.Context, member Member) (kopH int64, err error) {
	if a.MaxTotalKopH == 0 {
		return a.MaxPriceKopH, nil
	}
	inst := member.Instance
	price := inst.PriceWithoutDisk(inst.Price.StoppedKopH)
	disk := inst.Price.RunningKopH - price
	if inst.BillsGPU() {
		return a.withinCap(price), nil // its price counts already, and a new bid must not cost more
	}
	if inst.Type == rental.Interruptible && member.Offer != nil {
		offer, err := a.Client.GetOffer(ctx, member.Offer.ID)
		if err != nil && !rental.IsNotFound(err) {
			return 0, err
		}
		if bid, ok := offer.PriceKopH(inst.Type); err == nil && ok {
			price = max(price, bid) // a stopped instance may start at its old price
		}
	}
	price = a.withinCap(price)
	if err := a.reserve(member.Slot, price+disk); err != nil {
		return 0, err
	}
	return price, nil
}

// withinCap returns a price, or the cap if that is lower.
func (a *apply) withinCap(kopH int64) int64 {
	if a.MaxPriceKopH > 0 {
		return min(kopH, a.MaxPriceKopH)
	}
	return kopH
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

// convergeWithinCaps waits until a member is ready, and discards it if it costs more than a cap allows. waitCtx is the
// context of the wait.
func (a *apply) convergeWithinCaps(
	ctx, waitCtx context.Context, member *Member, target lifecycle.Target, placed placement.Placed,
	request placement.Request,
) {
	var reason *Error
	target.Accept = func(inst rental.Instance, started bool) bool {
		if started {
			return true // the start has compared the price
		}
		placed.Instance = inst
		a.mu.Lock()
		defer a.mu.Unlock()
		member.Instance = inst
		reason = a.exceeds(member.Slot, placed, request)
		return reason == nil
	}
	a.converge(waitCtx, member, target)
	if reason != nil {
		a.fail(member.Slot, a.discard(ctx, member, placed.Recovered, reason))
	}
}

// exceeds returns which cap a new member exceeds, nil for none. Its price then no longer counts: it is discarded, and
// must not cost the fleet other new members. The lock is held.
func (a *apply) exceeds(slot int, placed placement.Placed, request placement.Request) *Error {
	total := a.totalKopH()
	for discarded := range a.discards {
		if member := a.members[discarded]; member != nil {
			total -= member.Instance.Price.RunningKopH
		}
	}
	var reason *Error
	switch {
	case placed.AboveCap(request):
		reason = &Error{Kind: AboveCap, PriceKopH: placed.Price.RunningKopH, LimitKopH: a.MaxPriceKopH}
	case a.MaxTotalKopH > 0 && total > a.MaxTotalKopH:
		reason = &Error{Kind: AboveTotal, PriceKopH: total, LimitKopH: a.MaxTotalKopH}
	default:
		return nil
	}
	a.discards[slot] = true
	return reason
}
