//go:build linux

package crash

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// counts are the results of cells.
type counts struct {
	cells int
	// kills is the number of cells in which a provider was killed.
	kills int
	// Servers: recovered by the next apply, imported as its plan suggested, rented twice, and existing but not in the
	// state at the end.
	recovered, imported, duplicates, orphans int
	// truncated is the number of state files that the CLI had not written completely when it was killed.
	truncated int
	// templates is the number of templates that had to be imported.
	templates int
	// leftOver is the number of SSH keys and templates that no state has; they cost nothing.
	leftOver int
	// openKeys is the number of ephemeral API keys that were not revoked.
	openKeys int
}

// totals are the sums for a table.
type totals struct {
	mu        sync.Mutex
	byFailure map[string]int // cells
	counts
}

func (t *totals) add(f failure, c counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byFailure == nil {
		t.byFailure = map[string]int{}
	}
	name, _, _ := strings.Cut(f.name, "/")
	t.byFailure[name]++
	t.cells++
	t.kills += c.kills
	t.recovered += c.recovered
	t.imported += c.imported
	t.duplicates += c.duplicates
	t.orphans += c.orphans
	t.truncated += c.truncated
	t.templates += c.templates
	t.leftOver += c.leftOver
	t.openKeys += c.openKeys
}

// report logs the totals and adds them to the summary of the package, which is shown even if all tests pass.
func (t *totals) report(test *testing.T, name string, requests int, duration time.Duration) {
	test.Helper()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(t.byFailure)) {
		names = append(names, fmt.Sprintf("%s %d", name, t.byFailure[name]))
	}
	line := fmt.Sprintf("crash: %s: %d cells over %d requests (%s), %d kills; ", name, t.cells, requests,
		strings.Join(names, ", "), t.kills) +
		fmt.Sprintf("servers: %d recovered, %d imported, %d rented twice, %d orphaned; ", t.recovered, t.imported,
			t.duplicates, t.orphans) +
		fmt.Sprintf("%d states truncated; %d templates imported; left over: %d SSH keys and templates, %d API keys; %.0f s",
			t.truncated, t.templates, t.leftOver, t.openKeys, duration.Seconds())
	test.Log(line)
	summary.Lock()
	defer summary.Unlock()
	summary.lines = append(summary.lines, line)
}

var summary struct {
	sync.Mutex
	lines []string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if len(summary.lines) > 0 {
		fmt.Fprintln(os.Stdout, strings.Join(summary.lines, "\n"))
	}
	os.Exit(code)
}
