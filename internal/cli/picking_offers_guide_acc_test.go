package cli_test

import "testing"

// The market moves as the guide says, and what it says is rented, is.
func TestAccPickingOffers(t *testing.T) {
	followTrial(t, "picking-offers.md")
}
