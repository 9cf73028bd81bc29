package cli_test

import "testing"

// What the guide says about money, is so to the kopeck, and what it says to do helps.
func TestAccCostGuide(t *testing.T) {
	followTrial(t, "cost-control.md")
}
