package handbook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// aMessage is what a row about a message quotes first.
var aMessage = regexp.MustCompile("(?m)^\\| (?:… and )?`([^`]+)`")

// Whoever searches a guide for a message must find the words that the provider uses. Most of them need trouble that the
// guide does not make, so they are looked for where they come from.
func TestGuidesQuoteMessagesThatExist(t *testing.T) {
	var sources []string
	for _, folder := range []string{"service/instance", "service/sshkey", "rental", "tfkit", "provider", "cli"} {
		files, err := filepath.Glob(filepath.Join(acctest.Root(), "internal", folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, files...)
	}
	var all strings.Builder
	for _, file := range sources {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(content)
	}
	for name, least := range map[string]int{
		"crash-safe-pipelines.md": 8, "picking-offers.md": 10, "at-scale.md": 7, "getting-started.md": 6, "authentication.md": 12, "migrating-by-import.md": 1,
	} {
		_, table, _ := strings.Cut(readGuide(t, name), "\n## What you see, and what to do\n")
		rows := aMessage.FindAllStringSubmatch(table, -1)
		for _, row := range rows {
			for part := range strings.SplitSeq(row[1], "…") {
				if !strings.Contains(all.String(), strings.TrimSpace(part)) {
					t.Errorf("%s: %q is said nowhere", name, part)
				}
			}
		}
		if len(rows) < least {
			t.Errorf("%s: only %d messages were found: this test looks in the wrong place", name, len(rows))
		}
	}
}
