package placement

import (
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// reservations holds the offers that instances of this process use or are about to use. The zero value is empty.
type reservations struct {
	mu  sync.Mutex
	end map[string]time.Time // when the reservation of an offer ends; zero for never
}

// reserve returns false if the offer is reserved.
func (r *reservations) reserve(offerID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if end, reserved := r.end[offerID]; reserved && (end.IsZero() || time.Now().Before(end)) {
		return false
	}
	if r.end == nil {
		r.end = map[string]time.Time{}
	}
	r.end[offerID] = time.Time{}
	return true
}

// releaseAfter ends the reservation of an offer after some time.
func (r *reservations) releaseAfter(offerID string, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end[offerID] = time.Now().Add(d)
}

// avoidFailed is how long an offer whose instance failed is tried after all others.
const avoidFailed = 10 * time.Minute

// failedOffers holds the offers whose instance failed. The zero value is empty.
type failedOffers struct{ at sync.Map }

// RecordFailure records that the instance of an offer failed. Later creations try other offers first.
func (p *Placer) RecordFailure(offerID string) { p.failed.at.Store(offerID, time.Now()) }

func (f *failedOffers) has(offerID string) bool {
	at, found := f.at.Load(offerID)
	return found && time.Since(at.(time.Time)) < avoidFailed
}

// last moves the offers whose instance failed recently to the end.
func (f *failedOffers) last(offers []rental.Offer) []rental.Offer {
	var others, failed []rental.Offer
	for _, offer := range offers {
		if f.has(offer.ID) {
			failed = append(failed, offer)
		} else {
			others = append(others, offer)
		}
	}
	return append(others, failed...)
}
