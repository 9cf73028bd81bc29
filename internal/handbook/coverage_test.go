package handbook_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// simulatorGuides are the pages that TestSimulatorGuides_Commands follows.
var simulatorGuides = []string{"simulator.md", "simulator-control-api.md"}

// Tests run every snippet of the documentation. Tests of this package follow the guides and the index page. Other
// pages show examples, which provider/schema_test.go assigns to tests, and signatures of functions from the schema.
func TestSnippets_AllAreTested(t *testing.T) {
	var all strings.Builder
	for _, file := range filesIn(t, example(), "") {
		all.WriteString("\x00" + strings.TrimSpace(textOf(t, file)) + "\x00")
	}
	for _, page := range filesIn(t, inProject("docs"), ".md") {
		name := filepath.Base(page)
		_, followed := guides[name]
		if followed || name == "index.md" || slices.Contains(simulatorGuides, name) {
			continue
		}
		for _, b := range parseSnippets(t, textOf(t, page)) {
			signature := strings.Contains(filepath.ToSlash(page), "/functions/") && b.language == "text"
			if !signature && !strings.Contains(all.String(), "\x00"+strings.TrimSpace(b.text)+"\x00") {
				t.Errorf("%s, line %d: no test runs the snippet, and no example equals it:\n%s", page, b.line, b.text)
			}
		}
	}
}
