package placement

import (
	"maps"
	"slices"
	"sync"
	"time"
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
	if r.holds(offerID) {
		return false
	}
	r.put(offerID, time.Time{})
	return true
}

// has reports whether the offer is reserved.
func (r *reservations) has(offerID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.holds(offerID)
}

// holds is has with the lock held.
func (r *reservations) holds(offerID string) bool {
	end, reserved := r.end[offerID]
	return reserved && (end.IsZero() || time.Now().Before(end))
}

// reserveAll reserves all candidates, or none of them if one is reserved.
func (r *reservations) reserveAll(candidates []Candidate) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(candidates, func(c Candidate) bool { return r.holds(c.Offer.ID) }) {
		return false
	}
	for _, c := range candidates {
		r.put(c.Offer.ID, time.Time{})
	}
	return true
}

// forget ends the reservations that have an end.
func (r *reservations) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.end, func(_ string, end time.Time) bool { return !end.IsZero() })
}

// put reserves an offer until end. The lock is held.
func (r *reservations) put(offerID string, end time.Time) {
	if r.end == nil {
		r.end = map[string]time.Time{}
	}
	r.end[offerID] = end
}

// releaseAfter ends the reservation of an offer after some time.
func (r *reservations) releaseAfter(offerID string, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(offerID, time.Now().Add(d))
}
