package tfkit

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// worldOf is a service that has things with versions, and takes its time.
type worldOf struct {
	mu     sync.Mutex
	things map[string]int // version by id
	writes uint64         // that have ended
	asked  []string
	random *rand.Rand
}

type versioned struct {
	id      string
	version int
}

func (w *worldOf) sleep() { w.sleepUntil(context.Background()) }

// sleepUntil ends early when the context does, as a request does. A listing that nobody waits for any more is cancelled:
// if it slept on, it would be left over when its synctest bubble ends.
func (w *worldOf) sleepUntil(ctx context.Context) {
	w.mu.Lock()
	d := time.Duration(w.random.Int64N(int64(time.Second)))
	w.mu.Unlock()
	sleep(ctx, d)
}

func (w *worldOf) source() Source[versioned] {
	return Source[versioned]{
		MaxAge: ListingMaxAge,
		ID:     func(v versioned) string { return v.id },
		All:    w.all,
		One:    w.one,
		Writes: func() uint64 { w.mu.Lock(); defer w.mu.Unlock(); return w.writes },
	}
}

func (w *worldOf) all(ctx context.Context, options rental.ListOptions) iter.Seq2[versioned, error] {
	return func(yield func(versioned, error) bool) {
		w.note("all")
		w.sleepUntil(ctx)
		w.mu.Lock()
		var page []versioned
		for id, version := range w.things {
			page = append(page, versioned{id, version})
		}
		w.mu.Unlock()
		w.sleepUntil(ctx)
		if ctx.Err() != nil {
			yield(versioned{}, ctx.Err())
			return
		}
		for i, v := range page {
			if options.MaxPages > 0 && i == options.MaxPages*rental.MaxPageSize {
				yield(versioned{}, errTooLong)
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

func (w *worldOf) one(ctx context.Context, id string) (versioned, error) {
	w.note(id)
	w.sleepUntil(ctx)
	w.mu.Lock()
	version, there := w.things[id]
	w.mu.Unlock()
	w.sleepUntil(ctx)
	if !there {
		return versioned{}, &rental.Error{Code: rental.CodeNotFound}
	}
	return versioned{id, version}, nil
}

func (w *worldOf) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, what)
}

// write changes one thing at some moment before it ends.
func (w *worldOf) write(id string, ended *sync.Map) {
	w.sleep()
	w.mu.Lock()
	w.things[id]++
	version := w.things[id]
	w.mu.Unlock()
	w.sleep()
	w.mu.Lock()
	w.writes++
	w.mu.Unlock()
	ended.Store(id, version)
}

func TestSnapshotNeverShowsTheWorldBeforeAnOwnWrite(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worldOf{things: map[string]int{}, random: rand.New(rand.NewPCG(seed, 1))}
				for i := range 20 {
					w.things[fmt.Sprint(i)] = 1
				}
				source := w.source()
				if seed%2 == 1 {
					source.One = nil
				}
				var s Snapshot[versioned]
				var ended sync.Map
				var all sync.WaitGroup
				for i := range 20 {
					id := fmt.Sprint(i)
					all.Go(func() {
						for range 10 {
							w.sleep()
							w.sleep()
							w.write(id, &ended)
						}
					})
					all.Go(func() {
						for range 60 {
							w.sleep()
							least, _ := ended.Load(id)
							ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.Int64N(int64(10*time.Second))))
							got, found, err := s.Find(ctx, source, id)
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

func TestSnapshotRequests(t *testing.T) {
	tests := []struct {
		name           string
		things, reads  int
		gone           int
		single         bool
		parallel, want int
	}{
		{"alone", 500, 1, 0, true, 1, 1},
		{"one after the other", 500, 200, 0, true, 1, 2},
		{"in parallel", 500, 200, 0, true, 10, 2},
		{"vanished", 500, 200, 7, true, 1, 9},
		{"thousands", 8000, 8000, 0, true, 1, 13},
		{"no single reads", 500, 200, 0, false, 10, 1},
		{"no single reads, vanished", 500, 200, 7, false, 10, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &worldOf{things: map[string]int{}, random: rand.New(rand.NewPCG(1, 1))}
				for i := range test.things {
					w.things[fmt.Sprint(i)] = 1
				}
				source := w.source()
				if !test.single {
					source.One = nil
				}
				for i := range test.gone {
					delete(w.things, fmt.Sprint(i+5))
				}
				var s Snapshot[versioned]
				var all sync.WaitGroup
				slots := make(chan struct{}, test.parallel)
				for i := range test.reads {
					slots <- struct{}{}
					all.Go(func() {
						defer func() { <-slots }()
						_, found, err := s.Find(t.Context(), source, fmt.Sprint(i))
						if vanished := i >= 5 && i < 5+test.gone; err != nil || found == vanished {
							t.Errorf("%d: found %t, %v", i, found, err)
						}
					})
				}
				all.Wait()
				if len(w.asked) != test.want {
					t.Errorf("%d requests, want %d: %v", len(w.asked), test.want, w.asked)
				}
			})
		})
	}
}

// A listing answers for a while, and not for longer.
func TestSnapshotAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worldOf{things: map[string]int{"a": 1, "b": 1}, random: rand.New(rand.NewPCG(1, 1))}
		source := w.source()
		source.One = nil
		var s Snapshot[versioned]
		for _, test := range []struct {
			pause time.Duration
			want  int // requests so far
		}{{0, 1}, {ListingMaxAge - time.Second, 1}, {2 * time.Second, 2}} {
			time.Sleep(test.pause)
			if _, found, err := s.Find(t.Context(), source, "a"); !found || err != nil || len(w.asked) != test.want {
				t.Errorf("%s later: found %t, %v, %d requests, want %d", test.pause, found, err, len(w.asked), test.want)
			}
		}
	})
}

