package lifecycle

import (
	"context"
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// maxUnreadable is the number of unreadable responses after which the outcome counts as unknown. A success without an
// id and an error that does not come from the API are unreadable, and a repetition is unlikely to help.
const maxUnreadable = 3

// createOnce repeats the request until its outcome is known. Until then no other offer may be tried, because an
// instance may have been rented. With an error it returns an instance only if its id is known.
func (c *creation) createOnce(ctx context.Context, offerID string) (rental.Instance, rental.Replay, error) {
	order := c.InstanceCreate
	order.OfferID = offerID
	a := &attempts{creation: c, order: order}
	for {
		inst, replay, err := c.manager.Client.CreateInstance(ctx, c.key(), a.order)
		if err == nil || inst.ID != "" {
			return inst, replay, err
		}
		pause, again := a.next(err)
		c.lost = c.lost || a.lost != nil && offerID != lookupOnly
		if !again || backoff.Sleep(ctx, pause) != nil {
			return rental.Instance{}, rental.NotReplayed, a.outcome(err)
		}
		a.checkPrice(ctx)
	}
}

// attempts records the requests for one instance under one key.
type attempts struct {
	*creation
	order         rental.InstanceCreate
	made          int
	unreadable    int
	lost          error     // error of the last request with a lost response; nil for none
	inFlightUntil time.Time // until then a request with a lost response may be in flight
	refused       bool      // the last response proves that nothing was rented
	aboveCap      error     // the price of the offer rose above the cap after a response was lost
}

// next returns whether to repeat the request after err, and the pause before.
func (a *attempts) next(err error) (pause time.Duration, again bool) {
	pause = a.manager.pauses().Pause(a.made)
	a.made++
	response, _ := errors.AsType[*rental.Error](err)
	if response != nil && response.InFlightUntil.After(a.inFlightUntil) {
		a.inFlightUntil = response.InFlightUntil
	}
	inFlight := time.Until(a.inFlightUntil)
	switch {
	case rental.IsUnreachable(err) && response.Attempts == 0:
		return 0, false // the client has given up
	case rental.IsUnauthorized(err), rental.IsForbidden(err):
		// The API checks permissions before the idempotency key, so a repetition cannot show what was rented.
		if rental.IsOutcomeUnknown(err) || inFlight > 0 {
			a.lost = err
		}
		return 0, false
	case rental.IsOutcomeUnknown(err):
		a.lost = err
		if response.Foreign && response.Status < 500 || response.Status/100 == 2 {
			a.unreadable++
		}
		return pause, a.unreadable < maxUnreadable
	case provesNothingRented(err) && inFlight > 0:
		// A request with a lost response may still be in flight, although its repetition was refused.
		a.lost = err
		return inFlight, true
	case provesNothingRented(err):
		a.refused = a.aboveCap == nil || rental.IsNotFound(err)
		return 0, false
	}
	return pause, a.lost != nil
}

// outcome returns the error of all attempts; err is the error of the last one.
func (a *attempts) outcome(err error) error {
	switch {
	case a.refused && a.aboveCap != nil:
		return a.aboveCap
	case a.lost != nil && !a.refused:
		return &failure.Error{
			Kind: failure.OutcomeUnknown, Key: a.key(), ConfiguredKey: a.Seed.text, Generation: a.Generation,
			Within: a.RecoverWithin, Err: a.lost,
		}
	}
	return err
}

// checkPrice reads the offer again before a repetition. If its price has risen above the cap, the repetition uses
// lookupOnly and can only return the instance that an earlier attempt rented.
func (a *attempts) checkPrice(ctx context.Context) {
	if a.Target.MaxPriceKopH == 0 || a.order.OfferID == lookupOnly {
		return
	}
	if _, err := a.readOffer(ctx, a.order.OfferID); failure.Exceeds(err, failure.MaxPrice) {
		a.aboveCap = err
		a.order.OfferID = lookupOnly
	}
}

// provesNothingRented reports whether an error means that nothing was rented under the key. If an earlier attempt had
// succeeded, its repetition would return the instance.
func provesNothingRented(err error) bool {
	return rental.IsNotFound(err) || rental.IsConflict(err) || rental.IsInsufficientFunds(err) || rental.IsValidation(err)
}
