package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

const (
	// maxPriceChanges is how often a refused request is repeated because the price of the offer changed.
	maxPriceChanges = 2
	// createGrace is how long the create request may continue after an interruption, in addition to the request timeout.
	createGrace = 10 * time.Second
	// maxRentals is the number of creations in flight. It is small, because an interrupted run waits for all of them.
	maxRentals = 16
	// maxHoldTime is how long a creation in flight may wait for the comparison of its price with the limits.
	maxHoldTime = time.Minute
)

// creation creates one instance under one series of idempotency keys.
type creation struct {
	Order
	manager    *Manager
	keys       *idempotencyKeys
	requestCtx context.Context // of the create request, which outlives an interruption

	began time.Time // in the API's time
	sent  bool      // a create request was sent
	lost  bool      // the response to a create request was lost
}

// rent rents an instance, or returns the instance that was rented before under the idempotency key; without a candidate
// only the latter. The end of ctx does not cancel the create request, which could leave a billed instance in no state.
func (m *Manager) rent(ctx context.Context, order Order, candidate *Candidate) (Rented, error) {
	select {
	case m.rentals <- struct{}{}:
		defer func() { <-m.rentals }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return Rented{}, &failure.Error{Kind: failure.Interrupted, Err: ctx.Err()}
	}
	requestCtx, stop := rental.Detached(ctx, m.client.RequestTimeout()+createGrace)
	defer stop()
	c := &creation{
		Order: order, manager: m, keys: newIdempotencyKeys(order), requestCtx: requestCtx, began: m.client.Now(),
	}
	if candidate == nil {
		return c.recover(&failure.Error{Kind: failure.NoOffer})
	}
	rented, err := c.rentFrom(ctx, *candidate)
	if err != nil && ctx.Err() != nil && c.nothingRented(err, ctx.Err()) {
		err = &failure.Error{Kind: failure.Interrupted, Err: ctx.Err()}
	}
	return rented, err
}

// nothingRented reports whether a creation that failed because its context ended has rented nothing.
func (c *creation) nothingRented(err, end error) bool {
	return failure.KindOf(err) != failure.OutcomeUnknown && (!c.sent || errors.Is(err, end))
}

// rentFrom rents from an offer while the limits allow its price. If they do not, it returns the instance that an
// earlier run rented under the key, whose price counts already. If only the price of the offer changed, within the cap,
// it repeats the request.
func (c *creation) rentFrom(ctx context.Context, candidate Candidate) (Rented, error) {
	for changes := 0; ; changes++ {
		rented, err := c.rentWithinLimits(ctx, candidate)
		if !isRejected(err) {
			return rented, err
		}
		refused := &failure.Error{
			Kind: failure.OfferRefused, OfferID: candidate.Offer.ID, Availability: failure.Available, Err: err,
		}
		if rental.IsValidation(err) {
			return Rented{}, refused
		}
		now, readErr := c.readOffer(ctx, candidate.Offer.ID)
		switch {
		case failure.KindOf(readErr) == failure.OfferRefused:
			refused.Availability = failure.As(readErr).Availability
			return Rented{}, refused
		case failure.Exceeds(readErr, failure.MaxPrice):
			return Rented{}, readErr
		case readErr != nil:
			refused.Availability = failure.AvailabilityUnknown
			return Rented{}, refused
		case now.KopH == candidate.KopH || rental.IsNotFound(err) || changes == maxPriceChanges:
			return Rented{}, refused
		}
		candidate.Offer, candidate.KopH = now.Offer, now.KopH
	}
}

// rentWithinLimits rents from an offer if the limits allow its price.
func (c *creation) rentWithinLimits(ctx context.Context, candidate Candidate) (Rented, error) {
	if c.Target.Hold == nil {
		return c.request(candidate)
	}
	kopH := candidate.KopH
	hold, err := c.hold(ctx, kopH)
	if failure.Exceeds(err, failure.MaxBurn, failure.MaxTotal) {
		return c.recover(err)
	}
	if err != nil {
		return Rented{}, err
	}
	rented, err := c.request(candidate)
	switch {
	case err == nil:
		hold.Commit(rented.ID, min(kopH, cmp.Or(rented.BurnKopH(), kopH)))
	case failure.KindOf(err) == failure.OutcomeUnknown:
		hold.Commit(c.keys.current(), kopH) // it may be rented
	default:
		hold.Release()
	}
	return rented, err
}

