package simulator_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The guide documents the simulator and its control API.

// readSection returns the text of a guide from a heading to the next one of the same level.
func readSection(t *testing.T, guide, heading string) string {
	t.Helper()
	content, err := os.ReadFile("../../templates/guides/" + guide)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(content), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// The guide has a section for each call, a row for each field, and nothing else. The handbook executes the commands.
func TestGuide_Calls(t *testing.T) {
	calls := newClient(t).ControlCalls()
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ")
	for _, section := range strings.Split(readSection(t, "simulator-control-api.md", "Calls"), "\n### `")[1:] {
		call, text, _ := strings.Cut(section, "`\n")
		var documented []string
		for _, match := range row.FindAllStringSubmatch(text, -1) {
			documented = append(documented, match[1])
		}
		slices.Sort(documented)
		fields, known := calls[call]
		check(t, known && strings.Contains(text, "curl ") && slices.Equal(documented, fields),
			"%s: the guide has the fields %q, want %q, and a command", call, documented, fields)
		delete(calls, call)
	}
	check(t, len(calls) == 0, "the guide lacks %v", calls)
}

// The simulator accepts each recipe of the guide, for an instance or its offer.
func TestGuide_Recipes(t *testing.T) {
	recipe := regexp.MustCompile("(?m)^\\| [^|]+ \\| `([A-Z]+) (/[^`]+)` \\| `([^`]+)` \\|$")
	recipes := recipe.FindAllStringSubmatch(readSection(t, "simulator-control-api.md", "Recipes"), -1)
	check(t, len(recipes) >= 15, "only %d recipes were found", len(recipes))
	for _, match := range recipes {
		api := newClient(t)
		id := api.createInstance(nil).text("id")
		path := strings.NewReplacer("/offers/{id}", "/offers/"+api.offerOf(id), "{id}", id).Replace(match[2])
		a := api.control(match[1], path, match[3])
		check(t, a.status/100 == 2, "%s: %d %s", match[0], a.status, a.body)
	}
}
