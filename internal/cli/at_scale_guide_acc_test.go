package cli_test

import "testing"

// Several states, runs at the same time, a limit that is spent and a lock that is held: as the guide says. Its simulator
// is one of its own, because in that of the other guides a minute is too short to be waited for.
func TestAccAtScaleGuide(t *testing.T) {
	followAlone(t, "at-scale.md")
}
