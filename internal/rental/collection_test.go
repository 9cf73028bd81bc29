package rental

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
)

// account is a script with instances, whose requests take a random time. Their disk size is their version.
type account struct {
	extra string // an entry of listings; may be empty

	mu          sync.Mutex
	versions    map[string]int64 // by id
	destroyed   map[string]bool  // not in listings of active instances
	lists, gets int
}

func newAccount(instances int) *account {
	a := &account{versions: map[string]int64{}, destroyed: map[string]bool{}}
	for i := range instances {
		a.versions[strconv.Itoa(i)] = 1
	}
	return a
}

// cache returns a cache of a client of the account.
func (a *account) cache(t *testing.T) *Cache {
	return NewCache(newTestClient(t, &script{answer: a.answer}))
}

func (a *account) answer(req *http.Request, _ int) reply {
	if err := backoff.Sleep(req.Context(), rand.N(time.Second)); err != nil {
		return reply{err: err}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	path := strings.Split(strings.TrimPrefix(req.URL.Path, "/api/v1/instances"), "/")
	answer := failed(CodeNotFound)
	switch {
	case len(path) == 1:
		answer = a.list(req.URL.Query().Get("status"))
	case req.Method == http.MethodPost:
		a.versions[path[1]]++
		answer = ok(a.entry(path[1]))
	default:
		if a.gets++; a.versions[path[1]] > 0 {
			answer = ok(a.entry(path[1]))
		}
	}
	return late(answer, rand.N(time.Second))
}

func (a *account) entry(id string) string {
	return fmt.Sprintf(`{"id":%q,"disk_gb":%d}`, id, a.versions[id])
}

func (a *account) list(status string) reply {
	a.lists++
	var entries []string
	for id := range a.versions {
		if !a.destroyed[id] || status == ListAll {
			entries = append(entries, a.entry(id))
		}
	}
	if a.extra != "" {
		entries = append(entries, a.extra)
	}
	return ok(onePage(strings.Join(entries, ",")))
}

func TestCollection_NeverReturnsTheStateBeforeAnOwnWrite(t *testing.T) {
	for run := range 10 {
		synctest.Test(t, func(t *testing.T) {
			const instances = 20
			c := newAccount(instances).cache(t)
			if run%2 == 0 {
				c.Instances.get = nil // as for objects that can only be listed
			}
			var written sync.Map // version by id
			var all sync.WaitGroup
			for i := range instances {
				id := strconv.Itoa(i)
				all.Go(func() {
					for range 10 {
						time.Sleep(rand.N(time.Second))
						inst, err := c.client.StartInstance(t.Context(), id)
						if written.Store(id, inst.DiskGB); err != nil {
							t.Error(err)
						}
					}
				})
				all.Go(func() {
					for range 60 {
						time.Sleep(rand.N(time.Second))
						least, _ := written.Load(id)
						ctx, cancel := context.WithTimeout(t.Context(), rand.N(10*time.Second))
						got, found, err := c.Instances.Find(ctx, id)
						cancel()
						if err == nil && (!found || least != nil && got.DiskGB < least.(int64)) {
							t.Errorf("%s: found %t version %d, and a write of version %v had ended", id, found, got.DiskGB, least)
						}
						if err != nil && !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// Many reads need few requests. Only a listing that is newer than the read shows that an object does not exist.
func TestCollection_Requests(t *testing.T) {
	for name, test := range map[string]struct {
		reads, deleted, destroyed int
		single                    bool
		parallel, lists, gets     int
	}{
		"one read":                   {1, 0, 0, true, 1, 0, 1},
		"one after the other":        {200, 0, 0, true, 1, 1, 1},
		"in parallel":                {200, 0, 0, true, 10, 1, 1},
		"deleted objects":            {200, 7, 0, true, 1, 2, 8}, // one of all instances
		"many destroyed objects":     {200, 0, 190, true, 1, 2, 1 + singleReads},
		"list only":                  {200, 0, 0, false, 10, 1, 0},
		"list only, deleted objects": {200, 7, 0, false, 1, 8, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newAccount(500)
			c := a.cache(t).Instances
			if c.ttl = time.Hour; !test.single {
				c.get = nil
			}
			for i := range test.deleted {
				delete(a.versions, strconv.Itoa(i+5))
			}
			for i := range test.destroyed {
				a.destroyed[strconv.Itoa(i+5)] = true
			}
			var all sync.WaitGroup
			slots := make(chan struct{}, test.parallel)
			for i := range test.reads {
				slots <- struct{}{}
				all.Go(func() {
					defer func() { <-slots }()
					_, found, err := c.Find(t.Context(), strconv.Itoa(i))
					if deleted := i >= 5 && i < 5+test.deleted; err != nil || found == deleted {
						t.Errorf("%s, %d: found %t, %v", name, i, found, err)
					}
				})
			}
			all.Wait()
			if a.lists != test.lists || a.gets != test.gets {
				t.Errorf("%s: %d lists and %d single requests, want %d and %d", name, a.lists, a.gets, test.lists, test.gets)
			}
		})
	}
}

// An object that this process has created exists although lists lack it, until they may no longer lag, or until it is
// deleted. The clock can be so coarse that it does not advance during a request.
func TestCollection_Created(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := scriptedClient(t, ok(onePage("")))
		c := NewCache(client).SSHKeys
		find := func(id string, want bool) {
			t.Helper()
			if _, found, err := c.Find(t.Context(), id); found != want || err != nil {
				t.Errorf("%s: found %t, %v", id, found, err)
			}
		}
		c.Created(SSHKey{ID: "new"})
		c.Created(SSHKey{ID: "deleted"})
		c.Deleted("deleted")
		find("new", true)
		find("deleted", false)
		time.Sleep(c.Lag())
		find("new", false)
	})
}

// An entry that cannot be read is an error for its own object only, unless it has no id.
func TestCollection_UnreadableEntries(t *testing.T) {
	for entry, unreadable := range map[string][]string{`{"id":"bad","gpu":5}`: {"bad"}, `{"gpu":5}`: {"bad", "none"}} {
		synctest.Test(t, func(t *testing.T) {
			a := newAccount(3)
			a.extra = entry
			c := a.cache(t).Instances
			c.get = nil
			for _, id := range []string{"1", "bad", "none"} {
				_, found, err := c.Find(t.Context(), id)
				if found != (id == "1") || (err != nil) != slices.Contains(unreadable, id) {
					t.Errorf("%s: found %t, %v", id, found, err)
				}
			}
			if listing, err := c.List(t.Context()); err != nil || len(listing.Items) != 3 || len(listing.Skipped) != 1 {
				t.Errorf("%+v, %v", listing, err)
			}
		})
	}
}

// A list can contain an object twice, because pages change while they are read.
func TestCollection_ObjectListedTwice(t *testing.T) {
	client, _ := scriptedClient(t, ok(onePage(`{"id":"a"},{"id":"b"},{"id":"a","name":"later"}`)))
	listing, err := NewCache(client).SSHKeys.List(t.Context())
	if want := []SSHKey{{ID: "a", Name: "later"}, {ID: "b"}}; err != nil || !slices.Equal(listing.Items, want) {
		t.Errorf("listed %v, %v; want %v", listing, err, want)
	}
}

// A list that is longer than the client reads is an error with the first objects, and single objects are still found.
func TestCollection_LargeAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lists, gets int
		s := &script{answer: func(req *http.Request, n int) reply {
			if id, single := strings.CutPrefix(req.URL.Path, "/api/v1/instances/"); single {
				gets++
				return ok(`{"id":"` + id + `"}`)
			}
			if !req.URL.Query().Has("cursor") {
				lists++
			}
			return pageOf(strconv.Itoa(n), fmt.Sprint("listed ", n))
		}}
		c := NewCache(newTestClient(t, s)).Instances
		for i := range singleReads {
			if _, found, err := c.Find(t.Context(), fmt.Sprint("other ", i)); !found || err != nil {
				t.Errorf("found %t, %v", found, err)
			}
		}
		if pages := s.attempts() - gets; gets != singleReads || lists != 1 || pages != maxLookupPages {
			t.Errorf("%d single requests, and %d pages of %d lists", gets, pages, lists)
		}
		listing, err := c.List(t.Context())
		if !IsListTooLong(err) || len(listing.Items) != maxPages {
			t.Errorf("%d objects, %v", len(listing.Items), err)
		}
		if again, err := c.List(t.Context()); !IsListTooLong(err) || again != listing || lists != 2 {
			t.Errorf("the list was read %d times, want 2: %v", lists, err)
		}
	})
}

// Many resources can name an offer that is gone: its absence is read once.
func TestCache_MissingOffer(t *testing.T) {
	client, s := scriptedClient(t, failed(CodeNotFound), ok(onePage("")))
	cache := NewCache(client)
	for range 100 {
		if _, found, err := cache.Offer(t.Context(), "off_gone", OnDemand); found || err != nil {
			t.Fatal(found, err)
		}
	}
	if s.attempts() != 1 {
		t.Errorf("%d requests for the offer, want 1", s.attempts())
	}
}

// The end of the context of one caller ends its own wait only, and is not cached. A result and an error are used by
// later calls until they are too old.
func TestCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Cached[int]
		var failure error
		loads := 0
		load := func(ctx context.Context) (int, error) {
			loads++
			return loads, cmp.Or(backoff.Sleep(ctx, time.Minute), failure)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Get(short, time.Hour, 0, load); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		var all sync.WaitGroup
		for _, timeout := range []time.Duration{10 * time.Second, 5 * time.Second, time.Hour} {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				start := time.Now()
				_, err := c.Get(ctx, time.Hour, 0, load)
				if took, ended := time.Since(start), errors.Is(err, context.DeadlineExceeded); ended != (timeout < time.Hour) ||
					took != min(timeout, 70*time.Second) { // the load of the first call ends with it
					t.Errorf("a call with a timeout of %s: %v after %s", timeout, err, took)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		if got, ok := c.Last(time.Hour, 0); got != 3 || !ok {
			t.Errorf("the last result is %d, %t", got, ok)
		}
		if _, ok := c.Last(time.Hour, 1); ok {
			t.Error("a result from before a write is returned")
		}
		time.Sleep(time.Hour)
		failure = errors.New("no scope")
		for range 2 {
			if got, err := c.Get(t.Context(), time.Hour, 0, load); got != 4 || !errors.Is(err, failure) {
				t.Errorf("got %d, %v, want the result of load 4", got, err)
			}
		}
	})
}
