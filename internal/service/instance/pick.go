package instance

import (
	"context"
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

// endedEarly says that the run was interrupted, or timeouts.create expired, before anything was rented.
type endedEarly struct{ cause error }

func (e *endedEarly) Error() string { return "ended before anything was rented: " + e.cause.Error() }

func (e *endedEarly) Unwrap() error { return e.cause }

// refusedOffer is an offer that was not rented, and the state of the offer afterwards.
type refusedOffer struct {
	offerID string
	state   offerState
	err     error // the refusal of the service; nil when it was not asked because the offer is gone
}

func (e *refusedOffer) Error() string {
	if e.err == nil {
		return "offer " + tfkit.OneLine(e.offerID) + " is gone"
	}
	return e.err.Error()
}

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
	return fmt.Sprintf("offer %s costs %s, max_price_kop_h allows %s", tfkit.OneLine(e.offerID), tfkit.HourlyRubles(e.price), tfkit.HourlyRubles(e.limit))
}

// noInterruptibleError: the offer is not rented as interruptible.
type noInterruptibleError struct{ offerID string }

func (e *noInterruptibleError) Error() string {
	return "offer " + tfkit.OneLine(e.offerID) + " cannot be rented as interruptible"
}

// offerState is what can be done with an offer.
type offerState int

const (
	offerThere      offerState = iota
	offerGone                  // it cannot be rented now
	offerDearer                // it costs more than the cap, whether or not it can be rented now
	offerUnrentable            // it has no price for the rental type
	offerUnsure                // it could not be read
)

// look reads an offer as it is now, with its price for the rental type. An offer that costs more than the limit is
// dearer; 0 is no limit.
func (c *creation) look(ctx context.Context, offerID string, limit int64) (state offerState, kopH int64, err error) {
	offer, err := c.client.GetOffer(ctx, offerID)
	switch {
	case rental.IsNotFound(err):
		return offerGone, 0, nil
	case err != nil:
		return offerUnsure, 0, err
	}
	c.remember(offer)
	kopH, rentable := priceOf(offer, c.order.Type)
	switch {
	case !rentable:
		return offerUnrentable, 0, &noInterruptibleError{offerID}
	case limit > 0 && kopH > limit:
		return offerDearer, kopH, nil
	case !offer.Available:
		return offerGone, kopH, nil
	}
	return offerThere, kopH, nil
}

// remember keeps an offer for the comparison with the server that is rented from it.
func (c *creation) remember(offer rental.Offer) {
	if c.seen == nil {
		c.seen = map[string]rental.Offer{}
	}
	c.seen[offer.ID] = offer
}

// choose rents from the offer that the plan names, or from the first of its
// query that can be had.
func (c *creation) choose(ctx, postCtx context.Context) (rented, error) {
	if c.plan.OfferQuery.IsNull() {
		return c.takeNamed(ctx, postCtx, c.plan.OfferID.ValueString())
	}
	query, diags := offerQuery(ctx, c.plan)
	parts, problems := readQuery(ctx, c.plan.OfferQuery)
	diags.Append(problems...)
	if diags.HasError() {
		return rented{}, fmt.Errorf("the offer_query cannot be read: %s", diags.Errors()[0].Detail())
	}
	return c.takeFirst(ctx, postCtx, query, int(parts.attempts()))
}

