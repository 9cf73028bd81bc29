package placement

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

const (
	// firstCandidates is the number of offers that are read first: one page, which is usually enough.
	firstCandidates = rental.MaxPageSize
	// maxCandidates is the maximum number of offers that are read.
	maxCandidates = 1000
	// maxRefusals is how often the API may refuse to rent an offer that is available before the creation ends. The first
	// refusals can mean that another customer has rented it: the API caches offers for a minute.
	maxRefusals = 3
	// maxPriceChanges is how often a refused request is repeated because the price of the offer changed.
	maxPriceChanges = 2
	// goneFor is how long an unavailable offer stays reserved, so that other creations do not try it. The API refreshes
	// its offers about every minute.
	goneFor = time.Minute
)

// readOffer reads an offer and its price for the rental type. An offer above the limit is AboveCap; a limit of 0 means
// no limit.
func (c *creation) readOffer(
	ctx context.Context,
	offerID string,
	limit int64,
) (state Availability, kopH int64, err error) {
	offer, err := c.placer.client.GetOffer(ctx, offerID)
	switch {
	case rental.IsNotFound(err):
		return NotAvailable, 0, nil
	case err != nil:
		return AvailabilityUnknown, 0, &Error{Kind: OffersUnreadable, OfferID: offerID, Err: err}
	}
	c.offers[offerID] = offer
	kopH, ok := offer.PriceKopH(c.Order.Type)
	switch {
	case !ok:
		return NoPriceForType, 0, &Error{Kind: NotInterruptible, OfferID: offerID}
	case limit > 0 && kopH > limit:
		return AboveCap, kopH, nil
	case !offer.Available:
		return NotAvailable, kopH, nil
	}
	return Available, kopH, nil
}

// fromNamedOffer rents from one offer. If the offer is not available or above the cap, an earlier run may have rented
// it.
func (c *creation) fromNamedOffer(ctx context.Context) (Placed, error) {
	offerID := c.OfferID
	if c.MaxPriceKopH > 0 || c.Hold != nil {
		state, price, err := c.readOffer(ctx, offerID, c.MaxPriceKopH)
		aboveCap := &Error{Kind: OfferAboveCap, OfferID: offerID, PriceKopH: price, LimitKopH: c.MaxPriceKopH}
		gone := &Error{Kind: OfferGone, OfferID: offerID}
		switch {
		case state == AboveCap:
			return c.recover(ctx, aboveCap)
		case state == NotAvailable:
			return c.recover(ctx, gone)
		case err != nil:
			return Placed{}, err
		}
	} else if offer, ok := c.placer.cache.SeenOffer(offerID); ok {
		c.offers[offerID] = offer
	} else {
		_, _, _ = c.readOffer(ctx, offerID, 0) //nolint:errcheck // the offer is only described; the create request decides
	}
	if ctx.Err() != nil {
		return Placed{}, &Error{Kind: Interrupted, Err: ctx.Err()}
	}
	c.reserve(offerID)
	placed, state, err := c.rentFrom(ctx, offerID, c.MaxPriceKopH)
	c.release(offerID, state, placed, err)
	if isRejected(err) {
		return Placed{}, &Error{Kind: OfferRefused, OfferID: offerID, Available: state, Err: err}
	}
	return placed, err
}

// fromQueries rents from the offers of the first query that has any.
func (c *creation) fromQueries(ctx context.Context) (Placed, error) {
	none := &Error{Kind: NoOffer}
	for i, query := range c.Queries {
		attempt := &Error{Kind: NoOffer}
		placed, next, err := c.fromQuery(ctx, query, attempt)
		if !next {
			return placed.from(i), err
		}
		none.add(*attempt)
	}
	switch {
	case !c.sent:
		return c.recover(ctx, none)
	case isRefusal(none.Last):
		return Placed{}, none.Last
	}
	return Placed{}, none
}

// fromQuery tries the offers of a query until one is rented. It starts with a cached list, and reads the list again
// before it gives up: then next is true and nothing was rented. It describes the offers in none.
func (c *creation) fromQuery(ctx context.Context, query Query, none *Error) (placed Placed, next bool, err error) {
	tried := map[string]bool{}
	for _, read := range []struct {
		offers func(context.Context, rental.OfferQuery, int) ([]rental.Offer, error)
		limit  int
		more   bool // it extends the previous list
	}{
		{c.placer.cache.Offers, firstCandidates, false},
		{c.placer.cache.Offers, maxCandidates, true},
		{c.placer.cache.FreshOffers, maxCandidates, false},
	} {
		if len(tried) >= query.MaxAttempts || read.more && none.Matching < firstCandidates {
			continue
		}
		offers, err := read.offers(ctx, query.OfferQuery, read.limit)
		if err != nil {
			return Placed{}, false, &Error{Kind: OffersUnreadable, Err: err}
		}
		if placed, next, err = c.tryOffers(ctx, query, offers, tried, none); !next {
			return placed, false, err
		}
	}
	return Placed{}, true, nil
}

// tryOffers tries the offers of one list that were not tried before: see fromQuery. A creation that waits tries no
// other offer of the list after a refusal.
func (c *creation) tryOffers(
	ctx context.Context, query Query, offers []rental.Offer, tried map[string]bool, none *Error,
) (placed Placed, next bool, err error) {
	none.Listed, none.Matching, none.Reserved = true, len(offers), 0
	for _, offer := range offers {
		switch {
		case ctx.Err() != nil:
			return Placed{}, false, &Error{Kind: Interrupted, Err: ctx.Err()}
		case tried[offer.ID] || len(tried) >= query.MaxAttempts:
		case !c.reserve(offer.ID):
			none.Reserved++
		default:
			tried[offer.ID] = true
			placed, next, err = c.tryOffer(ctx, offer.ID)
			if isRefusal(err) {
				c.refusals++
			}
			if !next || c.refusals == maxRefusals {
				return placed, false, err
			}
			none.Tried, none.Last = len(tried), err
			if c.WaitForOffer > 0 && isRefusal(err) {
				return Placed{}, true, nil
			}
		}
	}
	return Placed{}, true, nil
}

