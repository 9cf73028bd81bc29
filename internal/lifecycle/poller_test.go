package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

const (
	gets  = "GET /instances/*"
	pages = "GET /instances"
)

// share is how long a response takes, so that waiters of the same moment share a listing.
const share = time.Millisecond

// after delays a response.
func after(d time.Duration, respond rentaltest.Response) rentaltest.Response {
	return func(req *http.Request) (*http.Response, error) {
		time.Sleep(d)
		return respond(req)
	}
}

// accountOf returns an account with instances, each of which runs after a number of reads. A negative number is a
// destroyed instance, which lists lack.
func accountOf(reads map[string]int) *rentaltest.Transport {
	var lock sync.Mutex
	view := func(id string) rental.Instance {
		status := rental.StatusRunning
		if left := reads[id]; left < 0 {
			status = rental.StatusDestroyed
		} else if reads[id] = max(1, left-1); left > 1 {
			status = rental.StatusStarting
		}
		return rental.Instance{ID: id, Status: status, Type: rental.OnDemand}
	}
	respond := after(share, func(req *http.Request) (*http.Response, error) {
		lock.Lock()
		defer lock.Unlock()
		if id := path.Base(req.URL.Path); id != "instances" {
			return rentaltest.JSONResponse(req, http.StatusOK, view(id))
		}
		var list []any
		for id, left := range reads {
			if left >= 0 {
				list = append(list, view(id))
			}
		}
		return rentaltest.JSONResponse(req, http.StatusOK, rentaltest.Page(list...))
	})
	api := new(rentaltest.Transport)
	api.Script(gets, respond)
	api.Script(pages, respond)
	return api
}

// endless is a list of which no page is the last one, and none has the instances.
func endless(req *http.Request) (*http.Response, error) {
	time.Sleep(share)
	page := map[string]any{"data": []any{}, "next_cursor": "1" + req.URL.Query().Get("cursor")}
	return rentaltest.JSONResponse(req, http.StatusOK, page)
}

// wantRequests fails unless this many instances and pages were read.
func wantRequests(t *testing.T, api *rentaltest.Transport, instances, listed int) {
	t.Helper()
	if got, list := len(api.Sent(gets)), len(api.Sent(pages)); got != instances || list != listed {
		t.Errorf("%d single requests and %d pages, want %d and %d", got, list, instances, listed)
	}
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

// One waiter reads its instance. Many share listings, unless a listing takes more requests than there are waiters. A
// 404 of a listing does not mean that the instances do not exist.
func TestPoller_Requests(t *testing.T) {
	many := map[string]int{}
	for n := range 60 {
		many[fmt.Sprint(n)] = 5
	}
	large := accountOf(map[string]int{"a": 5, "b": 5, "c": 5})
	large.Script(pages, endless)
	noList := accountOf(map[string]int{"a": 2, "b": 2})
	noList.Script(pages, after(share, rentaltest.Fail(http.StatusNotFound)))
	for name, test := range map[string]struct {
		api         *rentaltest.Transport
		ids         []string
		gets, pages int
	}{
		"one":                {accountOf(map[string]int{"a": 3}), []string{"a"}, 3, 0},
		"many":               {accountOf(many), slices.Collect(maps.Keys(many)), 0, 5},
		"in a large account": {large, []string{"a", "b", "c"}, 15, 3},
		"a 404 of the list":  {noList, []string{"a", "b"}, 4, 2},
	} {
		poll(t, test.api, func(t *testing.T, p *poller) {
			if err := waitForAll(t.Context(), p, test.ids...); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			wantRequests(t, test.api, test.gets, test.pages)
		})
	}
}

// An instance that a listing lacks is destroyed only if its destruction was accepted. Otherwise it is read by its id.
func TestPoller_ListingLacksAnInstance(t *testing.T) {
	api := accountOf(map[string]int{"accepted": -1, "other": -1})
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
	wantRequests(t, api, 1, 1)
}

// The part of a list that was read does not show that an instance is destroyed.
func TestPoller_LargeAccount(t *testing.T) {
	api := accountOf(map[string]int{"accepted": 1, "other": 9})
	api.Script(pages, endless)
	poll(t, api, func(t *testing.T, p *poller) {
		go func() { _ = waitForAll(t.Context(), p, "other") }() //nolint:errcheck // the second waiter
		if err := waitFor(t.Context(), p, "accepted", true, rental.StatusRunning); err != nil {
			t.Error(err)
		}
		if n := len(api.Sent(pages)); n > 3 {
			t.Errorf("%d pages were read for two waits", n)
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
		poll(t, rentaltest.Response(hangs), func(t *testing.T, p *poller) {
			ctx := within(t, 10*time.Second)
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
	api := accountOf(map[string]int{"a": 1, "b": 1})
	inst := rental.Instance{ID: "slow", Status: rental.StatusRunning}
	api.Script("GET /instances/slow", after(9*time.Second, rentaltest.Respond(http.StatusOK, inst)))
	poll(t, api, func(t *testing.T, p *poller) {
		began := time.Now()
		go func() { _ = waitForAll(t.Context(), p, "slow") }() //nolint:errcheck // it is only slow
		if err := waitForAll(t.Context(), p, "a", "b"); err != nil || time.Since(began) > 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// A listing that began before a wait does not show what was requested before it.
func TestPoller_ListingInFlight(t *testing.T) {
	api := accountOf(map[string]int{"a": 1, "b": 1, "c": 1})
	poll(t, after(9*time.Second, api.RoundTrip), func(t *testing.T, p *poller) {
		go func() { _ = waitForAll(t.Context(), p, "a", "b") }() //nolint:errcheck // the first listing
		time.Sleep(5 * time.Second)
		if err := waitForAll(t.Context(), p, "c"); err != nil {
			t.Error(err)
		}
		wantRequests(t, api, 0, 2)
	})
}

// What was read before a wait is not returned from a cache afterwards.
func TestPoller_WaitInvalidatesTheCache(t *testing.T) {
	poll(t, accountOf(map[string]int{"a": 5}), func(t *testing.T, p *poller) {
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
