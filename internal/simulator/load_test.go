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
	loadPause     = 500 * time.Millisecond // 120 requests per minute
	// maxP99 and maxRatio, relative to a server without any work, are bounds. One of them is enough.
	maxP99    = 50 * time.Millisecond
	maxRatio  = 3
	maxMemory = 300_000_000 // bytes
)

// BenchmarkLoad measures thousands of instances and hundreds of clients that keep to the rate limit, over real
// connections in this process. Every second request goes to a server that returns the same response without any work,
// because a shared machine may pause.
func BenchmarkLoad(b *testing.B) {
	server := start(b, simulator.Config{Clock: simulator.ClockManual, MarketScale: 60, APIKey: testKey})
	server.SetRateLimit(0, 0)
	api := clientOf(b, server.Simulator, testKey)
	api.setAccount(object{"balance_kop": int64(900_000_000_000), "max_instances": loadInstances})
	for n, o := range api.list("/offers")[:loadInstances] {
		api.create(fmt.Sprint("k", n), object{"offer_id": o["id"], "template": "ubuntu", "disk_gb": 20}).created()
	}
	server.Advance(time.Minute)
	all := ids(api.list("/instances"))
	b.Run("list", func(b *testing.B) { runLoad(b, server, func(int) string { return "/instances?limit=200" }) })
	b.Run("get", func(b *testing.B) {
		runLoad(b, server, func(n int) string { return "/instances/" + all[n%len(all)] })
	})
}

func runLoad(b *testing.B, server *simulator.Server, path func(n int) string) {
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
		_, err := w.Write(same)
		check(b, err == nil, "%v", err)
	}))
	defer bare.Close()

	var mu sync.Mutex
	took := map[string][]time.Duration{}
	var clients sync.WaitGroup
	b.ResetTimer()
	for c := range loadClients {
		clients.Go(func() {
			time.Sleep(loadPause * time.Duration(c) / loadClients) // spread the first requests
			for n := c; n < b.N; n += loadClients {
				url := []string{server.BaseURL, bare.URL}[n/loadClients%2]
				_, latency := get(url + path(n))
				mu.Lock()
				took[url] = append(took[url], latency)
				mu.Unlock()
				time.Sleep(loadPause - latency)
			}
		})
	}
	clients.Wait()
	b.StopTimer()

	p99 := func(url string) time.Duration {
		slices.Sort(took[url])
		return append(took[url], 0)[len(took[url])*99/100]
	}
	mine, others := p99(server.BaseURL), p99(bare.URL)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(mine.Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(others.Microseconds())/1000, "bare-p99-ms")
	b.ReportMetric(float64(memory.Sys)/1e6, "MB")
	check(b, others == 0 || mine <= maxP99 || mine <= maxRatio*others, "p99 is %v, %v of a server without work: "+
		"want at most %v or %d times that", mine, others, maxP99, maxRatio)
	check(b, memory.Sys <= maxMemory, "%d bytes of memory: want at most %d", memory.Sys, maxMemory)
}