// from records the query whose offer was rented.
func (p Placed) from(query int) Placed {
	if p.OfferID != "" {
		p.MatchedQuery = &query
	}
	return p
}

// isRejected reports whether the API rejected a request to rent an offer, and nothing was rented.
func isRejected(err error) bool {
	return KindOf(err) != OutcomeUnknown && (rental.IsNotFound(err) || rental.IsConflict(err))
}

// isRefusal reports whether the API refused to rent an offer that is available.
func isRefusal(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == OfferRefused && e.Available == Available
}

// tryOffer rents from one of several offers. If next is true, nothing was rented because the offer is not available,
// above the cap or refused, and another offer may be tried.
func (c *creation) tryOffer(ctx context.Context, offerID string) (placed Placed, next bool, err error) {
	state, price, err := c.readOffer(ctx, offerID, c.MaxPriceKopH)
	defer func() { c.release(offerID, state, placed, err) }()
	switch state {
	case AvailabilityUnknown:
		return Placed{}, false, err
	case AboveCap:
		return Placed{}, true, &Error{Kind: OfferAboveCap, OfferID: offerID, PriceKopH: price, LimitKopH: c.MaxPriceKopH}
	case NotAvailable:
		return Placed{}, true, &Error{Kind: OfferGone, OfferID: offerID}
	case NoPriceForType:
		return Placed{}, true, err
	case Available:
	}
	if ctx.Err() != nil {
		return Placed{}, false, &Error{Kind: Interrupted, Err: ctx.Err()}
	}
	placed, state, err = c.rentFrom(ctx, offerID, price)
	switch {
	case !isRejected(err):
		return placed, false, err
	case state == Available || state == AvailabilityUnknown:
		err = &Error{Kind: OfferRefused, OfferID: offerID, Available: state, Err: err}
		return Placed{}, state == Available, err
	}
	return Placed{}, true, err
}

// rentFrom requests an instance from an offer. If the offer may be the reason for a refusal, rentFrom returns its
// availability. If only the price changed, within the limit, rentFrom repeats the request.
func (c *creation) rentFrom(ctx context.Context, offerID string, limit int64) (Placed, Availability, error) {
	for changes := 0; ; changes++ {
		before, _ := c.offers[offerID].PriceKopH(c.Order.Type)
		placed, err := c.hold(ctx, offerID)
		if !isRejected(err) {
			return placed, Available, err
		}
		state, price, readErr := c.readOffer(ctx, offerID, limit)
		if readErr != nil && state != NoPriceForType {
			return Placed{}, AvailabilityUnknown, err
		}
		if state != Available || price == before || rental.IsNotFound(err) || changes == maxPriceChanges {
			return Placed{}, state, err
		}
	}
}

// hold requests an instance from an offer while the limits allow its price. If they do not, an instance that an earlier
// run rented under the key is in the burn rate already.
func (c *creation) hold(ctx context.Context, offerID string) (Placed, error) {
	if c.Hold == nil {
		return c.request(offerID)
	}
	kopH, _ := PriceWithDisk(c.offers[offerID], c.Order.Type, c.Order.DiskGB)
	hold, err := c.Hold(ctx, kopH)
	if e, ok := errors.AsType[*spending.Error](err); ok && e.Kind == spending.LimitExceeded {
		return c.recover(ctx, err)
	}
	if err != nil {
		return Placed{}, err
	}
	placed, err := c.request(offerID)
	switch {
	case err == nil:
		hold.Commit(placed.ID, cmp.Or(placed.BurnKopH(), kopH))
	case KindOf(err) == OutcomeUnknown:
		hold.Commit(c.keys.current(), kopH) // it may be rented
	default:
		hold.Release()
	}
	return placed, err
}

// recover requests the instance that an earlier run rented under the key. It returns otherwise if there is none.
func (c *creation) recover(ctx context.Context, otherwise error) (Placed, error) {
	switch {
	case c.keys.isRandom():
		return Placed{}, otherwise
	case ctx.Err() != nil:
		return Placed{}, &Error{Kind: Interrupted, Err: ctx.Err()}
	}
	placed, err := c.request(noOffer)
	if err != nil && provesNothingRented(err) {
		return Placed{}, otherwise
	}
	return placed, err
}

// reserve returns false if another creation has reserved the offer.
func (c *creation) reserve(offerID string) bool {
	if !c.placer.offers.reserve(offerID) {
		return false
	}
	c.reserved = append(c.reserved, offerID)
	return true
}

// release ends the reservation of an offer after an attempt.
func (c *creation) release(offerID string, state Availability, placed Placed, err error) {
	if !slices.Contains(c.reserved, offerID) {
		return
	}
	c.reserved = slices.DeleteFunc(c.reserved, func(id string) bool { return id == offerID })
	after := time.Duration(0)
	switch {
	case state == NotAvailable, KindOf(err) == OutcomeUnknown, err == nil && placed.OfferID == offerID:
		after = goneFor
	case isRefusal(err):
		after = c.placer.ListInterval() / 2 // other creations do not try it in this time
	}
	c.placer.offers.releaseAfter(offerID, after)
}