// takeNamed rents from one offer. One that is gone or costs too much cannot be rented, but an earlier run may have
// rented it under a configured key: that server is asked for.
func (c *creation) takeNamed(ctx, postCtx context.Context, offerID string) (rented, error) {
	if c.limit() > 0 || c.checkLimits != nil {
		state, price, err := c.look(ctx, offerID, c.limit())
		switch {
		case state == offerDearer && c.keys.random:
			return rented{}, &tooDearError{offerID, price, c.limit()}
		case state == offerDearer:
			return c.takeOver(ctx, postCtx, &tooDearError{offerID, price, c.limit()})
		case state == offerGone && c.keys.random:
			return rented{}, &refusedOffer{offerID: offerID, state: offerGone}
		case state == offerGone && c.checkLimits != nil:
			return c.takeOver(ctx, postCtx, &refusedOffer{offerID: offerID, state: offerGone})
		case err != nil:
			return rented{}, fmt.Errorf("looking at offer %s: %w", tfkit.OneLine(offerID), err)
		}
	} else if offer, ok := c.fleet.market.shown.Get(offerID, createTimeout); ok {
		c.remember(offer)
	}
	if ctx.Err() != nil {
		return rented{}, &endedEarly{ctx.Err()}
	}
	c.reserve(offerID)
	server, state, err := c.rentOffer(ctx, postCtx, offerID, c.limit())
	c.release(offerID, state, server, err)
	if rental.IsNotFound(err) || rental.IsConflict(err) {
		return rented{}, &refusedOffer{offerID, state, err}
	}
	return server, err
}

// maxPriceChanges is how often the request for an offer is repeated because its price changed.
const maxPriceChanges = 2

// rentOffer makes the request for an offer. After a refusal for which the offer may be the reason, it returns the state
// of the offer. An offer whose price changed, but not above the limit, is asked for again.
func (c *creation) rentOffer(ctx, postCtx context.Context, offerID string, limit int64) (rented, offerState, error) {
	for changes := 0; ; changes++ {
		before, _ := priceOf(c.seen[offerID], c.order.Type)
		if c.checkLimits != nil {
			if err := c.checkLimits(postCtx, before); err != nil {
				return rented{}, offerThere, err
			}
		}
		server, err := c.post(postCtx, offerID)
		if !rental.IsNotFound(err) && !rental.IsConflict(err) {
			return server, offerThere, err
		}
		state, price, lookErr := c.look(ctx, offerID, limit)
		if lookErr != nil && state != offerUnrentable {
			return rented{}, offerUnsure, err
		}
		if state != offerThere || price == before || rental.IsNotFound(err) || changes == maxPriceChanges {
			return rented{}, state, err
		}
	}
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
				return rented{}, &endedEarly{ctx.Err()}
			case len(tried) >= attempts:
			case tried[offer.ID]:
				continue
			case !c.reserve(offer.ID):
				left.siblings++
				continue
			default:
				tried[offer.ID] = true
				server, next, err := c.tryOffer(ctx, postCtx, offer.ID)
				if !next {
					return server, err
				}
				left.tried, left.last = len(tried), err
			}
		}
	}
	if !c.keys.random && !c.asked {
		return c.takeOver(ctx, postCtx, left)
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
func (c *creation) takeOver(ctx, postCtx context.Context, otherwise error) (rented, error) {
	if ctx.Err() != nil {
		return rented{}, &endedEarly{ctx.Err()}
	}
	server, err := c.post(postCtx, noOffer)
	if err != nil && settles(err) {
		return rented{}, otherwise
	}
	return server, err
}

// tryOffer rents from one of several offers. next says that it is gone or
// dearer, and that nothing was rented: then the next one may be tried.
func (c *creation) tryOffer(ctx, postCtx context.Context, offerID string) (server rented, next bool, err error) {
	state, price, err := c.look(ctx, offerID, c.limit())
	defer func() { c.release(offerID, state, server, err) }()
	switch state {
	case offerUnsure:
		return rented{}, false, fmt.Errorf("looking at offer %s: %w", tfkit.OneLine(offerID), err)
	case offerDearer:
		return rented{}, true, &tooDearError{offerID, price, c.limit()}
	case offerGone:
		return rented{}, true, &refusedOffer{offerID: offerID, state: offerGone}
	case offerUnrentable:
		return rented{}, true, err
	case offerThere:
	}
	if ctx.Err() != nil {
		return rented{}, false, &endedEarly{ctx.Err()}
	}
	server, state, err = c.rentOffer(ctx, postCtx, offerID, price)
	switch {
	case !rental.IsNotFound(err) && !rental.IsConflict(err):
		return server, false, err
	case state == offerThere || state == offerUnsure:
		return rented{}, false, &refusedOffer{offerID, state, err}
	}
	return rented{}, true, err
}
