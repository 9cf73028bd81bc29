package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// fresh is how old a list of offers may be that a server is chosen from: the
// one that siblings of the same apply have just read. Each offer is looked at
// again before it is rented.
const fresh = 30 * time.Second

// noOffer is what an offer can carry in a request that must not rent: the
// service knows no such offer, but it knows what was rented under the key.
const noOffer = "none"

var errInterrupted = errors.New("interrupted before anything was rented")

// refusedOffer is a refusal of the service for an offer, and how the offer stood
// afterwards.
type refusedOffer struct {
	offerID string
	state   offerState
	err     error
}

func (e *refusedOffer) Error() string { return e.err.Error() }

func (e *refusedOffer) Unwrap() error { return e.err }

// noOfferLeft ends a query that nothing fits.
type noOfferLeft struct {
	listed                   bool
	matched, siblings, tried int
	last                     error // of the last offer that was tried; nil when none was
}

func (e *noOfferLeft) Error() string {
	text := fmt.Sprintf("%d offers match the query", e.matched)
	if e.siblings > 0 {
		text += fmt.Sprintf(", %d of them are taken by other servers of this run or failed one", e.siblings)
	}
	if e.tried > 0 {
		text += fmt.Sprintf(", %d were tried and were gone or dearer by then", e.tried)
	}
	return text
}

func (e *noOfferLeft) Unwrap() error { return e.last }

// tooDearError: the offer costs more than the cap.
type tooDearError struct {
	offerID      string
	price, limit int64
}

func (e *tooDearError) Error() string {
	return fmt.Sprintf("offer %s costs %s, max_price_kop_h allows %s", e.offerID, tfkit.HourlyRubles(e.price), tfkit.HourlyRubles(e.limit))
}

// noInterruptibleError: the offer is not rented as interruptible.
type noInterruptibleError struct{ offerID string }

func (e *noInterruptibleError) Error() string {
	return "offer " + e.offerID + " cannot be rented as interruptible"
}

// offerState is how an offer stands.
type offerState int

const (
	offerThere offerState = iota
	offerGone
	offerDearer
	offerUnsure // it could not be looked at
)

// look reads an offer as it is now, with its price for the rental type. An offer
// dearer than the limit is dearer; 0 is no limit.
func (c *creation) look(ctx context.Context, offerID string, limit int64) (state offerState, kopH int64, err error) {
	offer, err := c.client.GetOffer(ctx, offerID)
	switch {
	case rental.IsNotFound(err):
		return offerGone, 0, nil
	case err != nil:
		return offerUnsure, 0, err
	case !offer.Available:
		return offerGone, 0, nil
	}
	kopH, rentable := priceOf(offer, c.order.Type)
	switch {
	case !rentable:
		return offerGone, 0, &noInterruptibleError{offerID}
	case limit > 0 && kopH > limit:
		return offerDearer, kopH, nil
	}
	return offerThere, kopH, nil
}

// choose rents from the offer that the plan names, or from the first of its
// query that can be had.
func (c *creation) choose(ctx, postCtx context.Context, plan model) (rented, error) {
	if plan.OfferQuery.IsNull() {
		return c.takeNamed(ctx, postCtx, plan.OfferID.ValueString(), plan.MaxPriceKopH.ValueInt64())
	}
	query, diags := offerQuery(ctx, plan)
	parts, problems := readQuery(ctx, plan.OfferQuery)
	diags.Append(problems...)
	if diags.HasError() {
		return rented{}, fmt.Errorf("the offer_query cannot be read: %s", diags.Errors()[0].Detail())
	}
	return c.takeFirst(ctx, postCtx, query, int(parts.attempts()))
}

// takeNamed rents from one offer.
func (c *creation) takeNamed(ctx, postCtx context.Context, offerID string, limit int64) (rented, error) {
	if limit > 0 {
		state, price, err := c.look(ctx, offerID, limit)
		switch {
		case state == offerDearer:
			return rented{}, &tooDearError{offerID, price, limit}
		case err != nil:
			return rented{}, fmt.Errorf("looking at offer %s: %w", offerID, err)
		}
		// One that is gone is asked for all the same: it cannot be rented, but an
		// earlier run may have rented it under this very key.
	}
	if ctx.Err() != nil {
		return rented{}, errInterrupted
	}
	c.reserve(offerID)
	server, err := c.post(postCtx, offerID)
	if rental.IsNotFound(err) || rental.IsConflict(err) {
		state, _, lookErr := c.look(ctx, offerID, limit)
		if lookErr != nil {
			state = offerUnsure
		}
		return rented{}, &refusedOffer{offerID, state, err}
	}
	return server, err
}

