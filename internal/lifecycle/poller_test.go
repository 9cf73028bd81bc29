package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// fakeAPI has instances that run after a number of reads, or after a time.
type fakeAPI struct {
	// hang returns how long a request takes in addition.
	hang func(*http.Request) time.Duration

	mu          sync.Mutex
	reads       map[string]int // still needed until it runs
	unlisted    map[string]bool
	destroyed   map[string]bool
	others      int // pages of other instances before the listed ones; -1: no page is the last one
	gets, pages int
	parallel    int // requests in progress
}

func newFakeAPI(reads map[string]int) *fakeAPI {
	return &fakeAPI{reads: reads, unlisted: map[string]bool{}, destroyed: map[string]bool{}}
}

func (f *fakeAPI) RoundTrip(req *http.Request) (*http.Response, error) {
	f.count(1)
	defer f.count(-1)
	delay := time.Duration(0)
	if f.hang != nil {
		delay = f.hang(req)
	}
	select {
	case <-time.After(delay):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if id, one := strings.CutPrefix(req.URL.Path, "/api/v1/instances/"); one {
		f.gets++
		return rentaltest.JSONResponse(req, http.StatusOK, f.view(id))
	}
	f.pages++
	page := 0
	fmt.Sscan(req.URL.Query().Get("cursor"), &page) //nolint:errcheck // the first page has none
	if f.others < 0 || page < f.others {
		data := []any{instance(fmt.Sprint("other-", page), "running")}
		return rentaltest.JSONResponse(req, http.StatusOK, map[string]any{"data": data, "next_cursor": fmt.Sprint(page + 1)})
	}
	data := []any{}
	for id := range f.reads {
		if !f.unlisted[id] && !f.destroyed[id] {
			data = append(data, f.view(id))
		}
	}
	return rentaltest.JSONResponse(req, http.StatusOK, map[string]any{"data": data, "next_cursor": nil})
}

func (f *fakeAPI) count(change int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parallel += change
}

func (f *fakeAPI) view(id string) any {
	if f.destroyed[id] {
		return instance(id, "destroyed")
	}
	if f.reads[id]--; f.reads[id] > 0 {
		return instance(id, "starting")
	}
	return instance(id, "running")
}

func instance(id, status string) any {
	return map[string]any{"id": id, "status": status, "type": "on_demand"}
}

func every(pause time.Duration) func(int) time.Duration {
	return func(int) time.Duration { return pause }
}

func untilRunning(_ context.Context, inst rental.Instance, err error) (bool, error) {
	return inst.Status == rental.StatusRunning, err
}

// inBubble runs a test of a poller in a synctest bubble.
func inBubble(t *testing.T, api *fakeAPI, test func(t *testing.T, p *poller)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, &poller{client: rentaltest.Client(t, api)})
		time.Sleep(time.Hour) // until no goroutine is left
	})
}

func TestPoller_OneWaiterUsesGet(t *testing.T) {
	api := newFakeAPI(map[string]int{"a": 3})
	inBubble(t, api, func(t *testing.T, p *poller) {
		if err := p.wait(t.Context(), "a", false, every(time.Second), untilRunning); err != nil {
			t.Fatal(err)
		}
	})
	if api.gets != 3 || api.pages != 0 {
		t.Errorf("%d single requests and %d pages, want 3 and none", api.gets, api.pages)
	}
}

