package market

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// maxRefusals is how many offers in a row that are available the API may refuse for one instance: most likely a limit
	// of the account is reached, so that the search ends for all instances.
	maxRefusals = 5
	// goneFor is how long an offer stays reserved that was rented or is not available. The API refreshes its offers about
	// every minute.
	goneFor = time.Minute
	// refusedFor is how long other searches do not try an offer that the API refused although it is available.
	refusedFor = 30 * time.Second
	// maxAsideDoublings limits how long a search does not try an offer again: goneFor, doubled with each refusal. With
	// Demand.All, each refusal makes the caller destroy what it has rented from other offers.
	maxAsideDoublings = 5
)

// Search finds the offers for one creation: of one instance, or of several that belong together. It is safe for
// concurrent use.
type Search struct {
	Demand
	market *Market
	began  time.Time

	mu       sync.Mutex
	chosen   map[string]Location  // of offers that are reserved or were rented from, by id
	aside    map[string]time.Time // when a refused offer may be tried again, by id
	attempts map[string]int       // that were refused, by id
	tried    int                  // offers
	last     error                // the last refusal, or why the offers could not be read
	ended    error                // nothing more is rented
}

// Search begins a search.
func (m *Market) Search(demand Demand) *Search {
	return &Search{
		Demand: demand, market: m, began: time.Now(), chosen: map[string]Location{}, aside: map[string]time.Time{},
		attempts: map[string]int{},
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

// Err returns an error of the kind NotTried if the search has ended.
func (s *Search) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		return nil
	}
	return &failure.Error{Kind: failure.NotTried, Err: s.ended}
}

// Restart continues a search, also one that has ended. The next offers match these existing instances.
func (s *Search) Restart(existing []Location) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Existing, s.ended = existing, nil
	clear(s.chosen)
}

// WaitLeft is how long the search may still wait.
func (s *Search) WaitLeft() time.Duration { return s.Wait - time.Since(s.began) }

// Take reserves offers for count instances, or fewer if there are fewer, but at least for need; then it waits if wait
// is set. The caller rents from the offers, or releases them. An error is of the kind NoOffer, OfferRefused,
// OffersUnreadable, AboveLimit, Interrupted or NotTried.
func (s *Search) Take(ctx context.Context, count, need int, wait bool) ([]lifecycle.Candidate, error) {
	demand := s.Demand
	demand.Count = count
	reads := s.market.listAttempts(demand)
	var offers failure.Offers
	for {
		for i, read := range reads {
			least := count
			if i == len(reads)-1 {
				least = need
			}
			choice, err := s.reserveFrom(ctx, demand, read, least)
			switch {
			case err != nil && (!wait || ctx.Err() != nil || !mayPass(err)):
				return nil, s.orInterrupted(ctx, err, offers)
			case err != nil:
				s.setLast(err)
				continue
			case len(choice.Candidates) >= least:
				return choice.Candidates, nil
			}
			offers = choice.Offers
		}
		left := s.WaitLeft()
		if !wait || left <= 0 {
			return nil, s.noOffer(offers)
		}
		reads = []listRead{{s.market.scaled(ListAge), reads[len(reads)-1].limit}}
		if backoff.Sleep(ctx, min(left, s.market.pollInterval)) != nil {
			return nil, s.orInterrupted(ctx, ctx.Err(), offers)
		}
	}
}

