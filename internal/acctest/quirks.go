package acctest

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// quirks is set by make quirks.
var quirks = flag.String("acctest.quirks", "", "quirks of the simulator for every test, a comma-separated list, or all")

// offerQuirks make listed offers impossible to rent. A test with an offer_id from a list, or that counts offers or
// compares their prices, cannot pass with them, so that a run has them only in tests with ChoosesOffers.
var offerQuirks = []string{"phantom-offers", "refused-disks"}

func isOfferQuirk(name string) bool { return slices.Contains(offerQuirks, name) }

// quirksOfRun returns the names of the quirks for all tests of the run.
func quirksOfRun() []string { return slices.DeleteFunc(namedQuirks(), isOfferQuirk) }

// namedQuirks returns the names of the quirks of the run, those of offers included.
func namedQuirks() []string {
	switch *quirks {
	case "":
		return nil
	case "all":
		return quirkNames()
	}
	return strings.Split(*quirks, ",")
}

// ChoosesOffers adds the quirks of the run that make listed offers impossible to rent. It is for tests in which the
// provider chooses offers and has enough of them.
func ChoosesOffers() Option {
	return func(c *simulator.Config) {
		for _, name := range namedQuirks() {
			if isOfferQuirk(name) {
				c.Quirks = append(c.Quirks, name)
			}
		}
	}
}

func quirkNames() []string {
	var names []string
	for _, q := range simulator.AllQuirks() {
		names = append(names, q.Name)
	}
	return names
}

// WithQuirks turns quirks on for a test, in addition to those of the run. "all" means all quirks.
func WithQuirks(names ...string) Option {
	return func(c *simulator.Config) {
		if slices.Contains(names, "all") {
			names = quirkNames()
		}
		c.Quirks = append(c.Quirks, names...)
	}
}

// WithoutQuirks turns quirks off for a test, even if the run has them. "all" means all quirks. A comment at the call
// gives the reason.
func WithoutQuirks(names ...string) Option {
	known := quirkNames()
	if slices.Contains(names, "all") {
		names = known
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			panic(fmt.Sprintf("acctest: unknown quirk %q", name))
		}
	}
	return func(c *simulator.Config) {
		c.Quirks = slices.DeleteFunc(c.Quirks, func(name string) bool { return slices.Contains(names, name) })
	}
}
