//go:build linux

package crash

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

var (
	everyRequest = flag.Int("crash.requests", 60, "test every `n`-th request of the apply; 1 tests all")
	everyFailure = flag.Int("crash.failures", 4, "test every `n`-th failure; 1 tests all")
)

// table is a part of the matrix: a configuration, the failures of its apply, and the check after each.
type table struct {
	name     string
	config   func() string
	prepare  func(*cell) // what precedes the apply; nil for nothing
	flags    []string    // of the apply
	failures []failure
	check    func(*cell)
	servers  map[string]string // addresses of the servers in the configuration, by their names
	sample   string            // the failure in a sample; empty for every n-th
	totals   totals
}

// With a fixed idempotency key for each server, applying again repairs everything.
func TestAccCrashMatrix_fixedKeys(t *testing.T) {
	(&table{
		name: "fixed keys", config: withKeys, servers: addresses, failures: interruptions, check: checkReapply,
	}).test(t)
}

// So does idempotency_prefix, for all servers of the configuration.
func TestAccCrashMatrix_prefix(t *testing.T) {
	(&table{
		name: "prefix", config: withPrefix, servers: addresses, failures: interruptions, check: checkReapply,
	}).test(t)
}

// Without keys, only a kill can lose a server, and the next plan shows it.
func TestAccCrashMatrix_withoutKeys(t *testing.T) {
	(&table{
		name: "without keys", config: withoutKeys, servers: addresses, failures: interruptions, check: checkImport,
	}).test(t)
}

// Without keys, no fault of the service or the network loses a server.
func TestAccCrashMatrix_faults(t *testing.T) {
	(&table{name: "faults", config: withoutKeys, servers: addresses, failures: faults, check: checkImport}).test(t)
}

// The secret of a managed API key does not appear in logs and outputs.
func TestAccCrashMatrix_issuedKey(t *testing.T) {
	(&table{name: "managed key", config: oneManagedKey, failures: interruptions, check: checkManagedKey}).test(t)
}

// An ephemeral API key is left over only if the provider is killed.
func TestAccCrashMatrix_ephemeralKey(t *testing.T) {
	(&table{
		name: "ephemeral key", config: withEphemeralKey, servers: map[string]string{"quoted": addresses["quoted"]},
		failures: slices.Concat(interruptions, faults), check: checkEphemeralKey,
	}).test(t)
}

// slots limits the number of cells of all tables that run at the same time. They wait more than they compute, so two
// cells per core are faster than one.
var slots = make(chan struct{}, 2*runtime.NumCPU())

// test runs the cells.
func (tb *table) test(t *testing.T) {
	t.Helper()
	acctest.FirstCLIOnly(t)
	t.Parallel()
	reference := newCell(t, tb, newInterceptor(failure{}, 0))
	if reference.breakApply(); reference.exitCode != 0 {
		t.Fatalf("an apply without a failure ended with exit code %d:\n%s", reference.exitCode,
			strings.Join(reference.log, "\n"))
	}
	s := &sweep{
		table: tb, t: t, requests: reference.interceptor.requests,
		done: make([]atomic.Bool, len(tb.failures)), points: make(chan point),
	}
	begin := time.Now()
	var workers sync.WaitGroup
	for range cap(slots) {
		workers.Go(s.work)
	}
	s.feed()
	workers.Wait()
	tb.totals.report(t, tb.name, len(s.requests), time.Since(begin))
	if tb.totals.counts["cells"] == 0 {
		t.Error("no cell reached its request: nothing was tested")
	}
}

// sweep runs all cells of a table.
type sweep struct {
	*table
	t        *testing.T
	requests []string      // of the reference apply
	done     []atomic.Bool // by failure: an apply ended before it reached the request
	points   chan point
}

// point is the position of a cell.
type point struct{ failure, number int }

// feed sends points in the order of the requests until no apply makes that many requests. The number of requests
// differs a little between applies, because they poll.
func (s *sweep) feed() {
	defer close(s.points)
	last := 2*len(s.requests) + 20
	if *everyRequest > 1 {
		last = len(s.requests)
	}
	for number := 1; number <= last; number++ {
		left := false
		for f := range s.failures {
			if s.done[f].Load() {
				continue
			}
			left = true
			if s.sampled(f, number) {
				s.points <- point{f, number}
			}
		}
		if !left {
			return
		}
	}
}

// sampled reports whether the run includes a cell.
//
// A sample has every n-th failure, or the one that the table names. If *everyRequest is larger than the number of
// requests, the CLIs of a run in full divide the failures. A failure with an odd index starts at a request that rents a
// server, where a mistake is most expensive; the others start at requests that are distributed over the apply. From
// there, the sample takes requests at a fixed interval in both directions.
//
// A full run has every request. The CLIs divide the failures for which the CLI makes no difference.
func (s *sweep) sampled(f, number int) bool {
	if *everyRequest == 1 {
		return !s.failures[f].anyCLI || acctest.OwnShare(f+number)
	}
	n := *everyFailure
	if s.sample != "" && n > 1 {
		if s.failures[f].name != s.sample {
			return false
		}
	} else if f%n != n-1 || *everyRequest > len(s.requests) && !acctest.OwnShare(f/n) {
		return false
	}
	start := 1 + 5*f%max(1, len(s.requests)*3/4) // an apply that polls less often makes fewer requests
	var rentals []int
	for i, request := range s.requests {
		if request == "POST /instances" {
			rentals = append(rentals, i+1)
		}
	}
	if f%2 == 1 && len(rentals) > 0 {
		start = rentals[f/2%len(rentals)]
	}
	return (number-start)%*everyRequest == 0
}

func (s *sweep) work() {
	for p := range s.points {
		slots <- struct{}{}
		var c *cell
		passed := s.t.Run(fmt.Sprintf("%s/%d", s.failures[p.failure].name, p.number), func(t *testing.T) {
			c = newCell(t, s.table, newInterceptor(s.failures[p.failure], p.number))
			c.test()
		})
		<-slots
		if c == nil {
			continue // -run excludes it
		}
		if c.interceptor.triggered {
			s.totals.add(s.failures[p.failure], c.counts)
		} else if passed || p.number > len(s.requests) {
			s.done[p.failure].Store(true)
		}
	}
}