func TestPoller_ManyWaitersShareAListing(t *testing.T) {
	const count, reads = 60, 5
	needed := map[string]int{}
	for n := range count {
		needed[fmt.Sprint(n)] = reads
	}
	api := newFakeAPI(needed)
	inBubble(t, api, func(t *testing.T, p *poller) {
		var all sync.WaitGroup
		for n := range count {
			all.Go(func() {
				if err := p.wait(t.Context(), fmt.Sprint(n), false, every(time.Second), untilRunning); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	if api.pages != reads || api.gets != 0 {
		t.Errorf("%d pages and %d single requests, want %d and none", api.pages, api.gets, reads)
	}
}

// An instance that a listing lacks is destroyed only if its destruction was accepted. Otherwise it is read by its id.
func TestPoller_ListingLacksAnInstance(t *testing.T) {
	api := newFakeAPI(map[string]int{"a": 1, "accepted": 1, "other": 1})
	api.destroyed = map[string]bool{"accepted": true, "other": true}
	inBubble(t, api, func(t *testing.T, p *poller) {
		var all sync.WaitGroup
		for id, accepted := range map[string]bool{"accepted": true, "other": false} {
			all.Go(func() {
				err := p.wait(t.Context(), id, accepted, every(time.Second),
					func(_ context.Context, inst rental.Instance, err error) (bool, error) {
						if inst.Status != rental.StatusDestroyed {
							t.Errorf("%s is %s", id, inst.Status)
						}
						return true, err
					})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	if api.gets != 1 || api.pages != 1 {
		t.Errorf("%d single requests and %d pages, want 1 and 1", api.gets, api.pages)
	}
}

func TestPoller_WaitEndsWithItsContext(t *testing.T) {
	inBubble(t, newFakeAPI(map[string]int{"a": 1e9, "b": 1}), func(t *testing.T, p *poller) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := p.wait(ctx, "a", false, every(time.Hour), untilRunning); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the wait ended with %v", err)
		}
		if took := time.Since(began); took != time.Minute {
			t.Errorf("the wait ended after %s", took)
		}
		if _, err := p.Get(t.Context(), "b"); err != nil {
			t.Errorf("a later read failed: %v", err)
		}
	})
}

// A listing in progress ends when nobody waits for it.
func TestPoller_InterruptedListingEnds(t *testing.T) {
	api := newFakeAPI(map[string]int{"a": 1, "b": 1})
	api.hang = func(*http.Request) time.Duration { return 24 * time.Hour }
	inBubble(t, api, func(t *testing.T, p *poller) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var all sync.WaitGroup
		for id := range api.reads {
			all.Go(func() { _ = p.wait(ctx, id, false, every(time.Second), untilRunning) }) //nolint:errcheck // it fails
		}
		all.Wait()
		synctest.Wait()
		if api.parallel != 0 {
			t.Errorf("%d requests are still in progress", api.parallel)
		}
	})
}

// A slow request delays no caller whose instance another request returns.
func TestPoller_SlowRequests(t *testing.T) {
	slowGet := func(req *http.Request) bool { return strings.HasSuffix(req.URL.Path, "/slow") }
	for name, test := range map[string]struct {
		hangs    func(*http.Request) bool
		unlisted bool
		first    bool // the wait for the slow instance begins before the others
	}{
		"an instance that is not listed": {slowGet, true, false},
		"an instance read alone":         {slowGet, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(map[string]int{"slow": 1, "a": 1, "b": 1})
			api.unlisted["slow"] = test.unlisted
			inBubble(t, api, func(t *testing.T, p *poller) {
				healthy := time.Now().Add(20 * time.Second)
				api.hang = func(req *http.Request) time.Duration {
					if test.hangs(req) && time.Now().Before(healthy) {
						return 10 * time.Minute
					}
					return 0
				}
				var all sync.WaitGroup
				wait := func(id string, longest time.Duration) {
					began := time.Now()
					err := p.wait(
						t.Context(),
						id, false,
						every(time.Second),
						func(_ context.Context, inst rental.Instance, _ error) (bool, error) {
							return inst.Status == rental.StatusRunning, nil
						},
					)
					if took := time.Since(began); err != nil || took > longest {
						t.Errorf("%s: %v after %s", id, err, took)
					}
				}
				all.Go(func() { wait("slow", 30*time.Minute) })
				if test.first {
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

// In an account where a listing takes more requests than there are waiters, each is read alone, and none that the read
// part of the list lacks counts as destroyed.
func TestPoller_LargeAccount(t *testing.T) {
	api := newFakeAPI(map[string]int{"a": 5, "b": 5, "c": 1})
	api.others = -1
	inBubble(t, api, func(t *testing.T, p *poller) {
		var all sync.WaitGroup
		for id, accepted := range map[string]bool{"a": false, "b": false, "c": true} {
			all.Go(func() {
				err := p.wait(t.Context(), id, accepted, every(time.Second), untilRunning)
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	if api.pages != 3 || api.gets != 11 {
		t.Errorf("%d pages and %d single requests, want 3 and 11", api.pages, api.gets)
	}
}

// What was read before a wait is not returned from a cache afterwards.
func TestPoller_WaitInvalidatesTheCache(t *testing.T) {
	api := newFakeAPI(map[string]int{"a": 5, "b": 1e9})
	inBubble(t, api, func(t *testing.T, p *poller) {
		cache := rental.NewCache(p.client)
		status := func() rental.InstanceStatus {
			listing, err := cache.Instances.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			inst, _ := listing.Find("a")
			return inst.Status
		}
		if before := status(); before != rental.StatusStarting {
			t.Fatalf("it is %s", before)
		}
		if err := p.wait(t.Context(), "a", false, every(time.Millisecond), untilRunning); err != nil {
			t.Fatal(err)
		}
		if after := status(); after != rental.StatusRunning {
			t.Errorf("it runs, and the cache returns %s", after)
		}
	})
}
