package lifecycle

import (
	"cmp"
	"context"
	"errors"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// start starts an instance or places a new bid. With a price cap, the price is compared afterwards, also in an
// interrupted run.
func (c *converger) start(ctx context.Context, inst *rental.Instance) error {
	bid, err := c.readBid(ctx, *inst)
	price := inst.PriceWithoutDisk(inst.Price.StoppedKopH)
	if inst.Type == rental.Interruptible {
		price = 0 // unknown
		if bid != nil {
			price = *bid
		}
	}
	switch {
	case err != nil && !rental.IsDefinitive(err) && ctx.Err() == nil:
		c.readError = err
		return nil // the next observation tries again
	case err != nil:
		return err
	case c.MaxPriceKopH > 0 && price > c.MaxPriceKopH:
		return &failure.Error{
			Kind: failure.AboveLimit, Limit: failure.MaxPrice, Wanted: c.State, PriceKopH: price, LimitKopH: c.MaxPriceKopH,
		}
	}
	kopH := inst.StartKopH(bid)
	hold, err := c.Hold.Ask(ctx, inst.ID, kopH)
	if excess, ok := errors.AsType[*failure.Error](err); ok && excess.Kind == failure.AboveLimit {
		excess.Instance, excess.Wanted = *inst, c.State
	}
	if err != nil {
		return err
	}
	c.heldKopH = kopH
	c.starts++
	c.readiness = readiness{addresses: c.addresses}
	err = ctx.Err()
	if err == nil {
		err = c.send(ctx, inst, c.manager.Client.StartInstance)
	}
	if err != nil {
		hold.Release()
		return err
	}
	hold.Commit(inst.ID, kopH) // even after a refusal because of the status: an earlier attempt may have started it
	return c.checkPriceAfterStart(ctx, inst)
}

// checkAfterInterruption reads an instance that was started once more: the responses before the interruption can
// contain the old price, and nothing observes the instance again. err is the error of the wait.
func (c *converger) checkAfterInterruption(ctx context.Context, inst *rental.Instance, err error) error {
	if c.last == nil || c.starts == 0 || c.aboveCap != nil || c.MaxPriceKopH == 0 && c.Hold == nil {
		return err
	}
	ctx, stop := rental.Detached(ctx)
	defer stop()
	seen, readErr := c.manager.Client.GetInstance(ctx, inst.ID)
	if readErr != nil {
		return err
	}
	*inst = seen
	c.last.observe(seen)
	return cmp.Or(c.checkPriceAfterStart(ctx, inst), err)
}

// readBid returns the price of a new bid if a check before the start needs it, nil if it is unknown. It is the price of
// the offer, which is unknown after an import. The price of an on-demand instance is locked.
func (c *converger) readBid(ctx context.Context, inst rental.Instance) (kopH *int64, err error) {
	if c.MaxPriceKopH == 0 && c.Hold == nil || inst.Type != rental.Interruptible || c.OfferID == "" {
		return nil, nil
	}
	offer, err := c.manager.Client.GetOffer(ctx, c.OfferID)
	switch {
	case rental.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return offer.Price.InterruptibleKopH, nil
}

// checkPriceAfterStart stops an instance that this wait started above the cap or a limit of the account. It checks
// every observation after a start, because the response to the start may be lost or contain the old price.
func (c *converger) checkPriceAfterStart(ctx context.Context, inst *rental.Instance) error {
	if c.starts == 0 || c.aboveCap != nil || c.last == nil || c.last.wanted != rental.DesiredRunning {
		return nil
	}
	switch inst.Status {
	case rental.StatusStopping, rental.StatusFailed, rental.StatusDestroying, rental.StatusDestroyed:
		return nil
	case rental.StatusStopped, rental.StatusOutbid:
		// Its GPU is not billed, unless the status lags and only the price is new.
		if c.last.visible || inst.Price.RunningKopH == c.last.before.Price.RunningKopH {
			return nil
		}
	default:
	}
	if c.aboveCap = c.exceeds(ctx, *inst); c.aboveCap == nil {
		return nil
	}
	c.State = rental.DesiredStopped
	ctx, stop := rental.Detached(ctx)
	defer stop()
	if err := c.stop(ctx, inst); err != nil {
		return err
	}
	if c.last.err == nil {
		return c.aboveCap
	}
	return nil // the next observations decide whether to repeat the stop
}

// exceeds returns why the price of an instance that this wait has started is too high; nil if it is not.
func (c *converger) exceeds(ctx context.Context, inst rental.Instance) *failure.Error {
	if c.MaxPriceKopH > 0 && inst.PriceWithoutDisk(c.last.before.Price.StoppedKopH) > c.MaxPriceKopH {
		return &failure.Error{
			Kind: failure.AboveLimit, Limit: failure.MaxPrice, Removal: failure.Stopped, Wanted: rental.DesiredRunning,
			PriceKopH: inst.Price.RunningKopH, LimitKopH: c.MaxPriceKopH,
		}
	}
	excess := c.holdMore(ctx, inst)
	if excess != nil {
		excess.Removal, excess.Wanted = failure.Stopped, rental.DesiredRunning
	}
	return excess
}

// holdMore compares the price of an instance with the limits again if it is higher than the one that they have allowed:
// the price of a new bid can be unknown before the request, and a rental can cost more than its offer.
func (c *converger) holdMore(ctx context.Context, inst rental.Instance) *failure.Error {
	price := inst.Price.RunningKopH
	if c.Hold == nil || price <= c.heldKopH {
		return nil
	}
	hold, err := c.Hold(ctx, inst.ID, price)
	if err == nil {
		hold.Commit(inst.ID, price)
		c.heldKopH = price
		return nil
	}
	if excess, ok := errors.AsType[*failure.Error](err); ok && excess.Kind == failure.AboveLimit {
		excess.Instance = inst
		return excess
	}
	c.readError = err // the next observation compares again
	return nil
}
