package spending

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Plan records the price of a planned instance that Check has added to the plan, 0 if the price is not known. Instances
// with the same key have the same arguments.
func (t *Tracker) Plan(key string, kopH int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.planned[key] = append(t.planned[key], kopH)
}

// takePlanned returns the price of a planned instance, 0 if none was recorded.
func (t *Tracker) takePlanned(key string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	prices := t.planned[key]
	if len(prices) == 0 {
		return 0
	}
	t.planned[key] = prices[1:]
	return prices[0]
}

// Creation checks the limits when an instance is rented: its offer can cost more than the one in the plan, or may not
// have been known.
type Creation struct {
	tracker     *Tracker
	waits       bool
	counted     int64 // the part of the price that Check has added to the plan
	reservation *Reservation
}

// BeginCreate returns the check of one planned instance. waits reports whether the creation can wait for an offer for
// hours. The caller must call End when the creation is over.
func (t *Tracker) BeginCreate(key string, waits bool) *Creation {
	return &Creation{tracker: t, waits: waits, counted: t.takePlanned(key), reservation: &Reservation{}}
}

// CheckPrice returns the check of an offer that is about to be rented, nil if no limit can fail. If it returns no error
// and the offer is not rented, the caller calls release, because other creations may wait for the result.
func (c *Creation) CheckPrice() func(ctx context.Context, kopH int64) (release func(), err error) {
	if !c.tracker.Enforced() {
		return nil
	}
	return func(ctx context.Context, kopH int64) (func(), error) {
		err := c.check(ctx, kopH)
		return c.End, err
	}
}

// CheckReplacement compares the price of an offer with the limits, as if the instance that it replaces was destroyed.
// The caller destroys the instance only without an error, and then rents the offer. That checks the price again.
func (c *Creation) CheckReplacement(ctx context.Context, replaced rental.Instance, kopH int64) error {
	t := c.tracker
	if !t.Enforced() {
		return nil
	}
	single := t.single()
	money, err := t.readAccount(ctx)
	if err != nil {
		return t.unreadable(err).Errors()
	}
	starts, added := kopH, kopH
	if single {
		starts, added = t.withPlan(max(0, kopH-c.counted))
	}
	saved := replaced.BurnKopH()
	burn := t.burnRate(money, single) - t.destroyed.unplanned(replaced.ID, saved, single)
	problems := append(t.checkFunds(money.Balance, starts), t.checkBurn(burn, added)...)
	if single && c.reserves() {
		if money, _, err = t.currentAccount(ctx); err != nil {
			return t.unreadable(err).Errors()
		}
		renting, starting, _ := t.pending.snapshot()
		problems = append(problems, t.checkBurn(t.burnWith(money, starting)+renting-saved, kopH)...)
	}
	return problems.Errors()
}

// reserves reports whether the check is a reservation: others may have rented instances since the run has read the
// account.
func (c *Creation) reserves() bool {
	return c.tracker.limits.MaxBurnKopH > 0 && (c.waits || !c.tracker.single())
}

func (c *Creation) check(ctx context.Context, kopH int64) error {
	reserves := c.reserves()
	if c.tracker.single() || !reserves {
		more := max(0, kopH-c.counted)
		c.counted += more
		err := c.tracker.Check(ctx, Change{StartsKopH: more, AddedKopH: more}).Errors()
		if err != nil || !reserves {
			return err
		}
	}
	// Check compares with the account at the beginning of a single run. Since then others may have rented instances.
	var problems Problems
	c.reservation, problems = c.tracker.reserve(ctx, "", kopH, kopH)
	return problems.Errors()
}

// Created records the instance that was rented or recovered.
func (c *Creation) Created(inst rental.Instance) {
	if c.reservation.pending == nil {
		c.tracker.pending.forgetAccount() // it lacks the instance
	}
	c.reservation.Rented(inst)
	if c.counted > 0 {
		c.tracker.mu.Lock()
		defer c.tracker.mu.Unlock()
		c.tracker.counted[inst.ID] = max(c.counted, inst.Price.RunningKopH)
	}
}

// SetWaits replaces the argument waits of BeginCreate, for another attempt.
func (c *Creation) SetWaits(waits bool) { c.waits = waits }

// End ends the creation, when the instance runs or could not be rented.
func (c *Creation) End() {
	c.reservation.Release()
	c.reservation = &Reservation{}
}
