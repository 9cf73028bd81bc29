package market

import "time"

// Names for the tests of the package market_test.
const (
	ClaimTTL    = claimTTL
	RefusedTTL  = refusedTTL
	MaxRefusals = maxRefusals
)

// ClaimEnd returns when the claim of an offer ends; the zero time while something is rented from the offer.
func (m *Market) ClaimEnd(offerID string) (end time.Time, claimed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	claim, claimed := m.taken[offerID]
	return claim.end, claimed
}
