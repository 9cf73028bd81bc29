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
	// maxP99 and maxRatio, relative to a server without any work, are bounds of paced clients. One of them is enough.
	maxP99    = 50 * time.Millisecond
	maxRatio  = 3
	maxMemory = 300_000_000 // bytes
)

// BenchmarkLoad measures thousands of instances and hundreds of clients over real connections in this process. "paced"
// clients keep to the rate limit; "rushed" clients send the next request at once and use the whole machine. Every
// second request goes to a server that returns the same response without any work, because a shared machine may pause.
func BenchmarkLoad(b *testing.B) {
	server, paths := loadedServer(b)
	list := func(int) string { return "/instances?limit=200" }
	get := func(n int) string { return paths[n%len(paths)] }
	const pause = 500 * time.Millisecond // 120 requests per minute
	b.Run("paced-list", func(b *testing.B) { runLoad(b, server, list, pause) })
	b.Run("paced-get", func(b *testing.B) { runLoad(b, server, get, pause) })
	b.Run("rushed-list", func(b *testing.B) { runLoad(b, server, list, 0) })
	b.Run("rushed-get", func(b *testing.B) { runLoad(b, server, get, 0) })
}

// loadedServer returns a simulator with loadInstances running instances, and their paths.
func loadedServer(b *testing.B) (*simulator.Server, []string) {
	server := start(b, simulator.Config{Clock: simulator.ClockManual, MarketScale: 60, APIKey: testKey})
	server.SetRateLimit(0, 0)
	api := clientOf(b, server.Simulator, testKey)
	api.setAccount(object{"balance_kop": int64(900_000_000_000), "max_instances": loadInstances})
	var paths []string
	for n, o := range api.list("/offers")[:loadInstances] {
		body := object{"offer_id": o["id"], "template": "ubuntu", "disk_gb": 20}
		paths = append(paths, "/instances/"+api.create(fmt.Sprint("k", n), body).created().text("id"))
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

	var mu sync.Mutex
	took := map[string][]time.Duration{}
	var clients sync.WaitGroup
	b.ResetTimer()
	for c := range loadClients {
		clients.Go(func() {
			time.Sleep(pause * time.Duration(c) / loadClients) // spread the first requests
			for n := c; n < b.N; n += loadClients {
				url := []string{server.BaseURL, bare.URL}[n/loadClients%2]
				_, latency := get(url + path(n))
				mu.Lock()
				took[url] = append(took[url], latency)
				mu.Unlock()
				time.Sleep(pause - latency)
			}
		})
	}
	clients.Wait()
	b.StopTimer()

	p99, bareP99 := p99(took[server.BaseURL]), p99(took[bare.URL])
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(bareP99.Microseconds())/1000, "bare-p99-ms")
	b.ReportMetric(float64(memory.Sys)/1e6, "MB")
	if measured := bareP99 > 0; measured && pause > 0 && p99 > maxP99 && p99 > maxRatio*bareP99 {
		b.Errorf("p99 is %v, %v of a server without work: want at most %v or %d times that", p99, bareP99, maxP99, maxRatio)
	}
	if memory.Sys > maxMemory {
		b.Errorf("%d bytes of memory: want at most %d", memory.Sys, maxMemory)
	}
}

// p99 returns the 99th percentile of durations, 0 for none. It sorts them.
func p99(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}
