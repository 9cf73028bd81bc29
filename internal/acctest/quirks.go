package acctest

import (
	"flag"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// quirksFlag is set by make quirks.
var quirksFlag = flag.String("acctest.quirks", "", "quirks for every test, a comma-separated list, or all")

// offerQuirks make listed offers impossible to rent. A test with an offer_id from a list, or that counts offers or
// compares their prices, cannot pass with them, so that a run has them only in tests with ChoosesOffers.
var offerQuirks = []string{"phantom-offers", "refused-disks"}

// timeoutWithQuirks is the request_timeout of a provider with quirks. After a lost response, the provider waits as long
// before it searches for the result.
const timeoutWithQuirks = "1500ms"

func isOfferQuirk(name string) bool { return slices.Contains(offerQuirks, name) }

// quirksOfRun returns the names of the quirks of the run, those of offers included.
func quirksOfRun() []string {
	if *quirksFlag == "" {
		return nil
	}
	return quirks.New(strings.Split(*quirksFlag, ",")...).On()
}

// changeQuirks returns an option that changes the names of the quirks of a test.
func changeQuirks(change func(names []string) []string) Option {
	return func(c *simulator.Config) {
		set := c.Hooks.(*quirks.Set)
		set.Switch(change(set.On())...)
	}
}

// ChoosesOffers adds the quirks of the run that make listed offers impossible to rent. It is for tests in which the
// provider chooses offers and has enough of them.
func ChoosesOffers() Option {
	return changeQuirks(func(names []string) []string {
		isOther := func(name string) bool { return !isOfferQuirk(name) }
		return append(names, slices.DeleteFunc(quirksOfRun(), isOther)...)
	})
}

// WithQuirks turns quirks on for a test, in addition to those of the run. "all" means all quirks.
func WithQuirks(names ...string) Option {
	return changeQuirks(func(on []string) []string { return append(on, names...) })
}

// WithoutQuirks turns quirks off for a test, even if the run has them. "all" means all quirks. A comment at the call
// gives the reason.
func WithoutQuirks(names ...string) Option {
	off := quirks.New(names...).On() // panics if a name is unknown
	return changeQuirks(func(on []string) []string {
		return slices.DeleteFunc(on, func(name string) bool { return slices.Contains(off, name) })
	})
}

// Quirks returns the names of the quirks that are on.
func (e *Env) Quirks() []string { return e.quirks.On() }
