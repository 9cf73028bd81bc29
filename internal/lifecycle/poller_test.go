package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// fakeAPI has instances that run after a number of reads.
type fakeAPI struct {
	mu          sync.Mutex
	reads       map[string]int // still needed until it runs; a negative number is a destroyed instance
	unlisted    string         // an instance that lists lack, as they lack destroyed ones
	endless     bool           // no page of a list is the last one, and none has the instances
	noList      bool           // lists are not found
	gets, pages int
}

func (f *fakeAPI) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(time.Millisecond) // so that waiters of the same moment share a listing
	f.mu.Lock()
	defer f.mu.Unlock()
	if id, one := strings.CutPrefix(req.URL.Path, "/api/v1/instances/"); one {
		f.gets++
		return rentaltest.JSONResponse(req, http.StatusOK, f.view(id))
	}
	f.pages++
	if f.noList {
		return rentaltest.JSONResponse(req, http.StatusNotFound, rentaltest.Failure(http.StatusNotFound))
	}
	page := map[string]any{"data": []any{}, "next_cursor": nil}
	if f.endless {
		page["next_cursor"] = fmt.Sprint(f.pages)
		return rentaltest.JSONResponse(req, http.StatusOK, page)
	}
	data := []any{}
	for id, reads := range f.reads {
		if reads >= 0 && id != f.unlisted {
			data = append(data, f.view(id))
		}
	}
	page["data"] = data
	return rentaltest.JSONResponse(req, http.StatusOK, page)
}

func (f *fakeAPI) view(id string) any {
	status := rental.StatusRunning
	if f.reads[id] < 0 {
		status = rental.StatusDestroyed
	} else if f.reads[id] = max(0, f.reads[id]-1); f.reads[id] > 0 {
		status = rental.StatusStarting
	}
	return map[string]any{"id": id, "status": status, "type": "on_demand"}
}

// poll runs a test of a poller in a synctest bubble.
func poll(t *testing.T, api http.RoundTripper, test func(t *testing.T, p *poller)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, &poller{client: rentaltest.Client(t, api)})
		time.Sleep(time.Hour) // until no goroutine is left
	})
}

// waitFor waits each second until an instance is as wanted.
func waitFor(ctx context.Context, p *poller, id string, accepted bool, want rental.InstanceStatus) error {
	pause := func(int) time.Duration { return time.Second }
	return p.wait(ctx, id, accepted, pause, func(_ context.Context, inst rental.Instance, err error) (bool, error) {
		return inst.Status == want, err
	})
}

