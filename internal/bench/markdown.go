package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// The guide has the measured section between these lines.
const (
	sectionBegin = "<!-- measured: begin -->\n"
	sectionEnd   = "<!-- measured: end -->"
)

// markdown is the guide's section: what the user waits for and how much of the
// limit it takes, beside the references.
func markdown(r Results) string {
	var out strings.Builder
	out.WriteString("![Time of a refresh over the number of servers, beside both references](at-scale.svg)\n\n")
	out.WriteString("| refresh of servers | requests | wall time | of it the CLI's own | one request each | one request each, 120 a minute |\n|---:|---:|---:|---:|---:|---:|\n")
	for _, n := range []int{1, 10, 40, manyServers, tooMany} {
		shared, ok := r.row(plotted(n, limitWindow, readShared))
		if !ok {
			continue
		}
		fmt.Fprintf(&out, "| %d | %d | %s", n, shared.Requests.All, seconds(shared.WallS))
		for _, c := range []Cell{plotted(n, limitWindow, readNothing), plotted(n, limitNone, readEach), plotted(n, limitWindow, readEach)} {
			if row, ok := r.row(c); ok {
				fmt.Fprintf(&out, " | %s", seconds(row.WallS))
			} else {
				out.WriteString(" | –")
			}
		}
		out.WriteString(" |\n")
	}
	out.WriteString("\n| plan, apply or destroy, 120 requests a minute | requests | status 429 | wall time |\n|---|---:|---:|---:|\n")
	for _, l := range livesOfGuide() {
		if row, ok := r.row(l.cell); ok {
			fmt.Fprintf(&out, "| %s | %d | %d | %s |\n", l.text, row.Requests.All, row.Requests.Limited, seconds(row.WallS))
		}
	}
	fmt.Fprintf(&out, "\nMeasured on %s with %s on %s: medians of `plan -refresh-only -parallelism=10` against the simulator on the same machine, in the first table; a server is ready 9.5 seconds "+
		"after it was rented. The results of all measurements are in the project under `internal/bench/results`.\n", r.Date, cliName(r.CLI), plural(r.CPUs, "processor"))
	return out.String()
}

// life is a line of the guide's second table.
type life struct {
	text string
	cell Cell
}

func livesOfGuide() []life {
	return []life{
		{"plan that finds 1,000 servers as they should be", Cell{workPlan, tooMany, 10, limitWindow, 0, readShared}},
		{"plan and rent 40 servers, `-parallelism=10`", Cell{workCreate, 40, 10, limitWindow, 0, defaults}},
		{"plan and rent 40 servers, `-parallelism=50`", Cell{workCreate, 40, 50, limitWindow, 0, defaults}},
		{"… without names and with `require_funds = \"off\"`", Cell{workCreate, 40, 50, limitWindow, 0, noLooks}},
		{"plan and rent 200 servers, `-parallelism=200`", Cell{workCreate, 200, 200, limitWindow, 0, defaults}},
		{"destroy 200 servers, `-parallelism=200`", Cell{workDestroy, 200, 200, limitWindow, 0, defaults}},
		{"refresh 200 servers after somebody else has used up the limit", Cell{workSpent, manyServers, 10, limitWindow, 0, readShared}},
		{"four runs at once with one key, each renting 25 servers", Cell{workCreateTogether, 100, 10, limitWindow, 0, defaults}},
	}
}

// putSection replaces the measured section of a guide.
func putSection(guide, section string) (string, error) {
	before, rest, found := strings.Cut(guide, sectionBegin)
	_, after, ended := strings.Cut(rest, sectionEnd)
	if !found || !ended {
		return "", errors.New("the guide has no place for what was measured")
	}
	return before + sectionBegin + section + sectionEnd + after, nil
}

// writeSection puts what was measured into the guide.
func writeSection(file string, r Results) error {
	guide, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := putSection(string(guide), markdown(r))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), sharedMode) //nolint:gosec // the guide is a file of the project
}

// plotted are the cells that the guide shows.
func plotted(n int, limiter, reads string) Cell {
	return Cell{workRefresh, n, 10, limiter, 0, reads}
}

// cliName writes the program's name as people do.
func cliName(cli string) string {
	name, version, _ := strings.Cut(cli, " ")
	if name == "tofu" {
		return "OpenTofu " + version
	}
	return strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):] + " " + version
}

// seconds writes a time with as many digits as mean something.
func seconds(s float64) string {
	if s < 10 {
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%.0f s", s)
}
