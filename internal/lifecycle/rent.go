package lifecycle

import (
	"context"
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// maxPriceChanges is how often a refused request is repeated because the price of the offer changed.
	maxPriceChanges = 2
	// maxRentals is the number of creations in flight. It is small, because an interrupted run waits for all requests that
	// were sent.
	maxRentals = 16
)

// lookupOnly is the offer of a request that must not rent. The API has no such offer, but it returns the instance that
// was rented under the key.
const lookupOnly = "none"

// creation creates one instance. It is rented under the first key of the seed whose instance is not destroyed, so that
// the keys lead to the same instance in every apply.
type creation struct {
	manager      *Manager
	order        Order // Generation is that of the current key
	began        time.Time
	responseLost bool // to a request that can have rented
}

func (m *Manager) newCreation(order Order) *creation {
	order.Generation = max(1, order.Generation)
	return &creation{manager: m, order: order, began: m.Client.Now()}
}

// Rent rents an instance from an offer if the burn limit allows its price, or returns the instance that was rented
// before under the key. With an error, nothing was rented unless it is OutcomeUnknown. If only the price of the offer
// changed, within the cap, Rent repeats the request. The caller saves the instance, and continues with
// ConvergeRented.
func (m *Manager) Rent(ctx context.Context, order Order, offer Candidate) (Rented, error) {
	c := m.newCreation(order)
	for changes, destroyed := 0, 0; ; {
		var rented Rented
		var use keyUse
		err := m.Account.Spend(ctx, order.Replaces, offer.KopH, func(ctx context.Context) (billed string, err error) {
			rented, use, err = c.request(ctx, &offer)
			if unknown, ok := errors.AsType[OutcomeUnknown](err); ok {
				return unknown.Key, err // it may be rented
			}
			return rented.ID, err
		})
		switch {
		case use == keyUnused && !rental.IsInsufficientFunds(err):
			now, again, refusal := c.afterRefusal(ctx, offer, err)
			if !again || changes == maxPriceChanges {
				return Rented{}, orInterrupted(ctx, refusal)
			}
			offer = now
			changes++
		case use == keyDestroyed && err == nil && destroyed == 0:
			destroyed++
			c.order.Generation++ // most likely unused: it needs no request that rents nothing
		case use == keyDestroyed && err == nil:
			if rented, found, err := c.skipDestroyed(ctx); found || err != nil {
				return rented, orInterrupted(ctx, err)
			}
		default:
			return rented, orInterrupted(ctx, err)
		}
	}
}

// orInterrupted returns err, or Interrupted if the context ended. An unknown outcome stays.
func orInterrupted(ctx context.Context, err error) error {
	_, unknown := errors.AsType[OutcomeUnknown](err)
	if end := ctx.Err(); end != nil && errors.Is(err, end) && !unknown {
		return Interrupted{end}
	}
	return err
}

// afterRefusal reads an offer that the API refused to rent, with its price now, and returns why it was not rented. A
// repetition helps only if the offer is available at another price.
func (c *creation) afterRefusal(
	ctx context.Context, offer Candidate, err error,
) (now Candidate, again bool, refusal error) {
	refused := OfferRefused{OfferID: offer.Offer.ID, Afterwards: Available, Err: err}
	if rental.IsValidation(err) {
		return offer, false, refused
	}
	now, readErr := c.manager.readOffer(ctx, offer.Offer.ID, c.order)
	now.Query = offer.Query
	_, unreadable := errors.AsType[*rental.Error](readErr)
	_, unavailable := errors.AsType[OfferUnavailable](readErr)
	switch {
	case unreadable:
		refused.Afterwards = AvailabilityUnknown
	case unavailable:
		refused.Afterwards = NotAvailable
	case readErr != nil:
		return now, false, readErr
	}
	return now, readErr == nil && now.KopH != offer.KopH && !rental.IsNotFound(err), refused
}

// keyUse is what was rented under a key.
type keyUse int

const (
	keyUnknown   keyUse = iota
	keyUnused           // nothing: the API refused the request
	keyDestroyed        // an instance that is destroyed
	keyLive             // an instance that exists
)

// request requests an instance under the current key until the outcome is known: from an offer, or without one to look
// up the instance that was rented before. It claims a live instance for the object.
func (c *creation) request(ctx context.Context, offer *Candidate) (Rented, keyUse, error) {
	select {
	case c.manager.rentals <- struct{}{}:
		defer func() { <-c.manager.rentals }()
	case <-ctx.Done():
		return Rented{}, keyUnknown, ctx.Err()
	}
	key, body := c.order.Seed.Key(c.order.Generation), c.order.Request
	if body.OfferID = lookupOnly; offer != nil {
		body.OfferID = offer.Offer.ID
	}
	attempts := attempts{pauses: c.manager.pauses()}
	for {
		inst, replay, err := c.manager.Client.CreateInstance(ctx, key, body)
		if inst.ID != "" {
			c.responseLost = c.responseLost || replay == rental.ReplayedAfterLoss && offer != nil
			if err != nil { // the response can be read only in part: the wait reads the instance by its id
				inst = rental.Instance{ID: inst.ID}
			}
			return c.accept(ctx, inst, replay, offer)
		}
		pause, again := attempts.next(err)
		c.responseLost = c.responseLost || attempts.responseLost != nil && offer != nil
		if again && backoff.Sleep(ctx, pause) == nil {
			ctx = rental.BeforeSend(ctx, nil) // the instance may be rented
			continue
		}
		switch {
		case attempts.refused:
			return Rented{}, keyUnused, err
		case attempts.responseLost != nil:
			err = OutcomeUnknown{Key: key, Seed: c.order.Seed, Generation: c.order.Generation, Err: attempts.responseLost}
		}
		return Rented{}, keyUnknown, err
	}
}

// accept claims the instance of a key.
func (c *creation) accept(
	ctx context.Context, inst rental.Instance, replay rental.Replay, offer *Candidate,
) (Rented, keyUse, error) {
	rented := Rented{
		Instance: inst, Order: c.order, Candidate: offer, Generation: c.order.Generation,
		Proven: replay == rental.NotReplayed || !c.order.Seed.Chosen(),
	}
	if replay != rental.NotReplayed {
		if destroyed, err := c.checkReplay(ctx, &rented); destroyed || err != nil {
			return Rented{}, keyDestroyed, err
		}
	}
	use := Created
	if rented.Recovered && !rented.Proven {
		use = Taken
	}
	if !c.manager.Owners.create(rented.ID, c.order.Object, use) {
		return Rented{}, keyLive, InUse{rented.Instance}
	}
	return rented, keyLive, nil
}
