package simulator

import (
	"os"
	"strings"
	"testing"
)

// The guide has a row for each quirk and no other row.
func TestQuirks_GuideHasEachQuirk(t *testing.T) {
	content, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(content), "\n## Quirks\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, q := range AllQuirks() {
		row := "\n| `" + q.Name + "` | " + q.Description + " | " + strings.ReplaceAll(q.Sentence, "|", `\|`) + " |"
		if !strings.Contains(section, row) {
			t.Errorf("the guide lacks this row:%s", row)
		}
	}
	if rows := strings.Count(section, "\n| `"); rows != len(quirkTable) {
		t.Errorf("the guide has %d rows for %d quirks", rows, len(quirkTable))
	}
}
