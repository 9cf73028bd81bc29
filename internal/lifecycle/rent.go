package lifecycle

import (
	"context"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// maxPriceChanges is how often a refused request is repeated because the price of the offer changed.
	maxPriceChanges = 2
	// maxRentals is the number of creations in flight. It is small, because an interrupted run waits for all requests that
	// were sent.
	maxRentals = 16
)

// creation creates one instance. It is rented under the first key of the seed whose instance is not destroyed, so that
// the keys lead to the same instance in every apply.
type creation struct {
	Order   // Generation is that of the current key
	manager *Manager

	began time.Time // in the API's time
	lost  bool      // the response to a create request was lost
}

// newCreation begins a creation.
func (m *Manager) newCreation(order Order) *creation {
	c := &creation{Order: order, manager: m, began: m.Client.Now()}
	c.Generation = max(1, order.Generation)
	return c
}

// key returns the current idempotency key.
func (c *creation) key() string { return c.Seed.Key(c.Generation) }

// rent rents from an offer while the limits allow its price. If they do not, it returns the instance that an earlier
// run rented under the key, whose price counts already. If only the price of the offer changed, within the cap, it
// repeats the request.
func (c *creation) rent(ctx context.Context, candidate Candidate) (Rented, error) {
	for changes := 0; ; changes++ {
		hold, err := c.Target.Hold.Ask(ctx, "", candidate.KopH)
		if failure.Exceeds(err, failure.MaxBurn) {
			return c.recover(ctx, err)
		}
		if err != nil {
			return Rented{}, err
		}
		rented, err := c.request(ctx, &candidate)
		switch {
		case err == nil: // the wait for the instance compares a higher price
			hold.Commit(rented.ID, candidate.KopH)
		case failure.KindOf(err) == failure.OutcomeUnknown:
			hold.Commit(c.key(), candidate.KopH) // it may be rented
		default:
			hold.Release()
		}
		if failure.KindOf(err) != "" || !provesNothingRented(err) || rental.IsInsufficientFunds(err) {
			return rented, err
		}
		again, refusal := c.afterRefusal(ctx, candidate, err)
		if refusal.Availability != failure.Available || again.KopH == candidate.KopH || changes == maxPriceChanges {
			return Rented{}, refusal
		}
		candidate = again
	}
}

// afterRefusal reads an offer that the API refused to rent, with its price now. A repetition helps only if the offer is
// available at another price.
func (c *creation) afterRefusal(
	ctx context.Context, candidate Candidate, err error,
) (again Candidate, refusal *failure.Error) {
	refusal = &failure.Error{
		Kind: failure.OfferRefused, OfferID: candidate.Offer.ID, Availability: failure.Available, Err: err,
	}
	if rental.IsValidation(err) {
		return candidate, refusal
	}
	again, readErr := c.readOffer(ctx, candidate.Offer.ID)
	switch e := failure.As(readErr); {
	case e.Kind == failure.AboveLimit:
		return candidate, &e
	case e.Kind == failure.OfferRefused:
		refusal.Availability = e.Availability
	case readErr != nil:
		refusal.Availability = failure.AvailabilityUnknown
	case !rental.IsNotFound(err):
		candidate.Offer, candidate.KopH = again.Offer, again.KopH
	}
	return candidate, refusal
}

// recover requests the instance that was rented under the key before. It returns otherwise if there is none.
func (c *creation) recover(ctx context.Context, otherwise error) (Rented, error) {
	if c.Seed.New() {
		return Rented{}, otherwise
	}
	rented, err := c.request(ctx, nil)
	if provesNothingRented(err) {
		return Rented{}, otherwise
	}
	return rented, err
}

// readOffer reads an offer and its price. An offer that cannot be rented within the cap is an error of the kind
// OfferRefused or AboveLimit.
func (c *creation) readOffer(ctx context.Context, offerID string) (Candidate, error) {
	offer, err := c.manager.Client.GetOffer(ctx, offerID)
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
