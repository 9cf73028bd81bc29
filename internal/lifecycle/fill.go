package lifecycle

import (
	"context"
	"errors"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Fill rents an instance from an offer and takes it to its target, or takes the instance that was rented before under
// the key. With an error nothing is rented, unless OnRented was called or the kind is OutcomeUnknown. An instance that
// costs too much or is not as ordered is destroyed again, or stopped if this creation may not have rented it: see
// failure.Error.Removal.
func (m *Manager) Fill(ctx context.Context, order Order, candidate Candidate) (Rented, error) {
	rented, err := m.newCreation(order).rent(ctx, candidate)
	if err != nil {
		return Rented{}, orInterrupted(ctx, err)
	}
	return m.Finish(ctx, order, rented)
}

// Recover returns the instance that was rented under the key before. It is an error of the kind NoOffer, with the
// generation of the first unused key, if there is none. The caller continues with Finish, or with Owners.Release.
func (m *Manager) Recover(ctx context.Context, order Order) (Rented, error) {
	c, none := m.newCreation(order), &failure.Error{Kind: failure.NoOffer}
	rented, err := c.recover(ctx, none)
	none.Generation = c.Generation
	return rented, orInterrupted(ctx, err)
}

// orInterrupted returns err, or that the context ended. An unknown outcome stays.
func orInterrupted(ctx context.Context, err error) error {
	if end := ctx.Err(); end != nil && errors.Is(err, end) && failure.KindOf(err) != failure.OutcomeUnknown {
		return &failure.Error{Kind: failure.Interrupted, Err: end}
	}
	return err
}

// Finish takes a rented instance to its target.
func (m *Manager) Finish(ctx context.Context, order Order, rented Rented) (Rented, error) {
	rented.QuotedKopH = rented.Price.RunningKopH
	if order.OnRented != nil {
		order.OnRented(rented)
	}
	target := order.Target
	if target.CreatedAt = rented.CreatedAt; !rented.Recovered || target.CreatedAt.IsZero() {
		target.CreatedAt = m.Client.Now()
	}
	if rented.Candidate != nil {
		target.OfferID = rented.Candidate.Offer.ID
	}
	c := &converger{manager: m, Target: target}
	c.accept = func(ctx context.Context, inst rental.Instance) *failure.Error {
		rented.Instance = inst
		if rented.QuotedKopH == 0 {
			rented.QuotedKopH = inst.Price.RunningKopH
		}
		return c.checkTerms(ctx, order, rented)
	}
	if rented.Candidate != nil {
		c.heldKopH = rented.Candidate.KopH
	}
	inst, err := c.run(ctx, rented.Instance)
	rented.Instance, rented.Outcome = inst, c.outcome()
	if c.rejected != nil {
		m.discard(ctx, &rented, c.rejected)
		return rented, c.rejected
	}
	return rented, err
}

// checkTerms returns why an instance must not run: it costs more than a limit allows, or is not as ordered; nil if it
// may. After a start, the wait compares the price itself.
func (c *converger) checkTerms(ctx context.Context, order Order, rented Rented) *failure.Error {
	price := rented.Price.RunningKopH
	switch {
	case c.starts > 0:
		return nil
	case rented.aboveCap(order):
		return &failure.Error{
			Kind: failure.AboveLimit, Limit: failure.MaxPrice, Instance: rented.Instance, PriceKopH: price,
			LimitKopH: order.Target.MaxPriceKopH,
		}
	}
	differences := rented.Differences(order)
	if !rented.Recovered && len(differences) > 0 && differences[0].Harmful {
		return &failure.Error{Kind: failure.NotAsRequested, Instance: rented.Instance, Differences: differences}
	}
	if rented.Recovered && !rented.BillsGPU() {
		return nil
	}
	excess := c.holdMore(ctx, rented.Instance)
	if rented.Recovered && excess != nil && excess.Limit == failure.MaxBurn {
		c.heldKopH = price // the burn rate contains it already
		return nil
	}
	return excess
}

// discard destroys an instance because of reason, or stops one that this creation may not have rented, even after an
// interruption.
func (m *Manager) discard(ctx context.Context, rented *Rented, reason *failure.Error) {
	ctx, stop := rental.Detached(ctx)
	defer stop()
	reason.Removal = failure.Destroyed
	if !rented.ByThisCreation() {
		reason.Removal = failure.Stopped
		var stopped rental.Instance
		if stopped, reason.Err = m.requestStop(ctx, rented.ID); reason.Err == nil {
			rented.Instance = stopped
		}
	} else {
		_, _, reason.Err = m.requestDestroy(ctx, rented.ID, m.Client.Now())
	}
	if reason.Err != nil {
		reason.Removal = failure.NotRemoved
	}
}
