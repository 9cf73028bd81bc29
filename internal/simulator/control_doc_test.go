package simulator

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// The guides document the simulator and its control API.
const (
	guide        = "../../templates/guides/simulator.md"
	controlGuide = "../../templates/guides/simulator-control-api.md"
)

// requestedFields returns the fields that a call reads. The response does not matter.
func requestedFields(t *testing.T, route controlRoute) []string {
	t.Helper()
	s, err := New(Config{Clock: ClockManual, Market: MarketStill})
	if err != nil {
		t.Fatal(err)
	}
	f := &fields{}
	if _, err := route.handle(s, map[string]string{"id": "none", "user_code": "none"}, f); err != nil {
		t.Logf("%s %s: %v", route.method, route.pattern, err)
	}
	return f.known
}

// The guide has a section with a command for each call, a row for each field, and nothing else.
func TestControl_GuideHasEveryCallAndField(t *testing.T) {
	content, err := os.ReadFile(controlGuide)
	if err != nil {
		t.Fatal(err)
	}
	_, calls, _ := strings.Cut(string(content), "\n## Calls\n")
	calls, _, _ = strings.Cut(calls, "\n## ")
	sections := map[string]string{}
	for _, section := range strings.Split(calls, "\n### `")[1:] {
		call, text, _ := strings.Cut(section, "`\n")
		sections[call] = text
	}
	fields := 0
	for _, route := range controlRoutes {
		call := route.method + " " + route.pattern
		section, there := sections[call]
		delete(sections, call)
		if !there || !hasCommand(section, route) {
			t.Errorf("%s: no section with a command of its own", call)
		}
		want := requestedFields(t, route)
		fields += len(want)
		for _, field := range want {
			if !strings.Contains(section, "\n| `"+field+"` | ") {
				t.Errorf("%s: no row for %s", call, field)
			}
		}
		for _, row := range strings.Split(section, "\n| `")[1:] {
			if field, _, _ := strings.Cut(row, "`"); !slices.Contains(want, field) {
				t.Errorf("%s: %s is no field of it", call, field)
			}
		}
	}
	for call := range sections {
		t.Errorf("the guide has an unknown call %s", call)
	}
	if fields < 20 {
		t.Errorf("only %d fields were found: this test looks in the wrong place", fields)
	}
}

// hasCommand reports whether a section has a curl command with the method and the path of the call.
func hasCommand(section string, route controlRoute) bool {
	path, _, _ := strings.Cut(route.pattern, "{")
	for command := range strings.SplitSeq(section, "\ncurl ") {
		command, _, _ = strings.Cut(command, "\n```")
		method := route.method == http.MethodGet || strings.Contains(command, "-X "+route.method+" ")
		if method && strings.Contains(command, `"$GPURENT_CONTROL_URL`+path) {
			return true
		}
	}
	return false
}
