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
	random  *rand.Rand
}

func newFakeList(count int, seed uint64) *fakeList {
	f := &fakeList{objects: map[string]int{}, random: rand.New(rand.NewPCG(seed, 1))}
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
		ttl:    objectsTTL,
	}
	if single {
		c.get = f.get
	}
	return c
}

// pause ends early with the context, as a request does.
func (f *fakeList) pause(ctx context.Context) {
	f.mu.Lock()
	d := time.Duration(f.random.Int64N(int64(time.Second)))
	f.mu.Unlock()
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (f *fakeList) list(ctx context.Context, options ListOptions) iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		f.pause(ctx)
		f.mu.Lock()
		f.lists++
		var all []object
		for id, version := range f.objects {
			all = append(all, object{id, version})
		}
		skipped := f.skipped
		f.mu.Unlock()
		f.pause(ctx)
		options.reportSkipped(nil, skipped)
		for i, o := range all {
			if ctx.Err() != nil {
				yield(object{}, ctx.Err())
				return
			}
			if options.MaxPages > 0 && i == options.MaxPages*MaxPageSize {
				yield(object{}, tooLong(options.MaxPages, "pages"))
				return
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (f *fakeList) get(ctx context.Context, id string) (object, error) {
	f.pause(ctx)
	f.mu.Lock()
	f.gets++
	version, found := f.objects[id]
	f.mu.Unlock()
	f.pause(ctx)
	if !found {
		return object{}, &Error{Code: CodeNotFound}
	}
	return object{id, version}, ctx.Err()
}

// write changes an object at some moment before it ends.
func (f *fakeList) write(id string, ended *sync.Map) {
	f.pause(context.Background())
	f.mu.Lock()
	f.objects[id]++
	version := f.objects[id]
	f.mu.Unlock()
	f.pause(context.Background())
	f.mu.Lock()
	f.writes++
	f.mu.Unlock()
	ended.Store(id, version)
}

func TestCollection_NeverReturnsTheStateBeforeAnOwnWrite(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeList(20, seed)
				c := f.collection(seed%2 == 0)
				var ended sync.Map
				var all sync.WaitGroup
				for i := range 20 {
					id := fmt.Sprint(i)
					all.Go(func() {
						for range 10 {
							f.pause(context.Background())
							f.write(id, &ended)
						}
					})
					all.Go(func() {
						for range 60 {
							f.pause(context.Background())
							least, _ := ended.Load(id)
							ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.Int64N(int64(10*time.Second))))
							got, found, err := c.Find(ctx, id)
							cancel()
							if err == nil && (!found || least != nil && got.version < least.(int)) {
								t.Errorf("%s: found %t version %d, and a write of version %v had ended", id, found, got.version, least)
							}
						}
					})
				}
				all.Wait()
			})
		})
	}
}

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
				f := newFakeList(test.objects, 1)
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

// A listing that is newer than the read shows that an object does not exist. An older one does not.
func TestCollection_FindReadsAFreshList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeList(3, 1)
		c := f.collection(false)
		for n, id := range []string{"1", "none", "none"} {
			_, found, err := c.Find(t.Context(), id)
			if want := n + 1; found != (id == "1") || err != nil || f.lists != want {
				t.Errorf("%s: found %t, %v, %d lists, want %d", id, found, err, f.lists, want)
			}
		}
	})
}

// Hundreds of objects that the listing lacks are read with one listing of all objects.
func TestCollection_ManyUnlistedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		active, all := newFakeList(3, 1), newFakeList(200, 1)
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
		c := newFakeList(3, 1).collection(false)
		c.lag = time.Minute
		c.Created(object{"new", 7})
		c.Created(object{"deleted", 7})
		c.Deleted("deleted")
		if got, found, err := c.Find(t.Context(), "new"); !found || got.version != 7 || err != nil {
			t.Errorf("found %t %+v, %v", found, got, err)
		}
		if _, found, err := c.Find(t.Context(), "deleted"); found || err != nil {
			t.Errorf("after its deletion: found %t, %v", found, err)
		}
		time.Sleep(c.lag)
		if _, found, err := c.Find(t.Context(), "new"); found || err != nil {
			t.Errorf("after the lag: found %t, %v", found, err)
		}
	})
}

// An entry that cannot be read is an error for its own object only, unless it has no id.
func TestCollection_UnreadableEntries(t *testing.T) {
	for name, test := range map[string]struct {
		skipped Skipped
		failed  []string
	}{
		"with an id":    {Skipped{ID: "bad", Err: errors.New("strange")}, []string{"bad"}},
		"without an id": {Skipped{Err: errors.New("strange")}, []string{"bad", "none"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeList(3, 1)
				f.skipped = []Skipped{test.skipped}
				c := f.collection(false)
				for _, id := range []string{"1", "bad", "none"} {
					_, found, err := c.Find(t.Context(), id)
					if found != (id == "1") || (err != nil) != slices.Contains(test.failed, id) {
						t.Errorf("%s: found %t, %v", id, found, err)
					}
				}
				if listing, err := c.List(t.Context()); err != nil || len(listing.Items) != 3 || len(listing.Skipped) != 1 {
					t.Errorf("%+v, %v", listing, err)
				}
			})
		})
	}
}

// A list that is longer than the client reads is an error with the first objects, and single objects are still found.
func TestCollection_LargeAccount(t *testing.T) {
	const bound = maxLookupPages * MaxPageSize
	synctest.Test(t, func(t *testing.T) {
		f := newFakeList(bound+1000, 1)
		c := f.collection(true)
		list := c.list
		c.list = func(ctx context.Context, options ListOptions) iter.Seq2[object, error] {
			if options.MaxPages == 0 {
				options.MaxPages = maxLookupPages + 2 // represents the client's own limit
			}
			return list(ctx, options)
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
		loads := 0
		load := func(ctx context.Context) (int, error) {
			time.Sleep(time.Second)
			loads++
			return loads, ctx.Err()
		}
		get := func(maxAge time.Duration, writes uint64, want int) {
			t.Helper()
			if got, err := c.Get(t.Context(), maxAge, writes, load); got != want || err != nil {
				t.Errorf("got %d, %v, want the result of load %d", got, err, want)
			}
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { get(0, 0, 1) }) // concurrent calls share a load, also without a cache
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
	})
}

// An error is cached, the end of a caller's own context is not.
func TestCached_Errors(t *testing.T) {
	var c Cached[int]
	failure, loads := errors.New("no scope"), 0
	fail := func(context.Context) (int, error) { loads++; return 0, failure }
	for range 2 {
		if _, err := c.Get(t.Context(), time.Minute, 0, fail); !errors.Is(err, failure) || loads != 1 {
			t.Errorf("%v after %d loads", err, loads)
		}
	}
	var interrupted Cached[int]
	ctx, cancel := context.WithCancel(t.Context())
	_, err := interrupted.Get(
		ctx,
		time.Minute,
		0,
		func(ctx context.Context) (int, error) { cancel(); return 0, ctx.Err() },
	)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got, err := interrupted.Get(
		t.Context(),
		time.Minute,
		0,
		func(context.Context) (int, error) { return 1, nil },
	); got != 1 ||
		err != nil {
		t.Errorf("%d, %v: an interruption was cached", got, err)
	}
}
