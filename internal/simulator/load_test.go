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
	// pace is how often a client may ask: 120 times a minute.
	pace = 500 * time.Millisecond
)

// What the load must stay inside of, in a quiet second.
const (
	maxP99 = 50 * time.Millisecond
	// maxRatio is how many times as long as a server without any work the simulator may take beyond that.
	maxRatio  = 3
	maxMemory = 300_000_000
)

// BenchmarkLoad is a fleet of thousands and hundreds of clients: those of "paced" keep to the request limit, those of
// "rushed" ask again as soon as they are answered, so that the machine has nothing left. It reports the slow end of what
// the clients see, over real connections in this same process, and the memory of both sides. It fails beyond the bounds
// above, but for the time of the rushed, which tells more of what else the machine does.
//
// A machine may itself stand still, for seconds: many are one of several on the same hardware. So every other question
// goes to a bare server that gives the same answers without work, and the quiet seconds of both are set beside
// each other: a service that is slow is slow in those as well, and slower than the bare one.
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

func hammer(b *testing.B, server *simulator.Server, path func(n int) string, pause time.Duration) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loadClients}}
	defer client.CloseIdleConnections()
	ask := func(url string) (body []byte, took time.Duration) {
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
	same, _ := ask(server.BaseURL + path(0))
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
			time.Sleep(pause * time.Duration(c) / loadClients) // they did not all begin at once
			for n := c; n < b.N; n += loadClients {
				question := latency{second: int(time.Since(began).Seconds()), bare: (n/loadClients)%2 == 1}
				url := server.BaseURL
				if question.bare {
					url = bare.URL
				}
				_, question.took = ask(url + path(n))
				took[c] = append(took[c], question)
				time.Sleep(pause - question.took)
			}
		})
	}
	clients.Wait()
	b.StopTimer()
	report(b, slices.Concat(took...), pause > 0)
}

// latency is how long an answer took, in which second of the run it was asked for, and of whom.
type latency struct {
	second int
	took   time.Duration
	bare   bool
}

// quiet returns the p99 of a quiet second, one in four of which are at least as quiet, and that of all seconds.
func quiet(answers []latency, bare bool) (second, all time.Duration) {
	bySecond := map[int][]time.Duration{}
	var together []time.Duration
	for _, a := range answers {
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

// quantile returns what percent of the durations are below, none for none. It sorts them.
func quantile(took []time.Duration, percent int) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)*percent/100]
}

func report(b *testing.B, answers []latency, bounded bool) {
	second, all := quiet(answers, false)
	bare, _ := quiet(answers, true)
	b.ReportMetric(float64(all.Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(second.Microseconds())/1000, "quiet-p99-ms")
	b.ReportMetric(float64(bare.Microseconds())/1000, "bare-quiet-p99-ms")
	requested := bare > 0 // not in the single question that every benchmark begins with
	if bounded && requested && second > maxP99 && second > maxRatio*bare {
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