// Where reads and writes take turns, each read is one request; a listing is for reads
// that follow one another.
func TestSnapshotReadsAloneAfterEachWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worldOf{things: map[string]int{"a": 1}, random: rand.New(rand.NewPCG(1, 1))}
		source := w.source()
		var s Snapshot[versioned]
		var ended sync.Map
		for range 3 {
			w.write("a", &ended)
			for range 2 {
				if _, found, err := s.Find(t.Context(), source, "a"); !found || err != nil {
					t.Errorf("found %t, %v", found, err)
				}
			}
		}
		if want := []string{"a", "all", "a", "all", "a", "all"}; !slices.Equal(w.asked, want) {
			t.Errorf("asked for %v, want %v", w.asked, want)
		}
	})
}

// A list has the service's order, and shares its request with all other reads.
func TestSnapshotLists(t *testing.T) {
	inOrder := []versioned{{"b", 1}, {"a", 1}, {"c", 1}}
	asked := 0
	source := Source[versioned]{
		MaxAge: ListingMaxAge,
		ID:     func(v versioned) string { return v.id },
		All: func(context.Context, rental.ListOptions) iter.Seq2[versioned, error] {
			asked++
			return func(yield func(versioned, error) bool) {
				for _, v := range append(inOrder, versioned{"a", 2}) { // told twice
					if !yield(v, nil) {
						return
					}
				}
			}
		},
		Writes: func() uint64 { return 0 },
	}
	var s Snapshot[versioned]
	got, err := s.List(t.Context(), source)
	if want := []versioned{{"b", 1}, {"a", 2}, {"c", 1}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	clear(got) // it is the caller's own
	if _, found, err := s.Find(t.Context(), source, "b"); !found || err != nil {
		t.Errorf("found %t, %v", found, err)
	}
	if all, err := s.All(t.Context(), source); err != nil || len(all) != 3 || all["a"].version != 2 {
		t.Errorf("%v, %v", all, err)
	}
	if asked != 1 {
		t.Errorf("%d requests", asked)
	}
}
