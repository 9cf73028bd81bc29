package market

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

const (
	// maxRefusals is how many offers in a row that are available the API may refuse for one instance: most likely a limit
	// of the account is reached, so that the search ends for all instances.
	maxRefusals = 5
	// claimTTL is how long an offer stays claimed that was rented or is not available. The API refreshes its offers about
	// every minute.
	claimTTL = time.Minute
	// refusedTTL is how long other searches do not try an offer that the API refused although it is available.
	refusedTTL = 30 * time.Second
	// maxDoublings limits how long a search does not try an offer again: claimTTL, doubled with each refusal. With
	// Demand.All, each refusal makes the caller destroy what it has rented from other offers.
	maxDoublings = 5
)

// Search finds the offers for one creation: of one instance, or of several that belong together. It is safe for
// concurrent use.
type Search struct {
	demand Demand
	market *Market
	began  time.Time

	mu      sync.Mutex
	chosen  map[string]Location // of offers that are claimed or were rented from, by id
	refused map[string]refusals // by the id of the offer
	last    error               // the last refusal of an offer; nil if there was none
	ended   error               // nothing more is rented
}

// refusals are those of one offer.
type refusals struct {
	count         int
	excludedUntil time.Time
}

// Search begins a search.
func (m *Market) Search(demand Demand) *Search {
	return &Search{
		demand: demand, market: m, began: time.Now(), chosen: map[string]Location{}, refused: map[string]refusals{},
	}
}

// End ends the search because of an error that concerns all of its instances. What is being requested is not stopped.
func (s *Search) End(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = err
	}
}

// Err returns NotTried if the search has ended.
func (s *Search) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		return nil
	}
	return NotTried{s.ended}
}

// Restart continues a search, also one that has ended, for instances that join the existing ones.
func (s *Search) Restart(existing []Location) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.demand.Existing, s.ended = existing, nil
	clear(s.chosen)
}

// WaitLeft is how long the search may still wait.
func (s *Search) WaitLeft() time.Duration { return s.demand.Wait - time.Since(s.began) }

// Take claims offers for count instances, or fewer if there are fewer, but at least for need; then it waits if wait is
// set. The caller rents from the offers, or releases them. The error is NoOffer, OffersUnreadable, NotTried or
// lifecycle.Interrupted, or about the fixed offer.
func (s *Search) Take(ctx context.Context, count, need int, wait bool) ([]lifecycle.Candidate, error) {
	demand := s.demand
	demand.Count = count
	reads := s.market.reads(demand)
	for {
		var counts Counts
		var listErr error
		for i, read := range reads {
			least := count
			if i == len(reads)-1 {
				least = need
			}
			choice, err := s.takeFrom(ctx, demand, read, least)
			switch {
			case err == nil && len(choice.Candidates) >= least: // the caller releases them, even after an interruption
				return choice.Candidates, nil
			case ctx.Err() != nil:
				return nil, lifecycle.Interrupted{Err: ctx.Err()}
			case err != nil && (!wait || !isTransient(err)):
				return nil, err
			}
			counts, listErr = choice.Counts, err
		}
		left := s.WaitLeft()
		switch {
		case wait && left > 0:
			reads = []listRead{{s.market.scaled(ListAge), reads[len(reads)-1].limit}}
			_ = backoff.Sleep(ctx, min(left, s.market.pollInterval)) //nolint:errcheck // the next iteration checks ctx
		case listErr != nil:
			return nil, listErr
		default:
			return nil, s.noOffer(counts)
		}
	}
}

