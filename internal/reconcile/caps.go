package reconcile

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// startLimit returns the highest price of a start: the price cap, or what the total cap leaves for the slot if that is
// lower; 0 for no limit. A start whose price is known is also reserved: see beforeStart.
func (a *apply) startLimit(slot int) int64 {
	if a.MaxTotalKopH == 0 {
		return a.MaxPriceKopH
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	own := a.pending[slot]
	if member := a.members[slot]; member != nil {
		own = max(own, member.Instance.Price.RunningKopH)
	}
	left := max(1, a.MaxTotalKopH-a.totalKopH()+own)
	if a.MaxPriceKopH > 0 {
		return min(left, a.MaxPriceKopH)
	}
	return left
}

// beforeStart returns the check before each start of the member in a slot, nil for none: the total cap and the limits
// of the provider.
func (a *apply) beforeStart(slot int) func(context.Context, rental.Instance, int64) (release func(), err error) {
	check := a.Spending.CheckStart()
	if a.MaxTotalKopH == 0 {
		return check
	}
	return func(ctx context.Context, inst rental.Instance, kopH int64) (func(), error) {
		if err := a.reserve(slot, kopH); err != nil {
			return nil, err
		}
		unreserve := func() { a.unreserve(slot) }
		if check == nil {
			return unreserve, nil
		}
		release, err := check(ctx, inst, kopH)
		if err != nil {
			unreserve()
			return nil, err
		}
		return func() { unreserve(); release() }, nil
	}
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

// observed is what convergeWithinCaps compares with the caps.
type observed struct {
	placement.Placed
	request placement.Request
	// startsOnly: only a start can raise the price of the member.
	startsOnly bool
}

// convergeWithinCaps waits until a member is ready, and discards it if it costs more than a cap allows. waitCtx is the
// context of the wait.
func (a *apply) convergeWithinCaps(
	ctx, waitCtx context.Context, member *Member, target lifecycle.Target, last observed,
) {
	var reason *Error
	target.Accept = func(inst rental.Instance, started bool) bool {
		if started {
			last.Offer = nil // a new bid need not have its price
		}
		last.Instance = inst
		a.mu.Lock()
		defer a.mu.Unlock()
		member.Instance = inst
		if started || !last.startsOnly {
			reason = a.exceeds(member.Slot, last.Placed, last.request)
		}
		return reason == nil
	}
	a.converge(waitCtx, member, target)
	if reason != nil {
		a.fail(member.Slot, a.discard(ctx, member, last.Replayed, reason))
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
	a.discards[slot] = *a.members[slot]
	return reason
}
