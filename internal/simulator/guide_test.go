package simulator

import (
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The guides document the simulator and its control API.

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
	s, err := New(Config{Clock: ClockManual, Market: MarketStill})
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, section := range strings.Split(readSection(t, "simulator-control-api.md", "Calls"), "\n### `")[1:] {
		call, text, _ := strings.Cut(section, "`\n")
		sections[call] = text
	}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ")
	for _, route := range controlRoutes {
		f := &fields{}
		_, _ = route.handle(s, map[string]string{"id": "none", "user_code": "none"}, f) //nolint:errcheck // only reads
		call := route.method + " " + route.pattern
		var documented []string
		for _, match := range row.FindAllStringSubmatch(sections[call], -1) {
			documented = append(documented, match[1])
		}
		slices.Sort(documented)
		slices.Sort(f.known)
		if !strings.Contains(sections[call], "curl ") || !slices.Equal(documented, slices.Compact(f.known)) {
			t.Errorf("%s: the guide has the fields %q, want %q, and a command", call, documented, f.known)
		}
		delete(sections, call)
	}
	for call := range sections {
		t.Errorf("the guide has an unknown call %s", call)
	}
}

// The simulator accepts each recipe of the guide, for an instance or its offer.
func TestGuide_Recipes(t *testing.T) {
	recipe := regexp.MustCompile("(?m)^\\| [^|]+ \\| `([A-Z]+) (/[^`]+)` \\| `([^`]+)` \\|$")
	recipes := recipe.FindAllStringSubmatch(readSection(t, "simulator-control-api.md", "Recipes"), -1)
	if len(recipes) < 15 {
		t.Errorf("only %d recipes were found", len(recipes))
	}
	for _, match := range recipes {
		s, err := New(Config{Clock: ClockManual, Market: MarketStill})
		if err != nil {
			t.Fatal(err)
		}
		offer := s.engine.offers[0]
		i, err := s.engine.rent(rentRequest{offerID: offer.ID, template: "ubuntu", diskGB: 10, rentalType: typeOnDemand})
		if err != nil {
			t.Fatal(err)
		}
		path := controlPath + strings.NewReplacer("/offers/{id}", "/offers/"+offer.ID,
			"/instances/{id}", "/instances/"+i.ID).Replace(match[2])
		req := httptest.NewRequestWithContext(t.Context(), match[1], "http://127.0.0.1"+path, strings.NewReader(match[3]))
		req.RemoteAddr = "127.0.0.1:40000"
		req.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		if s.Handler().ServeHTTP(rec, req); rec.Code/100 != 2 {
			t.Errorf("%s: %d %s", match[0], rec.Code, rec.Body)
		}
	}
}
