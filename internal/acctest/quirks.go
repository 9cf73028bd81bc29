package acctest

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// quirks is set by make quirks.
var quirks = flag.String("acctest.quirks", "", "quirks of the simulator for every test, a list with commas, or all")

// quirksOfRun are the names of the quirks that every test runs with.
func quirksOfRun() []string {
	switch *quirks {
	case "":
		return nil
	case "all":
		return quirkNames()
	}
	return strings.Split(*quirks, ",")
}

func quirkNames() []string {
	var names []string
	for _, q := range simulator.AllQuirks() {
		names = append(names, q.Name)
	}
	return names
}

// WithQuirks switches quirks on, whatever the run has. The simulator refuses unknown names.
func WithQuirks(names ...string) Option {
	return func(c *simulator.Config) {
		if slices.Contains(names, "all") {
			names = quirkNames()
		}
		c.Quirks = append(c.Quirks, names...)
	}
}

// WithoutQuirks keeps quirks off, "all" or some, whatever the run has: the test counts what they change, or asserts the
// opposite. A comment at the call gives the reason.
func WithoutQuirks(names ...string) Option {
	known := quirkNames()
	if slices.Contains(names, "all") {
		names = known
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			panic(fmt.Sprintf("acctest: there is no quirk %q", name))
		}
	}
	return func(c *simulator.Config) {
		c.Quirks = slices.DeleteFunc(c.Quirks, func(name string) bool { return slices.Contains(names, name) })
	}
}
