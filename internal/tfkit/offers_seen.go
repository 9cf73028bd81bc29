package tfkit

import (
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// OffersSeen remembers the offers that a data source of this run has shown, for those
// to whom a glance is enough. Its zero value is ready.
type OffersSeen struct{ all sync.Map }

type seenOffer struct {
	offer rental.Offer
	at    time.Time
}

// Put remembers an offer as it is now.
func (s *OffersSeen) Put(offer rental.Offer) { s.all.Store(offer.ID, seenOffer{offer, time.Now()}) }

// Get returns an offer that was seen no longer than maxAge ago.
func (s *OffersSeen) Get(id string, maxAge time.Duration) (rental.Offer, bool) {
	seen, ok := s.all.Load(id)
	if !ok || time.Since(seen.(seenOffer).at) > maxAge {
		return rental.Offer{}, false
	}
	return seen.(seenOffer).offer, true
}
