package simulator_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const (
	loadInstances = 5000
	loadClients   = 200
	// pace is how often a client may ask: 120 times a minute.
	pace = 500 * time.Millisecond
)

// What the load must stay inside of.
const (
	maxP99    = 50 * time.Millisecond
	maxMemory = 300_000_000
)

// BenchmarkLoad is a fleet of thousands and hundreds of clients: those of "paced" keep to the request limit, those of
// "rushed" ask again as soon as they are answered, so that the machine has nothing left. It reports the slow end of what
// the clients see, over real connections in this same process, and the memory of both sides. It fails beyond the bounds
// above, but for the time of the rushed, which tells more of what else the machine does.
func BenchmarkLoad(b *testing.B) {
	server, paths := loadedServer(b)
	list := func(int) string { return "/instances?limit=200" }
	get := func(n int) string { return paths[n%len(paths)] }
	for _, query := range []struct {
		name  string
		path  func(n int) string
		pause time.Duration
	}{
		{"paced-list", list, pace},
		{"paced-get", get, pace},
		{"rushed-list", list, 0},
		{"rushed-get", get, 0},
	} {
		b.Run(query.name, func(b *testing.B) { hammer(b, server, query.path, query.pause) })
	}
}

// loadedServer returns a simulator full of running servers, and their paths.
func loadedServer(b *testing.B) (*simulator.Server, []string) {
	server, err := simulator.Start(b.Context(), simulator.Config{Clock: simulator.ClockManual, MarketScale: 60, APIKey: testKey})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Close() })
	server.SetRateLimit(0, 0)
	if err := server.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(900_000_000_000)), MaxInstances: new(int64(loadInstances))}); err != nil {
		b.Fatal(err)
	}
	r := &rig{Simulator: server.Simulator, t: b, key: testKey, header: http.Header{}}
	var paths []string
	for n, o := range list[offer](r, "/offers", 200)[:loadInstances] {
		var i instance
		r.rent(fmt.Sprint("k", n), m{"offer_id": o.ID, "template": "ubuntu", "disk_gb": 20}).want(201).into(&i)
		paths = append(paths, "/instances/"+i.ID)
	}
	server.Advance(time.Minute)
	return server, paths
}

func hammer(b *testing.B, server *simulator.Server, path func(n int) string, pause time.Duration) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loadClients}}
	defer client.CloseIdleConnections()
	ask := func(n int) time.Duration {
		began := time.Now()
		req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, server.BaseURL+path(n), strings.NewReader(""))
		if err != nil {
			b.Error(err)
			return 0
		}
		req.Header.Set("Authorization", "Bearer "+testKey)
		resp, err := client.Do(req)
		if err != nil {
			b.Error(err)
			return 0
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			b.Errorf("status %d, %v", resp.StatusCode, err)
		}
		return time.Since(began)
	}
	took := make([][]time.Duration, loadClients)
	var clients sync.WaitGroup
	b.ResetTimer()
	for c := range loadClients {
		clients.Go(func() {
			time.Sleep(pause * time.Duration(c) / loadClients) // they did not all begin at once
			for n := c; n < b.N; n += loadClients {
				spent := ask(n)
				took[c] = append(took[c], spent)
				time.Sleep(pause - spent)
			}
		})
	}
	clients.Wait()
	b.StopTimer()
	p99 := report(b, slices.Concat(took...))
	if pause > 0 && p99 > maxP99 {
		b.Errorf("p99 %v: want at most %v", p99, maxP99)
	}
}

func report(b *testing.B, took []time.Duration) (p99 time.Duration) {
	slices.Sort(took)
	p99 = took[len(took)*99/100]
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(memory.Sys)/1e6, "MB")
	if memory.Sys > maxMemory {
		b.Errorf("%d bytes of memory: want at most %d", memory.Sys, maxMemory)
	}
	return p99
}
