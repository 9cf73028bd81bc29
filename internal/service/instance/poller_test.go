package instance

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// slowService lists pages of servers that run. What hangs is answered after ten minutes.
type slowService struct {
	hangs   func(req *http.Request) bool
	healthy time.Time // from then on nothing hangs any more
	pages   [][]string
}

func (s *slowService) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.hangs(req) && time.Now().Before(s.healthy) {
		select {
		case <-time.After(10 * time.Minute):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	if id, one := strings.CutPrefix(req.URL.Path, "/api/v1/instances/"); one {
		return jsonResponse(req, http.StatusOK, s.server(id))
	}
	page := 0
	if req.URL.Query().Get("cursor") != "" {
		page = 1
	}
	data := []any{}
	for _, id := range s.pages[page] {
		data = append(data, s.server(id))
	}
	answer := map[string]any{"data": data, "next_cursor": nil}
	if page+1 < len(s.pages) {
		answer["next_cursor"] = "next"
	}
	return jsonResponse(req, http.StatusOK, answer)
}

func (s *slowService) server(id string) map[string]any {
	return map[string]any{"id": id, "status": "running", "type": "on_demand", "gpu": map[string]any{}, "price": map[string]any{}}
}

// A request that is slow, or is retried, delays nobody whose server another request returns.
func TestWatcher_SlowRequests(t *testing.T) {
	get := func(id string) func(*http.Request) bool {
		return func(req *http.Request) bool { return strings.HasSuffix(req.URL.Path, "/"+id) }
	}
	for name, test := range map[string]struct {
		hangs func(*http.Request) bool
		pages [][]string
		alone bool // the slow server is waited for before the others come
	}{
		"a server that is not listed": {get("slow"), [][]string{{"a", "b"}}, false},
		"a server waited for alone":   {get("slow"), [][]string{{"a", "b"}}, true},
		"the second page": {
			func(req *http.Request) bool { return req.URL.Query().Get("cursor") != "" }, [][]string{{"a", "b"}, {"slow"}}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &slowService{hangs: test.hangs, pages: test.pages, healthy: time.Now().Add(20 * time.Second)}
				client, err := rental.New(rental.Config{
					BaseURL: "https://rent.example/api/v1", APIKey: testKey, Transport: service, RequestTimeout: time.Hour,
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var w watcher
				var all sync.WaitGroup
				wait := func(id string, most time.Duration) {
					began := time.Now()
					what := untilRunning(id, func(int) time.Duration { return time.Second })
					what.check = func(_ context.Context, inst rental.Instance, _ error) (bool, error) {
						return inst.Status == rental.StatusRunning, nil
					}
					err := w.until(ctx, client, what)
					if took := time.Since(began); err != nil || took > most {
						t.Errorf("%s: %v after %s", id, err, took)
					}
				}
				all.Go(func() { wait("slow", 30*time.Minute) })
				if test.alone {
					time.Sleep(2 * time.Second)
				}
				for _, id := range []string{"a", "b"} {
					all.Go(func() { wait(id, 10*time.Second) })
				}
				all.Wait()
			})
		})
	}
}

// Servers that a listing lacks are looked up at the same time, and no more than some of them.
func TestWatcher_LooksUpTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const servers, most = 24, 8
		s := &bootService{began: map[string]time.Time{}, latency: time.Second}
		hidden := &hiddenServers{bootService: s}
		client, err := rental.New(rental.Config{BaseURL: "https://rent.example/api/v1", APIKey: testKey, Transport: hidden})
		if err != nil {
			t.Fatal(err)
		}
		var w watcher
		var all sync.WaitGroup
		began := time.Now()
		for n := range servers {
			all.Go(func() {
				if err := w.until(t.Context(), client, untilRunning(fmt.Sprint(n), func(int) time.Duration { return time.Second })); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		// One second each for the pause, the listing, and three times eight look-ups.
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("it took %s", took)
		}
		if hidden.most > most {
			t.Errorf("%d requests at the same time, want at most %d", hidden.most, most)
		}
	})
}

// hiddenServers lists none of its servers, and counts the requests under way.
type hiddenServers struct {
	*bootService

	mu        sync.Mutex
	now, most int
}

func (s *hiddenServers) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	return s.bootService.RoundTrip(req)
}
