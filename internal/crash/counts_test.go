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

// counts are numbers of cells, of kills of a provider, and of servers that were recovered by the next apply, imported
// as its plan suggested, rented twice, or orphaned (not tracked by any state at the end). The state files are those
// that a killed CLI truncated. Keys and templates that are left over cost nothing. Open API keys are ephemeral and were
// not revoked.
type counts map[string]int

// totals are the sums for a table.
type totals struct {
	sync.Mutex
	counts
}

func (t *totals) add(f failure, c counts) {
	t.Lock()
	defer t.Unlock()
	name, _, _ := strings.Cut(f.name, "/")
	c["cells"]++
	c["cells "+name]++
	if t.counts == nil {
		t.counts = counts{}
	}
	for name, n := range c {
		t.counts[name] += n
	}
}

// report logs the totals and adds them to the summary of the package, which is shown even if all tests pass.
func (t *totals) report(test *testing.T, name string, requests int, duration time.Duration) {
	test.Helper()
	line := fmt.Sprintf("crash: %s: %d requests, %.0f s", name, requests, duration.Seconds())
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		line += fmt.Sprintf("; %s: %d", name, t.counts[name])
	}
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
