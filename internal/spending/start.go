package spending

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// maxPricedStarts is the number of offers that a plan reads for its starts. Hundreds of requests would delay the plan.
// At apply, each start reads its offer.
const maxPricedStarts = 20

// PlanStart returns the effect of a planned start for Check. With a burn limit, it reads the price of a new bid from
// the offer that the instance was rented from; offerID is empty if the offer is unknown.
func (t *Tracker) PlanStart(ctx context.Context, inst rental.Instance, offerID string) (Change, error) {
	kopH := inst.Price.RunningKopH
	if inst.Type == rental.Interruptible && offerID != "" && t.limits.MaxBurnKopH > 0 && t.mayPriceStart() {
		offer, err := t.client.GetOffer(ctx, offerID)
		if err != nil && !rental.IsNotFound(err) {
			return Change{}, err
		}
		if err == nil {
			kopH = inst.StartKopH(offer.Price.InterruptibleKopH)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counted[inst.ID] = kopH
	return Change{StartsKopH: kopH, AddedKopH: kopH - inst.BurnKopH()}, nil
}

func (t *Tracker) mayPriceStart() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.priced++
	return t.priced <= maxPricedStarts || !t.single()
}

// CheckStart returns the check of an instance that is about to be started and then costs kopH, nil without a burn
// limit. The start can cost more than in the plan. If the check returns no error, the caller calls release when the
// instance runs or the attempt is over.
func (t *Tracker) CheckStart() func(ctx context.Context, inst rental.Instance, kopH int64) (release func(), err error) {
	if t.limits.MaxBurnKopH == 0 {
		return nil
	}
	return func(ctx context.Context, inst rental.Instance, kopH int64) (func(), error) {
		if t.single() {
			if err := t.addStart(ctx, inst.ID, kopH).Errors(); err != nil {
				return nil, err
			}
			return t.pending.hold(inst.ID, kopH).Release, nil
		}
		reservation, problems := t.reserve(ctx, inst.ID, kopH, kopH-inst.BurnKopH())
		if err := problems.Errors(); err != nil {
			reservation.Release()
			return nil, err
		}
		return reservation.Release, nil
	}
}

// addStart adds to the plan what a start costs more than the plan has counted.
func (t *Tracker) addStart(ctx context.Context, id string, kopH int64) Problems {
	money, err := t.readAccount(ctx)
	if err != nil {
		return t.unreadable(err)
	}
	burn := t.burnRate(money, true)
	t.mu.Lock()
	defer t.mu.Unlock()
	counted, planned := t.counted[id]
	if !planned {
		counted = money.listed[id]
	}
	more := kopH - counted
	if more <= 0 {
		return nil
	}
	if problems := t.checkBurn(burn, t.added+more); len(problems) > 0 {
		return problems
	}
	t.starts += more
	t.added += more
	t.counted[id] = kopH
	return nil
}
