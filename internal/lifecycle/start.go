package lifecycle

import (
	"context"
	"errors"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// isLimited reports whether a start has to be compared with a limit.
func (c *converger) isLimited() bool { return c.target.MaxPriceKopH > 0 || c.manager.Account.Limited() }

// isLimit reports whether an error is about a limit.
func isLimit(err error) bool {
	_, aboveCap := errors.AsType[AboveCap](err)
	_, aboveBurnLimit := errors.AsType[spending.AboveBurnLimit](err)
	return aboveCap || aboveBurnLimit
}

// start starts an instance or places a new bid. The price is compared with the limits afterwards, also in an
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
	limit := c.target.MaxPriceKopH
	switch {
	case err != nil && !rental.IsDefinitive(err) && ctx.Err() == nil:
		c.readError = err
		return nil // the next observation tries again
	case err != nil:
		return err
	case limit > 0 && price > limit:
		return AboveCap{PriceKopH: price, CapKopH: limit}
	}
	kopH, id := inst.StartKopH(bid), inst.ID
	err = c.manager.Account.Spend(ctx, id, kopH, func(ctx context.Context) (billed string, err error) {
		c.allowedKopH = kopH
		c.starts++
		c.readiness = readiness{addresses: c.addresses}
		if err = ctx.Err(); err == nil {
			err = c.send(ctx, inst, c.manager.Client.StartInstance)
		}
		if err != nil {
			return "", err
		}
		return id, nil // even after a refusal because of the status: an earlier attempt may have started it
	})
	if err != nil {
		return err
	}
	return c.checkPriceAfterStart(ctx, inst)
}

// readBid returns the price of a new bid if a check before the start needs it, nil if it is unknown. It is the price of
// the offer, which is unknown after an import. The price of an on-demand instance is locked.
func (c *converger) readBid(ctx context.Context, inst rental.Instance) (kopH *int64, err error) {
	if !c.isLimited() || inst.Type != rental.Interruptible || c.target.OfferID == "" {
		return nil, nil
	}
	offer, err := c.manager.Client.GetOffer(ctx, c.target.OfferID)
	switch {
	case rental.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return offer.Price.InterruptibleKopH, nil
}

// checkPriceAfterStart stops an instance that this wait started above a limit. It checks every observation after a
// start, because the response to the start may be lost or contain the old price. The error is errStopped if the API has
// accepted the stop, and otherwise why it refused. The next observations decide whether to repeat a stop with an
// unknown outcome.
func (c *converger) checkPriceAfterStart(ctx context.Context, inst *rental.Instance) error {
	if c.starts == 0 || c.tooExpensive != nil || c.last == nil || c.last.wanted != rental.DesiredRunning {
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
	if limit := c.target.MaxPriceKopH; limit > 0 && inst.PriceWithoutDisk(c.last.before.Price.StoppedKopH) > limit {
		c.tooExpensive = AboveCap{PriceKopH: inst.Price.RunningKopH, CapKopH: limit}
	} else if c.tooExpensive = c.spendMore(ctx, *inst); c.tooExpensive == nil {
		return nil
	}
	c.target.State = rental.DesiredStopped
	ctx, stop := rental.Detached(ctx)
	defer stop()
	if err := c.stop(ctx, inst); err != nil {
		return err
	}
	if c.last.err == nil {
		return errStopped
	}
	return nil
}

// spendMore compares the price of an instance with the burn limit again if it is higher than the one that the limit has
// allowed: the price of a new bid can be unknown before the request, and a rental can cost more than its offer. The
// error is spending.AboveBurnLimit.
func (c *converger) spendMore(ctx context.Context, inst rental.Instance) error {
	price := inst.Price.RunningKopH
	if !c.manager.Account.Limited() || price <= c.allowedKopH {
		return nil
	}
	err := c.manager.Account.Spend(ctx, inst.ID, price, func(context.Context) (string, error) { return inst.ID, nil })
	if _, above := errors.AsType[spending.AboveBurnLimit](err); above {
		return err
	}
	if err != nil {
		c.readError = err
		return nil //nolint:nilerr // the next observation compares again
	}
	c.allowedKopH = price
	return nil
}