// reserveFrom reserves the best offers of one read, at least need of them or none.
func (s *Search) reserveFrom(ctx context.Context, demand Demand, read listRead, need int) (Choice, error) {
	if err := s.Err(); err != nil {
		return Choice{}, err
	}
	offers, err := s.market.list(ctx, demand, read)
	if err != nil {
		return Choice{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	demand.Existing = slices.AppendSeq(slices.Clone(s.Existing), maps.Values(s.chosen))
	choice := s.market.reserve(demand, need, offers, func(id string) bool { return time.Now().Before(s.aside[id]) })
	for _, candidate := range choice.Candidates {
		s.chosen[candidate.Offer.ID] = LocationOf(candidate.Offer)
	}
	return choice, nil
}

// mayPass reports whether a search may go on after an error: the offers could not be read now.
func mayPass(err error) bool {
	e := failure.As(err)
	_, listed := errors.AsType[unreadable](e.Err)
	return e.Kind == failure.OffersUnreadable && (listed || !rental.IsDefinitive(e.Err))
}

// orInterrupted returns err, or that the context ended during a search.
func (s *Search) orInterrupted(ctx context.Context, err error, offers failure.Offers) error {
	if ctx.Err() == nil {
		return err
	}
	interrupted := failure.As(s.noOffer(offers))
	interrupted.Kind, interrupted.Err = failure.Interrupted, context.Cause(ctx)
	return &interrupted
}

// noOffer returns why there is no offer. The refusal of an available offer describes more than their number.
func (s *Search) noOffer(offers failure.Offers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := failure.As(s.last); last.Kind == failure.OfferRefused && last.Availability == failure.Available &&
		s.Wait == 0 && offers.Matching > 0 {
		return s.last
	}
	offers.Tried = s.tried
	if s.Wait > 0 {
		offers.Waited = time.Since(s.began)
	}
	return &failure.Error{Kind: failure.NoOffer, Offers: offers, Last: s.last}
}

func (s *Search) setLast(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = err
}

// Release ends the reservations of candidates that nothing was rented from.
func (s *Search) Release(candidates ...lifecycle.Candidate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, candidate := range candidates {
		s.free(candidate.Offer.ID)
	}
}

// free ends the reservation of an offer that nothing was rented from. The lock is held.
func (s *Search) free(offerID string) {
	delete(s.chosen, offerID)
	s.market.release(offerID, 0, false)
}

// Rent rents an instance from an offer that Take returned, nil for none, or from the next ones, in their order, until
// one is rented, none is left, or the API refuses too many available ones in a row. If there is none, it takes the
// instance that was rented under the key before, and waits.
func (s *Search) Rent(
	ctx context.Context, order lifecycle.Order, candidate *lifecycle.Candidate,
) (lifecycle.Rented, error) {
	refusals := 0       // of available offers in a row
	keyChecked := false // the key was requested, so that nothing was rented under it before
	for {
		if candidate == nil {
			taken, err := s.Take(ctx, 1, 1, false)
			if err != nil && !keyChecked && failure.KindOf(err) != failure.NotTried && ctx.Err() == nil {
				keyChecked = true
				rented, recoverErr := s.market.lifecycle.Recover(ctx, order)
				switch {
				case recoverErr == nil:
					return s.market.lifecycle.Finish(ctx, order, rented)
				case failure.KindOf(recoverErr) != failure.NoOffer:
					return rented, recoverErr
				}
			}
			if err != nil && keyChecked && s.WaitLeft() > 0 && !s.All {
				refusals = 0
				taken, err = s.Take(ctx, 1, 1, true)
			}
			if err != nil {
				return lifecycle.Rented{}, err
			}
			candidate = &taken[0]
		}
		attempt := order
		attempt.OnRented = func(rented lifecycle.Rented) {
			s.rented(candidate.Offer.ID, rented)
			if order.OnRented != nil {
				order.OnRented(rented)
			}
		}
		rented, err := s.market.lifecycle.Fill(ctx, attempt, *candidate)
		keyChecked = true
		if e := failure.As(err); e.Kind == failure.OfferRefused && e.Availability == failure.Available {
			refusals++
		} else if e.Kind == failure.OfferRefused {
			refusals = 0
		}
		if refusals == maxRefusals {
			s.End(err)
		}
		if rented.ID != "" || !s.releaseAfterFailure(*candidate, err) {
			return rented, err
		}
		candidate = nil
	}
}

// rented records that an attempt to rent from an offer has an instance, before the wait for it.
func (s *Search) rented(offerID string, rented lifecycle.Rented) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rented.Candidate == nil { // found under the key
		s.free(offerID)
		return
	}
	s.market.release(offerID, s.pause(goneFor), false)
}

// releaseAfterFailure ends the reservation of an offer after an attempt that has no instance. It returns true if
// another offer may be tried.
func (s *Search) releaseAfterFailure(candidate lifecycle.Candidate, err error) (again bool) {
	id, e := candidate.Offer.ID, failure.As(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	offerRefused := e.Kind == failure.OfferRefused || failure.Exceeds(err, failure.MaxPrice)
	available := offerRefused && e.Availability == failure.Available
	limited := available && !rental.IsValidation(e.Err) // else the offer does not suit
	after := time.Duration(0)
	switch {
	case limited:
		after = refusedFor
	case available, offerRefused && e.Availability == failure.NotAvailable, e.Kind == failure.OutcomeUnknown:
		after = goneFor
	}
	s.market.release(id, s.pause(after), limited)
	if e.Kind != failure.OutcomeUnknown { // else it may be rented
		delete(s.chosen, id)
	}
	if offerRefused {
		s.last = err
		s.aside[id] = time.Now().Add(s.pause(goneFor) << min(s.attempts[id], maxAsideDoublings))
		s.attempts[id]++
		s.tried++
	}
	return len(s.Queries) > 0 && offerRefused && s.ended == nil
}

// pause returns how long an offer is not tried: during a wait, it is shorter for a shorter poll interval.
func (s *Search) pause(d time.Duration) time.Duration {
	if s.Wait == 0 {
		return d
	}
	return s.market.scaled(d)
}
