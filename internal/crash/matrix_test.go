//go:build linux

package crash

import (
	"flag"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// every is a prime number in a part of the matrix, so that the part has each failure.
var every = flag.Int("crash.every", 0, "test every `n`-th cell of the matrix; 1 tests all, and 0 a fixed sample")

// table is a part of the matrix: a configuration, the failures of its apply, and the check after each.
type table struct {
	config   func() string
	prepare  func(*cell) // what precedes the apply; nil for nothing
	flags    []string    // of the apply
	failures []failure
	check    func(*cell)
	servers  map[string]string // addresses of the servers in the configuration, by their names
	// sample is the cell of the fixed sample: a failure and the begin of the first request that triggers it, one after
	// which a mistake is most expensive. Without a sample, only make crash tests the table.
	sample string

	mu sync.Mutex
	// counts are numbers of cells, of kills of a provider, of truncated state files, and of servers that the next apply
	// recovered.
	counts map[string]int
}

// With a fixed idempotency key for each server, applying again repairs everything.
func TestAccCrashMatrix_fixedKeys(t *testing.T) {
	(&table{
		config: withKeys, servers: addresses, failures: interruptions, check: checkReapply,
		sample: "provider-killed/after POST /instances",
	}).test(t)
}

// So does idempotency_prefix, for all servers of the configuration.
func TestAccCrashMatrix_prefix(t *testing.T) {
	(&table{config: withPrefix, servers: addresses, failures: interruptions, check: checkReapply}).test(t)
}

// Without keys, only a kill can lose a server, and the next plan shows it.
func TestAccCrashMatrix_withoutKeys(t *testing.T) {
	(&table{
		config: withoutKeys, servers: addresses, failures: interruptions, check: checkImport,
		sample: "all-killed/after POST /instances",
	}).test(t)
}

// Without keys, no fault of the service or the network loses a server.
func TestAccCrashMatrix_faults(t *testing.T) {
	(&table{
		config: withoutKeys, servers: addresses, failures: faults, check: checkImport,
		sample: "dropped/after POST /instances",
	}).test(t)
}

// The secret of a managed API key does not appear in logs and outputs.
func TestAccCrashMatrix_issuedKey(t *testing.T) {
	(&table{config: oneManagedKey, failures: interruptions, check: checkManagedKey}).test(t)
}

// An ephemeral API key is left over only if the provider is killed.
func TestAccCrashMatrix_ephemeralKey(t *testing.T) {
	(&table{
		config: withEphemeralKey, servers: map[string]string{"quoted": addresses["quoted"]},
		failures: slices.Concat(interruptions, faults), check: checkEphemeralKey,
		sample: "interrupted/after POST /api-keys",
	}).test(t)
}

// maxRequests is more than an apply makes.
const maxRequests = 500

// requests returns the number of requests to break. In the whole matrix, an apply that ends before its failure shows
// that there are no more, because their number differs a little between applies, which poll.
func (tb *table) requests(t *testing.T) int {
	t.Helper()
	if *every <= 1 {
		return maxRequests
	}
	c := newCell(t, tb, &breaker{})
	if c.breakApply(); c.exitCode != 0 {
		t.Fatalf("an apply without a failure ended with exit code %d:\n%s", c.exitCode, strings.Join(c.log, "\n"))
	}
	return len(c.breaker.requests)
}

// test runs the cells of the sample or the matrix. The CLIs divide the failures for which the CLI makes no difference.
func (tb *table) test(t *testing.T) {
	t.Helper()
	acctest.FirstCLIOnly(t)
	if tb.sample == "" && *every == 0 {
		t.Skip("make crash runs this part of the matrix")
	}
	t.Parallel()
	t.Cleanup(func() { t.Log(tb.counts) })
	requests := tb.requests(t)
	begin := int(crc32.ChecksumIEEE([]byte(t.Name())) % 10_000) // another one in each table
	for index, f := range tb.failures {
		name, first, _ := strings.Cut(tb.sample, " ")
		if *every == 0 && name != f.name {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			if *every == 0 {
				if !tb.testCell(t, &breaker{failure: f, first: first}) {
					t.Errorf("the apply made no request %q", first)
				}
				return
			}
			for number := 1; number <= requests; number++ {
				cell := number*len(tb.failures) + index
				if (begin+cell)%*every > 0 || f.anyCLI && !acctest.OwnShare(cell) {
					continue
				}
				reached := true // false after the last request of the apply
				t.Run(fmt.Sprint(number), func(t *testing.T) {
					reached = tb.testCell(t, &breaker{failure: f, number: number})
				})
				if !reached {
					return
				}
			}
		})
	}
}

// testCell runs a cell and reports whether its failure happened.
func (tb *table) testCell(t *testing.T, b *breaker) bool {
	t.Helper()
	c := newCell(t, tb, b)
	c.test()
	return b.triggered()
}

// count adds to a number of the table.
func (tb *table) count(what string, n int) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if tb.counts == nil {
		tb.counts = map[string]int{}
	}
	tb.counts[what] += n
}
