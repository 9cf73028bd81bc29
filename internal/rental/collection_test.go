package rental

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// object is an object with a version.
type object struct {
	id      string
	version int
}

// fakeList is a list of objects whose requests take a random time.
type fakeList struct {
	mu      sync.Mutex
	objects map[string]int // version by id
	skipped []Skipped
	writes  uint64 // that have ended
	lists   int
	gets    int
}

func newFakeList(count int) *fakeList {
	f := &fakeList{objects: map[string]int{}}
	for i := range count {
		f.objects[fmt.Sprint(i)] = 1
	}
	return f
}

// collection returns a collection of the objects; single is whether they can be requested by id.
func (f *fakeList) collection(single bool) *Collection[object] {
	c := &Collection[object]{
		id: func(o object) string { return o.id }, list: f.list,
		writes: func() uint64 { f.mu.Lock(); defer f.mu.Unlock(); return f.writes },
		ttl:    cacheTTL,
	}
	if single {
		c.get = f.get
	}
	return c
}

// pause ends early with the context, as a request does.
func pause(ctx context.Context) {
	select {
	case <-time.After(rand.N(time.Second)):
	case <-ctx.Done():
	}
}

func (f *fakeList) list(ctx context.Context, options ListOptions) iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		pause(ctx)
		f.mu.Lock()
		f.lists++
		var all []object
		for id, version := range f.objects {
			all = append(all, object{id, version})
		}
		f.mu.Unlock()
		pause(ctx)
		if options.Skipped != nil {
			*options.Skipped = f.skipped
		}
		for i, o := range all {
			if ctx.Err() != nil {
				yield(object{}, ctx.Err())
				return
			}
			if options.MaxPages > 0 && i == options.MaxPages*MaxPageSize {
				yield(object{}, errTooLong)
				return
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (f *fakeList) get(ctx context.Context, id string) (object, error) {
	pause(ctx)
	f.mu.Lock()
	f.gets++
	version, found := f.objects[id]
	f.mu.Unlock()
	pause(ctx)
	if !found {
		return object{}, &Error{Code: CodeNotFound}
	}
	return object{id, version}, ctx.Err()
}

// write changes an object at some moment before it ends, and returns the new version.
func (f *fakeList) write(ctx context.Context, id string) int {
	pause(ctx)
	f.mu.Lock()
	f.objects[id]++
	version := f.objects[id]
	f.mu.Unlock()
	pause(ctx)
	f.mu.Lock()
	f.writes++
	f.mu.Unlock()
	return version
}

func TestCollection_NeverReturnsTheStateBeforeAnOwnWrite(t *testing.T) {
	for run := range 30 {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeList(20)
			c := f.collection(run%2 == 0)
			var written sync.Map // version by id
			var all sync.WaitGroup
			for i := range 20 {
				id := fmt.Sprint(i)
				all.Go(func() {
					for range 10 {
						pause(t.Context())
						written.Store(id, f.write(t.Context(), id))
					}
				})
				all.Go(func() {
					for range 60 {
						pause(t.Context())
						least, _ := written.Load(id)
						ctx, cancel := context.WithTimeout(t.Context(), rand.N(10*time.Second))
						got, found, err := c.Find(ctx, id)
						cancel()
						if err == nil && (!found || least != nil && got.version < least.(int)) {
							t.Errorf("%s: found %t version %d, and a write of version %v had ended", id, found, got.version, least)
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
		objects, reads, deleted int
		single                  bool
		parallel, lists, gets   int
	}{
		"one read":                   {500, 1, 0, true, 1, 0, 1},
		"one after the other":        {500, 200, 0, true, 1, 1, 1},
		"in parallel":                {500, 200, 0, true, 10, 1, 1},
		"deleted objects":            {500, 200, 7, true, 1, 1, 8},
		"more than the pages":        {maxLookupPages*MaxPageSize + 5, 30, 0, true, 10, 1, -1},
		"list only":                  {500, 200, 0, false, 10, 1, 0},
		"list only, deleted objects": {500, 200, 7, false, 1, 8, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeList(test.objects)
				c := f.collection(test.single)
				for i := range test.deleted {
					delete(f.objects, fmt.Sprint(i+5))
				}
				c.ttl = time.Hour
				var all sync.WaitGroup
				slots := make(chan struct{}, test.parallel)
				for i := range test.reads {
					slots <- struct{}{}
					all.Go(func() {
						defer func() { <-slots }()
						_, found, err := c.Find(t.Context(), fmt.Sprint(i))
						if deleted := i >= 5 && i < 5+test.deleted; err != nil || found == deleted {
							t.Errorf("%d: found %t, %v", i, found, err)
						}
					})
				}
				all.Wait()
				if f.lists != test.lists || test.gets >= 0 && f.gets != test.gets {
					t.Errorf("%d lists and %d single requests, want %d and %d", f.lists, f.gets, test.lists, test.gets)
				}
			})
		})
	}
}

// Hundreds of objects that the listing lacks are read with one listing of all objects.
func TestCollection_ManyUnlistedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		active, all := newFakeList(3), newFakeList(200)
		c := active.collection(true)
		c.all = all.collection(false)
		for i := range 200 {
			_, found, err := c.Find(t.Context(), fmt.Sprint(i))
			if want := i < 3 || i >= 3+singleReads; found != want || err != nil {
				t.Errorf("%d: found %t, %v", i, found, err)
			}
		}
		if active.gets > singleReads+1 || active.lists+all.lists > 4 {
			t.Errorf("%d single requests, %d and %d lists", active.gets, active.lists, all.lists)
		}
	})
}

// An object that this process has created exists although lists lack it, until they may no longer lag, or until it is
// deleted.
func TestCollection_Created(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeList(3).collection(false)
		c.lag = time.Minute
		find := func(id string, want bool) {
			t.Helper()
			if _, found, err := c.Find(t.Context(), id); found != want || err != nil {
				t.Errorf("%s: found %t, %v", id, found, err)
			}
		}
		c.Created(object{"new", 7})
		c.Created(object{"deleted", 7})
		c.Deleted("deleted")
		find("new", true)
		find("deleted", false)
		time.Sleep(c.lag)
		find("new", false)
	})
}

