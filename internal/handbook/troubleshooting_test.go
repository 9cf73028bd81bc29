package handbook_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const troubleshooting = "troubleshooting.md"

// What the tables of the guide hold, by the headings of their first columns.
const (
	tableOfSayings    = "what you see"
	tableOfCodes      = "the service's code"
	tableOfAdvice     = "the message goes on"
	tableOfValidators = "what you see below the headline"
	tableOfCLI        = "what Terraform or OpenTofu prints"
	tableOfLog        = "what the log contains"
)

// row is a row of a table, with what its cells quote.
type row struct {
	line   int
	cells  []string
	quotes []string // of the first cell
}

var (
	quotePattern = regexp.MustCompile("`([^`]+)`")
	tableBorder  = regexp.MustCompile(`^\|(?:-+\|)+$`)
)

func quotesIn(cell string) (quotes []string) {
	for _, quote := range quotePattern.FindAllStringSubmatch(cell, -1) {
		quotes = append(quotes, quote[1])
	}
	return quotes
}

// tables finds the tables of a guide by the headings of their first columns; those with the same are one.
func tables(guide string) map[string][]row {
	found := map[string][]row{}
	lines := strings.Split(guide, "\n")
	heading := ""
	for n, line := range lines {
		switch {
		case !strings.HasPrefix(line, "|"):
			heading = ""
		case heading == "" && n+1 < len(lines) && tableBorder.MatchString(lines[n+1]):
			heading = cellsOf(line)[0]
		case heading != "" && !tableBorder.MatchString(line):
			cells := cellsOf(line)
			found[heading] = append(found[heading], row{n + 1, cells, quotesIn(cells[0])})
		}
	}
	return found
}

func cellsOf(line string) []string {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// shortest is how many letters an abbreviated quote needs, so that it stands for one message alone.
const shortest = 24

// quotes says whether a quote of the guide is of this saying: a headline as a whole, where an ellipsis may stand for the
// rest of a long one, and a part of a message for a part.
func (s saying) isQuoted(quote string) bool {
	if !s.whole {
		return strings.Contains(s.text, quote)
	}
	begin, shortened := strings.CutSuffix(quote, variable)
	return s.text == quote || shortened && lettersIn(begin) >= shortest && strings.HasPrefix(s.text, begin)
}

// compareSayings returns what is said and not in the rows, and what is in the rows and not said.
func compareSayings(all []saying, rows []row) (problems []string) {
	for _, s := range all {
		var in []int
		for _, r := range rows {
			if slices.ContainsFunc(r.quotes, s.isQuoted) {
				in = append(in, r.line)
			}
		}
		switch {
		case len(in) == 0:
			problems = append(problems, fmt.Sprintf("%s says %q: the guide has no row for it", s.place, s.text))
		case len(in) > 1 && s.whole:
			problems = append(problems, fmt.Sprintf("%q has several rows, on the lines %v: whoever looks for it finds the wrong one", s.text, in))
		}
	}
	for _, r := range rows {
		if len(r.quotes) == 0 {
			problems = append(problems, fmt.Sprintf("line %d quotes no message", r.line))
		}
		for _, quote := range r.quotes {
			if !slices.ContainsFunc(all, func(s saying) bool { return s.isQuoted(quote) }) {
				problems = append(problems, fmt.Sprintf("line %d: %q is said nowhere", r.line, quote))
			}
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

// Whatever the provider and its commands can say, the guide explains, and it explains nothing that nobody says. Where the
// code does not tell what is said, this fails as well: there is no way to add a message past it.
func TestTroubleshootingHasEveryMessage(t *testing.T) {
	t.Parallel()
	all, unclear := shipped(t).sayings()
	for _, problem := range unclear {
		t.Error(problem)
	}
	rows := tables(readGuide(t, troubleshooting))[tableOfSayings]
	for _, problem := range compareSayings(all, rows) {
		t.Error(problem)
	}
	headlines, parts := map[string]bool{}, map[string]bool{}
	for _, s := range all {
		if s.whole {
			headlines[s.text] = true
		} else {
			parts[s.text] = true
		}
	}
	t.Logf("%d headlines and %d parts of messages, %d rows", len(headlines), len(parts), len(rows))
	if len(headlines) < 100 || len(parts) < 80 {
		t.Error("so few cannot be all: this test looks in the wrong place")
	}
}

// Every row says what the message means and what to do.
func TestTroubleshootingRowsAreWhole(t *testing.T) {
	all := tables(readGuide(t, troubleshooting))
	for _, heading := range []string{tableOfSayings, tableOfCodes, tableOfAdvice, tableOfValidators, tableOfCLI, tableOfLog} {
		for _, r := range all[heading] {
			if len(r.cells) != 3 || slices.Contains(r.cells, "") {
				t.Errorf("line %d, below %q: this wants three cells, and none empty: %q", r.line, heading, r.cells)
			}
		}
	}
}
