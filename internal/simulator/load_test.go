package simulator_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const (
	loadInstances = 5000
	loadClients   = 200
	// requestInterval is the interval that the rate limit of 120 requests per minute allows.
	requestInterval = 500 * time.Millisecond
)

// Bounds of a quiet second.
const (
	maxP99 = 50 * time.Millisecond
	// maxRatio is the bound relative to a server without any work. One of the bounds is enough.
	maxRatio  = 3
	maxMemory = 300_000_000
)

// BenchmarkLoad measures thousands of instances and hundreds of clients over real connections in this process. "paced"
// clients keep to the rate limit; "rushed" clients send the next request at once and use the whole machine. It reports
// latencies and memory, and fails beyond the bounds above, except for the latencies of rushed clients.
//
// A shared machine may pause for seconds. Therefore every second request goes to a server that returns the same
// response without any work, and the benchmark compares the quiet seconds of both.
func BenchmarkLoad(b *testing.B) {
	server, paths := loadedServer(b)
	list := func(int) string { return "/instances?limit=200" }
	get := func(n int) string { return paths[n%len(paths)] }
	for _, query := range []struct {
		name  string
		path  func(n int) string
		pause time.Duration
	}{
		{"paced-list", list, requestInterval},
		{"paced-get", get, requestInterval},
		{"rushed-list", list, 0},
		{"rushed-get", get, 0},
	} {
		b.Run(query.name, func(b *testing.B) { runLoad(b, server, query.path, query.pause) })
	}
}

// loadedServer returns a simulator with loadInstances running instances, and their paths.
func loadedServer(b *testing.B) (*simulator.Server, []string) {
	server, err := simulator.Start(b.Context(), simulator.Config{Clock: simulator.ClockManual, MarketScale: 60,
		APIKey: testKey})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Close() })
	server.SetRateLimit(0, 0)
	if err := server.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(900_000_000_000)),
		MaxInstances: new(int64(loadInstances))}); err != nil {
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

func runLoad(b *testing.B, server *simulator.Server, path func(n int) string, pause time.Duration) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loadClients}}
	defer client.CloseIdleConnections()
	get := func(url string) (body []byte, took time.Duration) {
		began := time.Now()
		req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			b.Error(err)
			return nil, 0
		}
		req.Header.Set("Authorization", "Bearer "+testKey)
		resp, err := client.Do(req)
		if err != nil {
			b.Error(err)
			return nil, 0
		}
		defer resp.Body.Close()
		if body, err = io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			b.Errorf("status %d, %v", resp.StatusCode, err)
		}
		return body, time.Since(began)
	}
	same, _ := get(server.BaseURL + path(0))
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write(same); err != nil {
			b.Error(err)
		}
	}))
	defer bare.Close()

	took := make([][]latency, loadClients)
	var clients sync.WaitGroup
	b.ResetTimer()
	began := time.Now()
	for c := range loadClients {
		clients.Go(func() {
			time.Sleep(pause * time.Duration(c) / loadClients) // spread the first requests
			for n := c; n < b.N; n += loadClients {
				sample := latency{second: int(time.Since(began).Seconds()), bare: (n/loadClients)%2 == 1}
				url := server.BaseURL
				if sample.bare {
					url = bare.URL
				}
				_, sample.took = get(url + path(n))
				took[c] = append(took[c], sample)
				time.Sleep(pause - sample.took)
			}
		})
	}
	clients.Wait()
	b.StopTimer()
	report(b, slices.Concat(took...), pause > 0)
}

// latency is the latency of a request, the second of the run in which it was sent, and its server.
type latency struct {
	second int
	took   time.Duration
	bare   bool
}

// quietP99 returns the p99 of a quiet second, which is the first quartile of all seconds, and the p99 of all requests.
func quietP99(samples []latency, bare bool) (second, all time.Duration) {
	bySecond := map[int][]time.Duration{}
	var together []time.Duration
	for _, a := range samples {
		if a.bare == bare {
			bySecond[a.second] = append(bySecond[a.second], a.took)
			together = append(together, a.took)
		}
	}
	var seconds []time.Duration
	for _, took := range bySecond {
		seconds = append(seconds, quantile(took, 99))
	}
	return quantile(seconds, 25), quantile(together, 99)
}

// quantile returns a percentile of durations, 0 for none. It sorts them.
func quantile(took []time.Duration, percent int) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)*percent/100]
}

func report(b *testing.B, samples []latency, bounded bool) {
	second, all := quietP99(samples, false)
	bare, _ := quietP99(samples, true)
	b.ReportMetric(float64(all.Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(second.Microseconds())/1000, "quiet-p99-ms")
	b.ReportMetric(float64(bare.Microseconds())/1000, "bare-quiet-p99-ms")
	measured := bare > 0 // not in the first round, which has one request
	if bounded && measured && second > maxP99 && second > maxRatio*bare {
		b.Errorf("p99 of a quiet second is %v, %v of a server without work: want at most %v or %d times that", second,
			bare, maxP99, maxRatio)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.Sys)/1e6, "MB")
	if memory.Sys > maxMemory {
		b.Errorf("%d bytes of memory: want at most %d", memory.Sys, maxMemory)
	}
}
