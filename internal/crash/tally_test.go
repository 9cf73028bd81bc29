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

// tally counts what came of cells.
type tally struct {
	cells int
	// hits are the cells in which a provider was really killed.
	hits int
	// Servers: taken over by the next apply, imported as its plan advised, rented
	// twice, and alive but in no state at the end.
	takenOver, imported, duplicates, orphans int
	// torn are the states that the CLI was killed while writing.
	torn int
	// templates had to be imported first.
	templates int
	// free are keys and templates that are left over; they cost nothing.
	free int
	// open are keys of a run that outlived it.
	open int
}

// total is the tally of a table.
type total struct {
	mu    sync.Mutex
	modes map[string]int // cells of each
	tally
}

func (t *total) add(k kind, c tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.modes == nil {
		t.modes = map[string]int{}
	}
	mode, _, _ := strings.Cut(k.name, "/")
	t.modes[mode]++
	t.cells++
	t.hits += c.hits
	t.takenOver += c.takenOver
	t.imported += c.imported
	t.duplicates += c.duplicates
	t.orphans += c.orphans
	t.torn += c.torn
	t.templates += c.templates
	t.free += c.free
	t.open += c.open
}

// report notes the counts for the end, where they are seen when all goes well,
// too.
func (t *total) report(test *testing.T, name string, requests int, took time.Duration) {
	test.Helper()
	var modes []string
	for _, mode := range slices.Sorted(maps.Keys(t.modes)) {
		modes = append(modes, fmt.Sprintf("%s %d", mode, t.modes[mode]))
	}
	line := fmt.Sprintf("crash: %s: %d cells over %d requests (%s), %d kills; servers: %d taken over, %d imported, %d rented twice, %d orphaned; "+
		"%d states torn; %d templates imported; left over: %d keys and templates; left open: %d API keys; %.0f s",
		name, t.cells, requests, strings.Join(modes, ", "), t.hits, t.takenOver, t.imported, t.duplicates, t.orphans, t.torn, t.templates, t.free, t.open, took.Seconds())
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
