package placement

import (
	"context"
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// noOffer is the offer id of a request that must not rent. The API has no such offer, but it returns the instance that
// was rented under the key.
const noOffer = "none"

// request rents from an offer, or returns the instance that was rented under the key before. If that instance is
// destroyed, the first unused key of the series is for its replacement.
func (c *creation) request(offerID string) (Placed, error) {
	c.sent = true
	if placed, found, err := c.skipToExpected(); found || err != nil {
		return placed, err
	}
	for attempt := 0; ; attempt++ {
		placed, used, err := c.tryKey(offerID)
		if !used || err != nil {
			return placed, err
		}
		if attempt > 0 { // the next keys are probably used, too
			if placed, used, err = c.skipUsed(); !used || err != nil {
				return placed, err
			}
		}
		if !c.keys.next() {
			return Placed{}, &Error{Kind: KeysUsedUp}
		}
	}
}

// skipToExpected moves to the expected generation if the key before it is used. If that key's instance exists, found is
// true. An unused key proves nothing about the keys before it, which the search then begins with.
func (c *creation) skipToExpected() (placed Placed, found bool, err error) {
	first, expected := c.keys.number, c.ExpectedGeneration
	if expected-1 <= first {
		return Placed{}, false, nil
	}
	c.keys.number = expected - 1
	placed, used, err := c.tryKey(noOffer)
	switch {
	case used:
		c.keys.number = expected
		return Placed{}, false, nil
	case err != nil && provesNothingRented(err):
		c.keys.number = first
		return Placed{}, false, nil
	}
	return placed, err == nil, err
}

// tryKey requests an instance under the current key. used reports that the instance of the key is destroyed.
func (c *creation) tryKey(offerID string) (placed Placed, used bool, err error) {
	placed, err = c.create(offerID)
	if err != nil {
		return Placed{}, false, err
	}
	if placed.Replayed {
		if used, err = c.checkReplay(&placed); used || err != nil {
			return Placed{}, used, err
		}
	}
	object := c.Object
	object.Created = true
	if _, ok := c.placer.Owners.Claim(placed.ID, object); !ok {
		return Placed{}, false, c.inUse(placed)
	}
	return placed, false, nil
}

// skipUsed moves from a used key to the last used one, with a number of requests that grows with the logarithm of their
// number: they are used in order. If the last one's instance exists, skipUsed returns it.
func (c *creation) skipUsed() (placed Placed, used bool, err error) {
	low, high := c.keys.number, 0 // the key low is used, and high is not; 0 if it is unknown
	for step := 1; high == 0 || high-low > 1; step *= 2 {
		c.keys.number = low + step
		if high > 0 {
			c.keys.number = (low + high) / 2
		}
		placed, used, err = c.tryKey(noOffer)
		switch {
		case err != nil && provesNothingRented(err):
			high = c.keys.number
		case !used || err != nil:
			return placed, used, err
		default:
			low = c.keys.number
		}
	}
	c.keys.number = low
	return Placed{}, true, nil
}

// create repeats the request until its outcome is known.
func (c *creation) create(offerID string) (Placed, error) {
	inst, replay, err := c.createOnce(offerID)
	if err != nil && inst.ID == "" {
		return Placed{}, err
	}
	placed := Placed{
		Instance: inst, OfferID: offerID, Generation: c.keys.number, Unreadable: err,
		Replayed: replay != rental.NotReplayed && !c.keys.isRandom(), // nothing else was rented under a random key
	}
	c.lost = c.lost || replay == rental.ReplayedAfterLoss && offerID != noOffer
	if offer, ok := c.offers[offerID]; ok {
		placed.Offer = &offer
	}
	return placed, nil
}

// maxUnreadable is the number of unreadable responses after which the outcome counts as unknown. A success without an
// id and an error that does not come from the API are unreadable, and a repetition is unlikely to help.
const maxUnreadable = 3

// createOnce repeats the request until its outcome is known. Until then no other offer may be tried, because an
// instance may have been rented. With an error it returns an instance only if its id is known.
func (c *creation) createOnce(offerID string) (rental.Instance, rental.Replay, error) {
	order := c.Order
	order.OfferID = offerID
	a := &attempts{creation: c, order: order}
	for {
		inst, replay, err := c.placer.client.CreateInstance(c.requestCtx, c.keys.current(), a.order)
		if err == nil || inst.ID != "" {
			return inst, replay, err
		}
		pause, again := a.next(err)
		c.lost = c.lost || a.lost != nil && offerID != noOffer
		if !again || backoff.Sleep(c.requestCtx, pause) != nil {
			return rental.Instance{}, rental.NotReplayed, a.outcome(err)
		}
		a.checkPrice(c.requestCtx)
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
	aboveCap      *Error    // the price of the offer rose above the cap after a response was lost
}

const (
	retryGrowth = 1.3
	// longestRetryPause is the longest pause between two attempts, in poll intervals.
	longestRetryPause = 6
	retryJitter       = 0.2
)

// next returns whether to repeat the request after err, and the pause before.
func (a *attempts) next(err error) (pause time.Duration, again bool) {
	pauses := backoff.Exponential{
		First:  a.placer.pollInterval,
		Max:    longestRetryPause * a.placer.pollInterval,
		Factor: retryGrowth,
		Jitter: retryJitter,
	}
	pause = pauses.Pause(a.made)
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
		return &Error{Kind: OutcomeUnknown, Key: a.keys.random, Within: a.RecoverWithin, Err: a.lost}
	}
	return err
}

// checkPrice reads the offer again before a repetition. If its price has risen above the cap, the repetition uses
// noOffer and can only return the instance that an earlier attempt rented.
func (a *attempts) checkPrice(ctx context.Context) {
	if a.MaxPriceKopH == 0 || a.order.OfferID == noOffer {
		return
	}
	offerID := a.order.OfferID
	state, price, _ := a.readOffer(ctx, offerID, a.MaxPriceKopH) //nolint:errcheck // then the price is unknown
	if state == AboveCap {
		a.aboveCap = &Error{Kind: OfferAboveCap, OfferID: offerID, PriceKopH: price, LimitKopH: a.MaxPriceKopH}
		a.order.OfferID = noOffer
	}
}

// provesNothingRented reports whether an error means that nothing was rented under the key. If an earlier attempt had
// succeeded, its repetition would return the instance.
func provesNothingRented(err error) bool {
	return rental.IsNotFound(err) || rental.IsConflict(err) || rental.IsInsufficientFunds(err) || rental.IsValidation(err)
}