// waitForAll waits at the same time until instances run.
func waitForAll(ctx context.Context, p *poller, ids ...string) error {
	errs := make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() { errs[i] = waitFor(ctx, p, id, false, rental.StatusRunning) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// One waiter reads its instance. Many share listings, unless a listing takes more requests than there are waiters.
func TestPoller_Requests(t *testing.T) {
	many := map[string]int{}
	for n := range 60 {
		many[fmt.Sprint(n)] = 5
	}
	for name, test := range map[string]struct {
		api         *fakeAPI
		gets, pages int
	}{
		"one":                {&fakeAPI{reads: map[string]int{"a": 3}}, 3, 0},
		"many":               {&fakeAPI{reads: many}, 0, 5},
		"in a large account": {&fakeAPI{reads: map[string]int{"a": 5, "b": 5, "c": 5}, endless: true}, 15, 3},
	} {
		poll(t, test.api, func(t *testing.T, p *poller) {
			ids := slices.Collect(maps.Keys(test.api.reads))
			err := waitForAll(t.Context(), p, ids...)
			if gets, pages := test.api.gets, test.api.pages; err != nil || gets != test.gets || pages != test.pages {
				t.Errorf("%s: %v, %d single requests, %d pages", name, err, gets, pages)
			}
		})
	}
}

// An instance that a listing lacks is destroyed only if its destruction was accepted. Otherwise it is read by its id.
func TestPoller_ListingLacksAnInstance(t *testing.T) {
	api := &fakeAPI{reads: map[string]int{"accepted": -1, "other": -1}}
	poll(t, api, func(t *testing.T, p *poller) {
		var all sync.WaitGroup
		for _, id := range []string{"accepted", "other"} {
			all.Go(func() {
				if err := waitFor(t.Context(), p, id, id == "accepted", rental.StatusDestroyed); err != nil {
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

// A 404 of a list does not mean that the instances do not exist.
func TestPoller_ListNotFound(t *testing.T) {
	api := &fakeAPI{reads: map[string]int{"ins_1": 2, "ins_2": 2}, noList: true}
	poll(t, api, func(t *testing.T, p *poller) {
		if err := waitForAll(t.Context(), p, "ins_1", "ins_2"); err != nil {
			t.Error(err)
		}
	})
}

// The part of a list that was read does not show that an instance is destroyed.
func TestPoller_LargeAccount(t *testing.T) {
	api := &fakeAPI{reads: map[string]int{"accepted": 1, "other": 9}, endless: true}
	poll(t, api, func(t *testing.T, p *poller) {
		go func() { _ = waitForAll(t.Context(), p, "other") }() //nolint:errcheck // the second waiter
		if err := waitFor(t.Context(), p, "accepted", true, rental.StatusRunning); err != nil {
			t.Error(err)
		}
		if api.pages > 3 {
			t.Errorf("%d pages were read for two waits", api.pages)
		}
	})
}

// A wait ends with its context, and so does a listing that nobody waits for any more.
func TestPoller_WaitEndsWithItsContext(t *testing.T) {
	for name, ids := range map[string][]string{"one": {"a"}, "a listing": {"a", "b"}} {
		running := 0
		hangs := func(req *http.Request) (*http.Response, error) {
			running++
			<-req.Context().Done()
			running--
			return nil, req.Context().Err()
		}
		poll(t, transport(hangs), func(t *testing.T, p *poller) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			err := waitForAll(ctx, p, ids...)
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != 10*time.Second {
				t.Errorf("%s: ended after %s with %v", name, took, err)
			}
			if synctest.Wait(); running != 0 {
				t.Errorf("%s: %d requests are still in progress", name, running)
			}
		})
	}
}

// A slow request for an instance that is not listed delays no other one.
func TestPoller_SlowRequest(t *testing.T) {
	api := &fakeAPI{reads: map[string]int{"slow": 1, "a": 1, "b": 1}, unlisted: "slow"}
	slow := func(req *http.Request) (*http.Response, error) {
		if strings.HasSuffix(req.URL.Path, "/slow") {
			time.Sleep(20 * time.Second)
		}
		return api.RoundTrip(req)
	}
	poll(t, transport(slow), func(t *testing.T, p *poller) {
		began := time.Now()
		go func() { _ = waitForAll(t.Context(), p, "slow") }() //nolint:errcheck // it is only slow
		if err := waitForAll(t.Context(), p, "a", "b"); err != nil || time.Since(began) > 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// A listing that began before a wait does not show what was requested before it.
func TestPoller_ListingInFlight(t *testing.T) {
	api := &fakeAPI{reads: map[string]int{"a": 1, "b": 1, "c": 1}}
	slow := func(req *http.Request) (*http.Response, error) {
		time.Sleep(20 * time.Second)
		return api.RoundTrip(req)
	}
	poll(t, transport(slow), func(t *testing.T, p *poller) {
		go func() { _ = waitForAll(t.Context(), p, "a", "b") }() //nolint:errcheck // the first listing
		time.Sleep(10 * time.Second)
		if err := waitForAll(t.Context(), p, "c"); err != nil || api.pages != 2 {
			t.Errorf("%d listings, want 2: %v", api.pages, err)
		}
	})
}

// What was read before a wait is not returned from a cache afterwards.
func TestPoller_WaitInvalidatesTheCache(t *testing.T) {
	poll(t, &fakeAPI{reads: map[string]int{"a": 5}}, func(t *testing.T, p *poller) {
		cache := rental.NewCache(p.client)
		for _, want := range []rental.InstanceStatus{rental.StatusStarting, rental.StatusRunning} {
			listing, err := cache.Instances.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if inst, _ := listing.Find("a"); inst.Status != want {
				t.Errorf("the cache returns %s, want %s", inst.Status, want)
			}
			if err := waitForAll(t.Context(), p, "a"); err != nil {
				t.Fatal(err)
			}
		}
	})
}
