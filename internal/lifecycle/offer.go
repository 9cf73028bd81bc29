package lifecycle

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// NewCandidate returns an offer with its price for a request. The error is NotInterruptible, OfferAboveCap or
// OfferUnavailable. A cap of 0 means none.
func NewCandidate(offer rental.Offer, request rental.InstanceCreate, maxPriceKopH int64) (Candidate, error) {
	candidate := Candidate{Offer: offer}
	price, rentable := offer.PriceKopH(request.Type)
	candidate.KopH, _ = PriceWithDisk(offer, request.Type, request.DiskGB)
	switch {
	case !rentable:
		return candidate, NotInterruptible{offer.ID}
	case maxPriceKopH > 0 && price > maxPriceKopH:
		return candidate, OfferAboveCap{OfferID: offer.ID, PriceKopH: price, CapKopH: maxPriceKopH}
	case !offer.Available:
		return candidate, OfferUnavailable{offer.ID}
	}
	return candidate, nil
}

// BaseDiskGB is the disk size that the price of an offer includes at least: no instance has a smaller disk.
const BaseDiskGB = 10

// PriceWithDisk returns the highest price of an instance from an offer. It is false if the offer has no price for the
// rental type.
func PriceWithDisk(offer rental.Offer, kind rental.RentalType, diskGB int64) (kopH int64, ok bool) {
	price, ok := offer.PriceKopH(kind)
	return price + offer.DiskKopH(max(0, diskGB-BaseDiskGB)), ok
}

// readOffer reads an offer and its price. The error is that of the API, or one of NewCandidate.
func (m *Manager) readOffer(ctx context.Context, id string, order Order) (Candidate, error) {
	offer, err := m.Client.GetOffer(ctx, id)
	switch {
	case rental.IsNotFound(err):
		return Candidate{}, OfferUnavailable{id}
	case err != nil:
		return Candidate{}, err
	}
	return NewCandidate(offer, order.Request, order.MaxPriceKopH)
}