// hold compares a price with the limits. If that waits for long, other requests in flight may be the reason, and one of
// them may wait for the place of this creation: it gives up its place, and continues when there is one again.
func (c *creation) hold(ctx context.Context, kopH int64) (spending.Hold, error) {
	for {
		holdCtx, stop := context.WithTimeout(ctx, maxHoldTime)
		hold, err := c.Target.Hold(holdCtx, "", kopH)
		late := holdCtx.Err() != nil && ctx.Err() == nil
		stop()
		if err == nil || !late {
			return hold, err
		}
		<-c.manager.rentals
		c.manager.rentals <- struct{}{}
	}
}

// recover requests the instance that an earlier run rented under the key. It returns otherwise if there is none.
func (c *creation) recover(otherwise error) (Rented, error) {
	if c.keys.isRandom() {
		return Rented{}, otherwise
	}
	rented, err := c.request(noOffer)
	if err != nil && provesNothingRented(err) {
		return Rented{}, otherwise
	}
	return rented, err
}

// isRejected reports whether the API rejected a request to rent an offer, and nothing was rented.
func isRejected(err error) bool {
	return failure.KindOf(err) == 0 &&
		(rental.IsNotFound(err) || rental.IsConflict(err) || rental.IsValidation(err))
}

// readOffer reads an offer and its price. An offer that cannot be rented within the cap is an error of the kind
// OfferRefused or AboveLimit.
func (c *creation) readOffer(ctx context.Context, offerID string) (Candidate, error) {
	offer, err := c.manager.client.GetOffer(ctx, offerID)
	if rental.IsNotFound(err) {
		return Candidate{}, &failure.Error{
			Kind: failure.OfferRefused, OfferID: offerID, Availability: failure.NotAvailable,
		}
	}
	if err != nil {
		return Candidate{}, &failure.Error{Kind: failure.OffersUnreadable, OfferID: offerID, Err: err}
	}
	return NewCandidate(offer, c.InstanceCreate, c.Target.MaxPriceKopH)
}

// NewCandidate returns an offer with its price for an order. An offer that is not available, has no price for the type,
// or is above the cap is an error. A cap of 0 means none.
func NewCandidate(offer rental.Offer, order rental.InstanceCreate, maxPriceKopH int64) (Candidate, error) {
	candidate := Candidate{Offer: offer}
	price, rentable := offer.PriceKopH(order.Type)
	candidate.KopH, _ = PriceWithDisk(offer, order.Type, order.DiskGB)
	refused := &failure.Error{Kind: failure.OfferRefused, OfferID: offer.ID}
	switch {
	case !rentable:
		refused.Availability = failure.NoPriceForType
	case maxPriceKopH > 0 && price > maxPriceKopH:
		return candidate, &failure.Error{
			Kind: failure.AboveLimit, Limit: failure.MaxPrice, OfferID: offer.ID, PriceKopH: price, LimitKopH: maxPriceKopH,
		}
	case !offer.Available:
		refused.Availability = failure.NotAvailable
	default:
		return candidate, nil
	}
	return candidate, refused
}

// BaseDiskGB is the disk size that the price of an offer includes at least: no instance has a smaller disk.
const BaseDiskGB = 10

// PriceWithDisk returns the highest price of an instance from an offer. It is false if the offer has no price for the
// rental type.
func PriceWithDisk(offer rental.Offer, kind rental.RentalType, diskGB int64) (kopH int64, ok bool) {
	price, ok := offer.PriceKopH(kind)
	return price + offer.DiskKopH(max(0, diskGB-BaseDiskGB)), ok
}
