package placement

import (
	"context"
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// listIntervals is the time between two listings of the offers, in poll intervals: a minute by default, because the
	// API refreshes its offers about every minute.
	listIntervals = 12
	// maxListInterval limits it.
	maxListInterval = time.Minute
)

// ListInterval is the time between two listings of the offers during a wait. All waits of a process share the lists.
func (p *Placer) ListInterval() time.Duration {
	return min(listIntervals*p.pollInterval, maxListInterval)
}

// awaitOffer rents from an offer of the queries, and lists the offers until there is one. Several creations that
// wait are served in no particular order.
func (c *creation) awaitOffer(ctx context.Context) (Placed, error) {
	none := &Error{Kind: NoOffer}
	if placed, err := c.recover(ctx, none); !errors.Is(err, none) {
		return placed, err
	}
	c.sent = false // that request has rented nothing
	began := time.Now()
	waitCtx, cancel := context.WithTimeout(ctx, c.WaitForOffer)
	defer cancel()
	for {
		attempt := &Error{Kind: NoOffer}
		placed, next, err := c.tryQueries(ctx, waitCtx, attempt)
		if KindOf(err) == Interrupted {
			break
		}
		if !next && !canWait(err) {
			return placed, err
		}
		if !isRefusal(err) {
			c.refusals = 0 // another customer was faster, and no limit of the account is the reason
		}
		if waitCtx.Err() == nil {
			none = attempt
		}
		if backoff.Sleep(waitCtx, c.placer.ListInterval()) != nil {
			break
		}
	}
	none.Waited = time.Since(began)
	if ctx.Err() != nil {
		none.Kind, none.Err = Interrupted, ctx.Err()
	}
	return Placed{}, none
}

// tryQueries tries the offers of each query once, in order of preference, until the API refuses an available one. next
// is false if it rented one, or if a repetition cannot help. It reads no list of offers after the end of waitCtx.
func (c *creation) tryQueries(ctx, waitCtx context.Context, none *Error) (placed Placed, next bool, err error) {
	for i, query := range c.Queries {
		attempt := &Error{Kind: NoOffer}
		offers, err := c.placer.cache.OffersWithin(waitCtx, query.OfferQuery, maxCandidates, c.placer.ListInterval())
		switch {
		case err != nil && rental.IsDefinitive(err) && waitCtx.Err() == nil:
			return Placed{}, false, &Error{Kind: OffersUnreadable, Err: err}
		case err != nil:
			attempt.Last = &Error{Kind: OffersUnreadable, Err: err}
		default:
			placed, next, err = c.tryOffers(ctx, query, offers, map[string]bool{}, attempt)
			if !next {
				none.Last = err
				return placed.from(i), false, err
			}
		}
		none.add(*attempt)
		if isRefusal(attempt.Last) {
			return Placed{}, true, attempt.Last
		}
	}
	return Placed{}, true, nil
}

// canWait reports whether a creation may continue to wait after an error: nothing was rented, and only the state of
// one offer is unknown.
func canWait(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Kind == OffersUnreadable && !rental.IsDefinitive(e.Err) ||
		e.Kind == OfferRefused && e.Available == AvailabilityUnknown)
}
