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
	every = flag.Int("crash.every", 60, "try every `n`-th request of the apply; 1 tries all")
	nth   = flag.Int("crash.kinds", 2, "try every `n`-th kind of failure; 1 tries all")
)

// table is a configuration, what happens to its apply, and what must hold after.
type table struct {
	name    string
	config  func() string
	kinds   []kind
	promise func(*cell)
	servers map[string]string // what the configuration rents: addresses, by their names
	tally   total
}

// With a fixed key for each server, applying again heals everything.
func TestAccCrashMatrix_fixedKeys(t *testing.T) {
	(&table{name: "fixed keys", config: withKeys, servers: addresses, kinds: ends, promise: heals}).all(t)
}

// Without keys, a server can be lost only to kill -9, and the next plan tells.
func TestAccCrashMatrix_withoutKeys(t *testing.T) {
	(&table{name: "without keys", config: withoutKeys, servers: addresses, kinds: ends, promise: tells}).all(t)
}

// Without keys, no fault of the service or the network loses anything.
func TestAccCrashMatrix_faults(t *testing.T) {
	(&table{name: "faults", config: withoutKeys, servers: addresses, kinds: faults, promise: tells}).all(t)
}

// The secret of an issued key stays out of logs and outputs, too.
func TestAccCrashMatrix_issuedKey(t *testing.T) {
	(&table{name: "issued key", config: oneKey, kinds: ends, promise: keeps}).all(t)
}

// slots bounds how many cells of all tables are tried at the same time. They
// wait more than they compute, so two a core are faster than one.
var slots = make(chan struct{}, 2*runtime.NumCPU())

// A key that lives as long as a run outlives it only when the provider is killed.
func TestAccCrashMatrix_ephemeralKey(t *testing.T) {
	kinds := slices.Concat(ends, faults)
	(&table{name: "ephemeral key", config: passedKey, servers: map[string]string{"quoted": addresses["quoted"]}, kinds: kinds, promise: revokes}).all(t)
}

// all tries the cells.
func (tb *table) all(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	plain := newCell(t, tb, newTrap(kind{}, 0))
	if plain.breakOff(); plain.code != 0 {
		t.Fatalf("an apply that nothing happens to ended with %d:\n%s", plain.code, strings.Join(plain.told, "\n"))
	}
	s := &sweep{table: tb, t: t, requests: plain.trap.seen, over: make([]atomic.Bool, len(tb.kinds)), points: make(chan point)}
	begin := time.Now()
	var workers sync.WaitGroup
	for range cap(slots) {
		workers.Go(s.work)
	}
	s.feed()
	workers.Wait()
	tb.tally.report(t, tb.name, len(s.requests), time.Since(begin))
	if tb.tally.cells == 0 {
		t.Error("no cell ran in which a request was hit: nothing was tested")
	}
}

// sweep goes over all cells of a table.
type sweep struct {
	*table
	t        *testing.T
	requests []string      // of an apply that nothing happens to
	over     []atomic.Bool // by kind: an apply ended before its request came
	points   chan point
}

// point is where a cell is.
type point struct{ kind, number int }

// feed hands out points in the order of the requests, until no apply makes so
// many. Applies differ a little in how often they poll.
func (s *sweep) feed() {
	defer close(s.points)
	last := 2*len(s.requests) + 20
	if *every > 1 {
		last = len(s.requests)
	}
	for number := 1; number <= last; number++ {
		left := false
		for k := range s.kinds {
			if s.over[k].Load() {
				continue
			}
			left = true
			if s.sampled(k, number) {
				s.points <- point{k, number}
			}
		}
		if !left {
			return
		}
	}
}

// sampled reports whether a cell belongs to the sample. A sample takes every nth kind.
// If its step is wider than the apply, the CLIs divide the kinds. Kinds with an odd
// number fail at a rental, where most is at stake, the others at requests all over
// the apply; from there the sample takes every so many requests in both directions.
//
// All of it is every request, but for faults of the service and the network, which a
// CLI hears nothing of: the CLIs share those.
func (s *sweep) sampled(k, number int) bool {
	if *every == 1 {
		return !s.kinds[k].unheard || acctest.OwnShare(k+number)
	}
	if k%*nth != *nth-1 || *every > len(s.requests) && !acctest.OwnShare(k / *nth) {
		return false
	}
	anchor := 1 + 5*k%len(s.requests)
	var rentals []int
	for i, request := range s.requests {
		if request == "POST /instances" {
			rentals = append(rentals, i+1)
		}
	}
	if k%2 == 1 && len(rentals) > 0 {
		anchor = rentals[k/2%len(rentals)]
	}
	return (number-anchor)%*every == 0
}

func (s *sweep) work() {
	for p := range s.points {
		slots <- struct{}{}
		var c *cell
		passed := s.t.Run(fmt.Sprintf("%s/%d", s.kinds[p.kind].name, p.number), func(t *testing.T) {
			c = newCell(t, s.table, newTrap(s.kinds[p.kind], p.number))
			c.try()
		})
		<-slots
		if c == nil {
			continue // -run leaves it out
		}
		if c.trap.sprung {
			s.tally.add(s.kinds[p.kind], c.count)
		} else if passed || p.number > len(s.requests) {
			s.over[p.kind].Store(true)
		}
	}
}