// takeFirst goes through the offers of a query until one is rented. The list may
// be one that siblings have read; before giving up it is read again.
func (c *creation) takeFirst(ctx, postCtx context.Context, query rental.OfferQuery, attempts int) (rented, error) {
	left := &noOfferLeft{}
	tried := map[string]bool{}
	for _, look := range []struct {
		age   time.Duration
		most  int
		again bool
	}{{c.meta.MaxAge(fresh), fewCandidates, false}, {c.meta.MaxAge(fresh), maxCandidates, false}, {0, maxCandidates, true}} {
		if len(tried) >= attempts {
			break
		}
		if whole := left.listed && left.matched < fewCandidates; whole && !look.again {
			continue // there are no others
		}
		offers, err := c.fleet.market.list(ctx, c.client, query, look.age, look.most)
		if err != nil {
			return rented{}, fmt.Errorf("listing offers: %w", err)
		}
		left.listed, left.matched, left.siblings = true, len(offers), 0
		for _, offer := range c.failedLast(offers) {
			switch {
			case ctx.Err() != nil:
				return rented{}, errInterrupted
			case len(tried) >= attempts:
			case tried[offer.ID]:
				continue
			case !c.reserve(offer.ID):
				left.siblings++
				continue
			default:
				tried[offer.ID] = true
				server, next, err := c.tryOffer(ctx, postCtx, offer.ID, query)
				if !next {
					return server, err
				}
				left.tried, left.last = len(tried), err
			}
		}
	}
	if !c.keys.random && !c.asked {
		return c.takeOver(postCtx, left)
	}
	return rented{}, left
}

// failedLast moves the offers whose server failed lately to the end.
func (c *creation) failedLast(offers []rental.Offer) []rental.Offer {
	var healthy, failed []rental.Offer
	for _, offer := range offers {
		if c.fleet.failures.has(offer.ID) {
			failed = append(failed, offer)
		} else {
			healthy = append(healthy, offer)
		}
	}
	return append(healthy, failed...)
}

// takeOver asks what an earlier run has rented under the key, when there is
// nothing to rent now.
func (c *creation) takeOver(ctx context.Context, otherwise error) (rented, error) {
	server, err := c.post(ctx, noOffer)
	if err != nil && settles(err) {
		return rented{}, otherwise
	}
	server.offerID = ""
	return server, err
}

// tryOffer rents from one of several offers. next says that it is gone or
// dearer, and that nothing was rented: then the next one may be tried.
func (c *creation) tryOffer(ctx, postCtx context.Context, offerID string, query rental.OfferQuery) (server rented, next bool, err error) {
	limit := int64(0)
	if query.MaxPriceKopH != nil {
		limit = *query.MaxPriceKopH
	}
	state, price, err := c.look(ctx, offerID, limit)
	switch state {
	case offerUnsure:
		return rented{}, false, fmt.Errorf("looking at offer %s: %w", offerID, err)
	case offerDearer:
		c.fleet.offers.release(offerID) // a sibling with a higher cap may want it
		return rented{}, true, &tooDearError{offerID, price, limit}
	case offerGone:
		return rented{}, true, err
	case offerThere:
	}
	if ctx.Err() != nil {
		return rented{}, false, errInterrupted
	}
	server, err = c.post(postCtx, offerID)
	if !rental.IsNotFound(err) && !rental.IsConflict(err) {
		return server, false, err
	}
	now, _, lookErr := c.look(ctx, offerID, price)
	if lookErr == nil && (now == offerGone || now == offerDearer) {
		return rented{}, true, err
	}
	c.fleet.offers.release(offerID)
	return rented{}, false, &refusedOffer{offerID, now, err}
}
