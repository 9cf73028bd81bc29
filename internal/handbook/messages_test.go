package handbook_test

import (
	"regexp"
	"strings"
	"testing"
)

// messagePattern is what a row about a message quotes first.
var messagePattern = regexp.MustCompile("(?m)^\\| (?:… and )?`([^`]+)`")

// Whoever searches a guide for a message must find the words that the provider uses. Most of them need trouble that the
// guide does not make, so they are looked for among the texts of the program. That of troubleshooting has tests of its own.
func TestGuides_QuoteExistingMessages(t *testing.T) {
	all := strings.Join(shipped(t).constants(), "\n")
	for name, least := range map[string]int{
		"crash-safe-pipelines.md": 8, "picking-offers.md": 10, "at-scale.md": 7, "getting-started.md": 6, "authentication.md": 12, "migrating-by-import.md": 1,
	} {
		_, table, _ := strings.Cut(readGuide(t, name), "\n## What you see, and what to do\n")
		rows := messagePattern.FindAllStringSubmatch(table, -1)
		for _, row := range rows {
			for part := range strings.SplitSeq(row[1], "…") {
				if !strings.Contains(all, strings.TrimSpace(part)) {
					t.Errorf("%s: %q is said nowhere", name, part)
				}
			}
		}
		if len(rows) < least {
			t.Errorf("%s: only %d messages were found: this test looks in the wrong place", name, len(rows))
		}
	}
}