// An entry that cannot be read is an error for its own object only, unless it has no id.
func TestCollection_UnreadableEntries(t *testing.T) {
	for id, failed := range map[string][]string{"bad": {"bad"}, "": {"bad", "none"}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeList(3)
			f.skipped = []Skipped{{ID: id, Err: errors.New("strange")}}
			c := f.collection(false)
			for _, id := range []string{"1", "bad", "none"} {
				_, found, err := c.Find(t.Context(), id)
				if found != (id == "1") || (err != nil) != slices.Contains(failed, id) {
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
	c := newFakeList(0).collection(false)
	c.list = func(context.Context, ListOptions) iter.Seq2[object, error] {
		return func(yield func(object, error) bool) {
			_ = yield(object{"a", 1}, nil) && yield(object{"b", 1}, nil) && yield(object{"a", 2}, nil)
		}
	}
	listing, err := c.List(t.Context())
	if want := []object{{"a", 2}, {"b", 1}}; err != nil || !slices.Equal(listing.Items, want) {
		t.Errorf("listed %v, %v; want %v", listing, err, want)
	}
}

// A list that is longer than the client reads is an error with the first objects, and single objects are still found.
func TestCollection_LargeAccount(t *testing.T) {
	const bound = maxLookupPages * MaxPageSize
	synctest.Test(t, func(t *testing.T) {
		f := newFakeList(bound + 1000)
		c := f.collection(true)
		c.list = func(ctx context.Context, options ListOptions) iter.Seq2[object, error] {
			if options.MaxPages == 0 {
				options.MaxPages = maxLookupPages + 2 // represents the client's own limit
			}
			return f.list(ctx, options)
		}
		for i := range 3 {
			if _, found, err := c.Find(t.Context(), fmt.Sprint(i)); !found || err != nil {
				t.Errorf("found %t, %v", found, err)
			}
		}
		listing, err := c.List(t.Context())
		if !IsListTooLong(err) || len(listing.Items) != bound+2*MaxPageSize {
			t.Errorf("%d objects, %v", len(listing.Items), err)
		}
		if again, err := c.List(t.Context()); !IsListTooLong(err) || again != listing || f.lists != 2 {
			t.Errorf("the list was read %d times, want 2: %v", f.lists, err)
		}
	})
}

func TestCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Cached[int]
		var failure error
		loads := 0
		load := func(ctx context.Context) (int, error) {
			loads++
			loaded := loads
			select {
			case <-time.After(time.Second):
				return loaded, failure
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		get := func(maxAge time.Duration, writes uint64, want int) {
			t.Helper()
			if got, err := c.Get(t.Context(), maxAge, writes, load); got != want || !errors.Is(err, failure) {
				t.Errorf("got %d, %v, want the result of load %d", got, err, want)
			}
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { get(0, 0, 1) }) // concurrent calls share a load, even without a cache
		}
		all.Wait()
		get(time.Minute, 0, 1)
		get(0, 0, 2)
		get(time.Minute, 1, 3)
		time.Sleep(2 * time.Minute)
		get(time.Minute, 1, 4)
		if got, ok := c.Last(time.Minute, 1); got != 4 || !ok {
			t.Errorf("the last result is %d, %t", got, ok)
		}
		if _, ok := c.Last(time.Minute, 2); ok {
			t.Error("a result from before a write is returned")
		}
		// A call after a write does not use the result of a load that began before.
		all.Go(func() { get(0, 1, 5) })
		time.Sleep(time.Second / 2)
		get(0, 2, 6)
		all.Wait()
		failure = errors.New("no scope") // an error is cached
		get(0, 0, 7)
		get(time.Minute, 0, 7)
	})
}

// The end of the context of one caller ends its own wait only, and is not cached.
func TestCached_Interrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Cached[int]
		load := func(ctx context.Context) (int, error) {
			select {
			case <-time.After(time.Minute):
				return 1, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		var all sync.WaitGroup
		call := func(timeout, took time.Duration) {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				start := time.Now()
				_, err := c.Get(ctx, time.Hour, 0, load)
				if ended := errors.Is(err, context.DeadlineExceeded); ended != (took == timeout) || time.Since(start) != took {
					t.Errorf("a call with a timeout of %s: %v after %s", timeout, err, time.Since(start))
				}
			})
			synctest.Wait()
		}
		call(10*time.Second, 10*time.Second) // its load ends with it
		call(5*time.Second, 5*time.Second)
		call(time.Hour, 70*time.Second)
		all.Wait()
	})
}
