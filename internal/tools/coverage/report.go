package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// least is how many percent of its statements a package that ships has executed.
const least = 85

const module = "github.com/gpurent/terraform-provider-gpurent"

// aPackage is what "go tool covdata percent" says of one. A package without statements has no percentage, and no end of
// line either.
var aPackage = regexp.MustCompile(`(\S+)\t+coverage: ([0-9.]+)% of statements`)

// covered is a package and how many percent of its statements were executed.
type covered struct {
	name    string
	percent float64
	ships   bool
}

// report prints a table, what ships first and the least covered first, and fails for what ships with too little.
func report(out io.Writer, said string, shipped []string) error {
	var all []covered
	for _, found := range aPackage.FindAllStringSubmatch(said, -1) {
		percent, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			return err
		}
		name := found[1]
		all = append(all, covered{cmp.Or(strings.TrimPrefix(strings.TrimPrefix(name, module), "/"), "."), percent, slices.Contains(shipped, name)})
	}
	slices.SortFunc(all, func(a, b covered) int {
		if a.ships != b.ships {
			return cmp.Compare(b.rank(), a.rank())
		}
		return cmp.Compare(a.percent, b.percent)
	})
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	var short []error
	ships := 0
	for _, c := range all {
		note := "does not ship"
		if c.ships {
			ships++
			note = ""
			if c.percent < least {
				short = append(short, fmt.Errorf("%s: %.1f%%, want %d%% at least", c.name, c.percent, least))
				note = "too little"
			}
		}
		if _, err := fmt.Fprintf(table, "%s\t%.1f%%\t%s\n", c.name, c.percent, note); err != nil {
			return err
		}
	}
	if ships < len(shipped)/2 {
		short = append(short, fmt.Errorf("only %d of the %d packages that ship were measured", ships, len(shipped)))
	}
	return errors.Join(table.Flush(), errors.Join(short...))
}

func (c covered) rank() int {
	if c.ships {
		return 1
	}
	return 0
}
