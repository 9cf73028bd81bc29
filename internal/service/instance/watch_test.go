package instance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// bootingFleet is a service whose servers run after a number of looks.
type bootingFleet struct {
	listings, gets atomic.Int64
	mu             sync.Mutex
	looks          map[string]int // still needed until it runs
	gone           map[string]bool
}

func (f *bootingFleet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	view := func(id string) map[string]any {
		status := "running"
		if f.gone[id] {
			status = "destroyed"
		} else if f.looks[id]--; f.looks[id] > 0 {
			status = "starting"
		}
		return map[string]any{"id": id, "status": status, "type": "on_demand"}
	}
	w.Header().Set("Content-Type", "application/json")
	if id, one := strings.CutPrefix(r.URL.Path, "/api/v1/instances/"); one {
		f.gets.Add(1)
		_ = json.NewEncoder(w).Encode(view(id)) //nolint:errcheck // the client tells
		return
	}
	f.listings.Add(1)
	var all []any
	for id := range f.looks {
		if !f.gone[id] {
			all = append(all, view(id))
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": all, "next_cursor": nil}) //nolint:errcheck // the client tells
}

func startFleet(t *testing.T, looks map[string]int) (*bootingFleet, *rental.Client) {
	t.Helper()
	fleet := &bootingFleet{looks: maps.Clone(looks), gone: map[string]bool{}}
	server := httptest.NewServer(fleet)
	t.Cleanup(server.Close)
	client, err := rental.New(rental.Config{BaseURL: server.URL + "/api/v1", APIKey: "test" + strings.Repeat("0", 40)})
	if err != nil {
		t.Fatal(err)
	}
	return fleet, client
}

func everyMillisecond(int) time.Duration { return time.Millisecond }

func untilRunning(id string, backoff poll.Backoff) wait {
	return wait{id: id, backoff: backoff, check: func(_ context.Context, inst rental.Instance, err error) (bool, error) {
		return inst.Status == rental.StatusRunning, err
	}}
}

func TestWatcherAlone(t *testing.T) {
	fleet, client := startFleet(t, map[string]int{"a": 3})
	var w watcher
	if err := w.until(t.Context(), client, untilRunning("a", everyMillisecond)); err != nil {
		t.Fatal(err)
	}
	if fleet.gets.Load() != 3 || fleet.listings.Load() != 0 {
		t.Errorf("%d single looks and %d listings, want three and none", fleet.gets.Load(), fleet.listings.Load())
	}
}

// However many wait, a look is one request.
func TestWatcherTogether(t *testing.T) {
	const servers, looks = 60, 5
	needed := map[string]int{}
	for n := range servers {
		needed[fmt.Sprint(n)] = looks
	}
	fleet, client := startFleet(t, needed)
	var w watcher
	var all sync.WaitGroup
	for id := range needed {
		all.Go(func() {
			// A pause long enough for all to be there.
			if err := w.until(t.Context(), client, untilRunning(id, func(int) time.Duration { return 50 * time.Millisecond })); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	// On a busy machine some come late to a look.
	if requests := fleet.listings.Load() + fleet.gets.Load(); requests > 4*looks {
		t.Errorf("%d requests for %d servers that take %d looks", requests, servers, looks)
	}
}

func TestWatcherMissesNobody(t *testing.T) {
	fleet, client := startFleet(t, map[string]int{"a": 1, "b": 1e9, "c": 1e9})
	fleet.gone = map[string]bool{"b": true, "c": true}
	var w watcher
	var all sync.WaitGroup
	end := func(id string, endAwaited bool) {
		all.Go(func() {
			err := w.until(t.Context(), client, wait{id: id, backoff: func(int) time.Duration { return 30 * time.Millisecond }, endAwaited: endAwaited,
				check: func(_ context.Context, inst rental.Instance, err error) (bool, error) {
					if inst.Status != rental.StatusDestroyed {
						t.Errorf("%s is %s", id, inst.Status)
					}
					return true, err
				}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	end("b", true)
	end("c", false)
	all.Wait()
	if fleet.gets.Load() != 1 || fleet.listings.Load() != 1 {
		t.Errorf("%d listings, and %d looks to make sure: want one of each, for the server whose end nobody has asked for", fleet.listings.Load(), fleet.gets.Load())
	}
}

func TestWatcherEndsAtOnce(t *testing.T) {
	_, client := startFleet(t, map[string]int{"a": 1e9})
	ctx, cancel := context.WithCancel(t.Context())
	var w watcher
	ended := make(chan error)
	go func() { ended <- w.until(ctx, client, untilRunning("a", func(int) time.Duration { return time.Hour })) }()
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the wait goes on")
	}
	// Who comes later is looked after all the same.
	if err := w.until(t.Context(), client, wait{id: "a", backoff: everyMillisecond, check: func(context.Context, rental.Instance, error) (bool, error) { return true, nil }}); err != nil {
		t.Error(err)
	}
}

// Somebody who is due earlier does not wait for those who came before.
func TestWatcherWakesForTheImpatient(t *testing.T) {
	_, client := startFleet(t, map[string]int{"a": 1, "b": 1})
	var w watcher
	patient := make(chan error)
	go func() {
		patient <- w.until(t.Context(), client, untilRunning("a", func(int) time.Duration { return time.Hour }))
	}()
	for {
		w.mu.Lock()
		there := len(w.waiting) > 0
		w.mu.Unlock()
		if there {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := w.until(t.Context(), client, untilRunning("b", everyMillisecond)); err != nil {
		t.Error(err)
	}
	if err := <-patient; err != nil {
		t.Error(err) // it was answered by the same look
	}
}

// bootService is a service whose servers boot in a time, and whose answers can be held
// back.
type bootService struct {
	boot    time.Duration
	latency time.Duration // of every answer

	mu      sync.Mutex
	began   map[string]time.Time
	blocked time.Time // nothing is answered before
	looks   int
}

func (s *bootService) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(max(time.Until(s.blocked), 0) + s.latency)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	view := func(id string) map[string]any {
		status := "starting"
		if time.Since(s.began[id]) >= s.boot {
			status = "running"
		}
		return map[string]any{"id": id, "status": status, "type": "on_demand"}
	}
	var answer any
	if id, one := strings.CutPrefix(req.URL.Path, "/api/v1/instances/"); one {
		answer = view(id)
	} else {
		all := []any{}
		for id := range s.began {
			all = append(all, view(id))
		}
		answer = map[string]any{"data": all, "next_cursor": nil}
	}
	body, err := json.Marshal(answer)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, err
}

// create adds servers and waits until they run; it returns how long that took.
func (s *bootService) create(t *testing.T, w *watcher, h *habit, client *rental.Client, names string, count int) time.Duration {
	began := time.Now()
	var all sync.WaitGroup
	for n := range count {
		id := fmt.Sprint(names, n)
		s.mu.Lock()
		s.began[id] = time.Now()
		s.mu.Unlock()
		all.Go(func() {
			what := untilRunning(id, poll.Growing(5*time.Second))
			what.habit = h
			if err := w.until(t.Context(), client, what); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

// One after the other, fleets boot: the first is looked at until it is there, the
// next ones when they should be.
func TestWatcherLearnsHowLongABootTakes(t *testing.T) {
	for _, boot := range []time.Duration{3 * time.Second, 9500 * time.Millisecond, 40 * time.Second} {
		t.Run(boot.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &bootService{boot: boot, began: map[string]time.Time{}}
				client, err := rental.New(rental.Config{BaseURL: "https://rent.example/api/v1", APIKey: "test" + strings.Repeat("0", 40), Transport: s})
				if err != nil {
					t.Fatal(err)
				}
				var w watcher
				var h habit
				s.create(t, &w, &h, client, "first", 10)
				for wave := range 5 {
					s.looks = 0
					took := s.create(t, &w, &h, client, fmt.Sprint("wave", wave, "-"), 10)
					if s.looks > 1 || took > boot*2+5*time.Second {
						t.Errorf("wave %d took %s and %d looks", wave, took, s.looks)
					}
				}
			})
		})
	}
}

// A look that had to wait for the request limit says nothing about boots.
func TestWatcherLearnsNothingFromALateLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &bootService{boot: 8 * time.Second, began: map[string]time.Time{}, blocked: time.Now().Add(time.Minute)}
		client, err := rental.New(rental.Config{BaseURL: "https://rent.example/api/v1", APIKey: "test" + strings.Repeat("0", 40), Transport: s, RequestTimeout: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		var w watcher
		var h habit
		s.create(t, &w, &h, client, "first", 10)
		if took := s.create(t, &w, &h, client, "second", 10); took > 15*time.Second {
			t.Errorf("servers that boot in 8 s were waited for %s", took)
		}
	})
}

// Many that are about to be changed are looked at once, wave after wave.
func TestWatcherLooksOnceBeforeChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// A request takes time: who comes meanwhile waits for the next one.
		s := &bootService{began: map[string]time.Time{}, latency: 50 * time.Millisecond}
		for n := range 40 {
			s.began[fmt.Sprint(n)] = time.Now()
		}
		client, err := rental.New(rental.Config{BaseURL: "https://rent.example/api/v1", APIKey: "test" + strings.Repeat("0", 40), Transport: s})
		if err != nil {
			t.Fatal(err)
		}
		var w watcher
		look := func(from, to int) {
			var all sync.WaitGroup
			for n := from; n < to; n++ {
				all.Go(func() {
					if inst, err := w.now(t.Context(), client, fmt.Sprint(n), recently); err != nil || inst.ID != fmt.Sprint(n) {
						t.Errorf("%d: %v, %v", n, inst.ID, err)
					}
				})
			}
			all.Wait()
		}
		for _, test := range []struct {
			name                  string
			pause                 time.Duration
			from, to, least, most int
		}{
			{"alone", 0, 0, 1, 1, 1},
			{"a wave", 0, 1, 20, 1, 2},
			{"the next", 5 * time.Second, 20, 40, 0, 0},
			{"a minute later", time.Minute, 0, 1, 1, 1},
		} {
			time.Sleep(test.pause)
			s.looks = 0
			if look(test.from, test.to); s.looks < test.least || s.looks > test.most {
				t.Errorf("%s: %d requests, want %d to %d", test.name, s.looks, test.least, test.most)
			}
		}
	})
}

// Whoever looks at a server after the wait for it sees what was waited for, not a
// listing from before.
func TestFleetShowsWhatWasWaitedFor(t *testing.T) {
	_, client := startFleet(t, map[string]int{"a": 5, "b": 1e9})
	var f fleet
	meta := &tfkit.Meta{Client: client}
	statusOf := func(id string) rental.InstanceStatus {
		all, err := f.list(t.Context(), meta, rental.ListActive)
		if err != nil {
			t.Error(err)
		}
		inst, found, err := f.find(t.Context(), meta, id)
		if err != nil || !found || len(all) != 2 {
			t.Errorf("%s: found %t among %d, %v", id, found, len(all), err)
		}
		return inst.Status
	}
	if status := statusOf("a"); status != rental.StatusStarting {
		t.Fatalf("it is %s", status)
	}
	if err := f.watch.until(t.Context(), client, untilRunning("a", everyMillisecond)); err != nil {
		t.Fatal(err)
	}
	if status := statusOf("a"); status != rental.StatusRunning {
		t.Errorf("it runs, and is shown %s", status)
	}
}

// In an account with more servers than it pays to list, those who wait are looked at one by one, and none is taken for destroyed.
func TestWatcherInALargeAccount(t *testing.T) {
	fleet := &bootingFleet{looks: map[string]int{"a": 5, "b": 5, "c": 1}, gone: map[string]bool{}}
	var pages atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/instances" {
			fleet.ServeHTTP(w, r)
			return
		}
		page := pages.Add(1)
		body := fmt.Sprintf(`{"data":[{"id":"other-%d","status":"running","type":"on_demand"}],"next_cursor":"c%d"}`, page, page)
		io.WriteString(w, body) //nolint:errcheck // the client reports it
	}))
	t.Cleanup(server.Close)
	client, err := rental.New(rental.Config{BaseURL: server.URL + "/api/v1", APIKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	var w watcher
	var all sync.WaitGroup
	for _, id := range []string{"a", "b"} {
		all.Go(func() {
			if err := w.until(t.Context(), client, untilRunning(id, func(int) time.Duration { return 50 * time.Millisecond })); err != nil {
				t.Error(err)
			}
		})
	}
	all.Go(func() {
		err := w.until(t.Context(), client, wait{
			id: "c", backoff: func(int) time.Duration { return 50 * time.Millisecond }, endAwaited: true,
			check: func(_ context.Context, inst rental.Instance, err error) (bool, error) {
				if inst.Status != rental.StatusRunning {
					t.Errorf("a server that runs is taken for %s", inst.Status)
				}
				return true, err
			},
		})
		if err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	if pages.Load() > tfkit.FirstReach || fleet.gets.Load() > 11 {
		t.Errorf("%d pages and %d single looks, want %d and 11 at most", pages.Load(), fleet.gets.Load(), tfkit.FirstReach)
	}
}
