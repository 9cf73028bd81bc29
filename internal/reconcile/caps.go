package reconcile

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/placement"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// startLimit returns the highest price of a start: the price cap, or what the total cap leaves for the slot if that is
// lower; 0 for no limit. A start whose price is known is also held: see hold.
func (a *apply) startLimit(slot int) int64 {
	if a.MaxTotalKopH == 0 {
		return a.MaxPriceKopH
	}
	left := max(1, a.total.Left(ledgerKey(slot)))
	if a.MaxPriceKopH > 0 {
		return min(left, a.MaxPriceKopH)
	}
	return left
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
		a.setInstance(member, inst)
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
	total := a.total.Total()
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
	a.total.Destroyed(ledgerKey(slot))
	return reason
}