// takeFrom claims the best offers of one read, at least need of them or none.
func (s *Search) takeFrom(ctx context.Context, demand Demand, read listRead, need int) (Choice, error) {
	if err := cmp.Or(ctx.Err(), s.Err()); err != nil {
		return Choice{}, err
	}
	offers, err := s.market.list(ctx, demand, read)
	if err != nil {
		return Choice{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	demand.Existing = slices.AppendSeq(slices.Clone(s.demand.Existing), maps.Values(s.chosen))
	choice := s.market.take(demand, need, offers, func(id string) bool {
		return time.Now().Before(s.refused[id].excludedUntil)
	})
	for _, candidate := range choice.Candidates {
		s.chosen[candidate.Offer.ID] = LocationOf(candidate.Offer)
	}
	return choice, nil
}

// isTransient reports whether a search may go on after an error: the offers could not be read now.
func isTransient(err error) bool {
	e, ok := errors.AsType[OffersUnreadable](err)
	_, listed := errors.AsType[unreadableEntries](e.Err)
	return ok && (listed || !rental.IsDefinitive(e.Err))
}

// noOffer returns why there is no offer. The refusal of an available offer describes more than their number.
func (s *Search) noOffer(counts Counts) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	refused, _ := errors.AsType[lifecycle.OfferRefused](s.last)
	if refused.Afterwards == lifecycle.Available && s.demand.Wait == 0 && counts.Matching > 0 {
		return s.last
	}
	e := NoOffer{Counts: counts, Last: s.last}
	if s.demand.Wait > 0 {
		e.Waited = time.Since(s.began)
	}
	return e
}

// Release ends the claims of offers that nothing was rented from.
func (s *Search) Release(offers ...lifecycle.Candidate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, offer := range offers {
		delete(s.chosen, offer.Offer.ID)
		s.market.release(offer.Offer.ID, 0, false)
	}
}

// Rent rents an instance from an offer that Take returned, or without one from the next offers, in their order, until
// one is rented, none is left, or the API refuses too many available ones in a row. If nothing can be rented, an
// interrupted apply may have rented the instance: then Rent finds it by its key, and otherwise it waits for an offer.
func (s *Search) Rent(
	ctx context.Context, order lifecycle.Order, taken ...lifecycle.Candidate,
) (lifecycle.Rented, error) {
	refusals := 0      // of available offers in a row
	requested := false // the key: nothing was rented under it before
	for {
		var err error
		if len(taken) == 0 {
			taken, err = s.Take(ctx, 1, 1, false)
		}
		if err == nil {
			var rented lifecycle.Rented
			rented, err = s.market.lifecycle.Rent(ctx, order, taken[0])
			again := s.settle(taken[0], rented, err)
			taken, refusals = nil, countRefusals(refusals, err)
			_, aboveLimit := errors.AsType[spending.AboveBurnLimit](err)
			switch {
			case refusals == maxRefusals:
				s.End(err)
				return rented, err
			case again:
				requested = true
				continue
			case !aboveLimit || requested:
				return rented, err
			}
		}
		if !requested && ctx.Err() == nil && s.Err() == nil {
			requested = true
			rented, found, findErr := s.market.lifecycle.Find(ctx, order, 1)
			if found || findErr != nil {
				return rented, findErr
			}
		}
		if _, none := errors.AsType[NoOffer](err); !none && !isTransient(err) || s.WaitLeft() <= 0 || s.demand.All {
			return lifecycle.Rented{}, err
		}
		refusals = 0
		if taken, err = s.Take(ctx, 1, 1, true); err != nil {
			return lifecycle.Rented{}, err
		}
	}
}

// countRefusals returns how many offers in a row were refused although they are available. An error of another kind
// does not count.
func countRefusals(before int, err error) int {
	refused, ok := errors.AsType[lifecycle.OfferRefused](err)
	switch {
	case ok && refused.Afterwards == lifecycle.Available:
		return before + 1
	case ok:
		return 0
	}
	return before
}

// settle ends the claim of an offer after an attempt to rent from it. It returns true if another offer may be tried.
func (s *Search) settle(offer lifecycle.Candidate, rented lifecycle.Rented, err error) (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := offer.Offer.ID
	refused, isRefused := errors.AsType[lifecycle.OfferRefused](err)
	_, aboveCap := errors.AsType[lifecycle.OfferAboveCap](err)
	_, notInterruptible := errors.AsType[lifecycle.NotInterruptible](err)
	_, unknown := errors.AsType[lifecycle.OutcomeUnknown](err)
	limited := isRefused && refused.Afterwards == lifecycle.Available && !rental.IsValidation(refused.Err)
	after := time.Duration(0)
	switch {
	case rented.ID != "" && rented.Candidate != nil, unknown: // it may be rented
		after = claimTTL
	case limited:
		after = refusedTTL
	case isRefused && refused.Afterwards != lifecycle.AvailabilityUnknown: // not available, or it does not suit
		after = claimTTL
	}
	s.market.release(id, s.ttl(after), limited)
	if rented.Candidate == nil && !unknown {
		delete(s.chosen, id)
	}
	if !isRefused && !aboveCap && !notInterruptible {
		return false
	}
	s.last = err
	before := s.refused[id]
	s.refused[id] = refusals{
		count:         before.count + 1,
		excludedUntil: time.Now().Add(s.ttl(claimTTL) << min(before.count, maxDoublings)),
	}
	return len(s.demand.Queries) > 0 && s.ended == nil
}

// ttl returns how long an offer is not tried: during a wait, it is shorter for a shorter poll interval.
func (s *Search) ttl(d time.Duration) time.Duration {
	if s.demand.Wait == 0 {
		return d
	}
	return s.market.scaled(d)
}
