package tfkit

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// ListingMaxAge is for how long a listing answers the reads of one run.
	ListingMaxAge = 30 * time.Second
	// firstReach is how many things a listing reads at first where single ones can
	// be asked for: a state of a few must not pay for an account of thousands.
	firstReach = 2000
)

// Source is where things of one kind come from.
type Source[T any] struct {
	// ID is the identity of one.
	ID func(T) string
	// All lists them.
	All func(context.Context) iter.Seq2[T, error]
	// One asks for a single one. Nil where the service has no such request.
	One func(context.Context, string) (T, error)
	// Writes counts the writes of this process that have ended and may have
	// changed any of them.
	Writes func() uint64
	// MaxAge is for how long a listing answers reads.
	MaxAge time.Duration
}

// Listed is a source of things that the service has under a path and only lists.
func Listed[T any](m *Meta, under string, id func(T) string, list func(context.Context, rental.ListOptions) iter.Seq2[T, error]) Source[T] {
	return Source[T]{
		ID:     id,
		All:    func(ctx context.Context) iter.Seq2[T, error] { return list(ctx, rental.ListOptions{}) },
		Writes: func() uint64 { return m.Client.Writes(under) },
		MaxAge: m.MaxAge(ListingMaxAge),
	}
}

// Snapshot answers reads of single things of one kind with few requests. A CLI
// reads them one by one, hundreds in a second. The first read asks for the one
// thing, the next ones share a listing, which answers as long as it is fresh and
// nothing was written: a read that begins after a write of this process has ended
// never sees the world before it. What a listing lacks is looked for once more.
// Its zero value is ready.
type Snapshot[T any] struct {
	mu     sync.Mutex
	alone  solo        // the last read that asked for a single thing
	last   *listing[T] // that answers, or is under way
	before *listing[T] // the one before it
	reach  int         // how many things a listing reads; 0 for firstReach
	missed int         // what was beyond it
}

// solo is a read of a single thing.
type solo struct {
	at     time.Time
	writes uint64 // that had ended when it began
}

// listing is one look at all things of a kind.
type listing[T any] struct {
	writes  uint64 // that had ended when it began
	done    chan struct{}
	cancel  context.CancelFunc
	readers int // that wait for it

	// What it came to; not to be looked at before done.
	ended time.Time
	items map[string]T
	order []string // their ids, as the service lists them
	whole bool     // there are no others
	err   error
}

// Find returns the thing with an id. It is not found only when the service, asked
// twice, does not have it.
func (s *Snapshot[T]) Find(ctx context.Context, source Source[T], id string) (item T, found bool, err error) {
	if reading == readEach {
		return findAlone(ctx, source, id)
	}
	for lacking := 0; ; {
		look := s.join(ctx, source)
		if look == nil {
			return one(ctx, source, id)
		}
		if err := s.wait(ctx, look); err != nil {
			return item, false, err
		}
		if item, found = look.items[id]; found {
			return item, true, nil
		}
		if source.One != nil {
			s.miss(look)
			return one(ctx, source, id)
		}
		if lacking++; s.lackedBefore(look, id) || lacking == 2 {
			return item, false, nil
		}
	}
}

// All returns all things by their ids.
func (s *Snapshot[T]) All(ctx context.Context, source Source[T]) (map[string]T, error) {
	look, err := s.whole(ctx, source)
	if err != nil {
		return nil, err
	}
	return look.items, nil
}

// List returns all things in the service's order. The list is the caller's own.
func (s *Snapshot[T]) List(ctx context.Context, source Source[T]) ([]T, error) {
	look, err := s.whole(ctx, source)
	if err != nil {
		return nil, err
	}
	things := make([]T, len(look.order))
	for i, id := range look.order {
		things[i] = look.items[id]
	}
	return things, nil
}

// whole is a listing of all of them, however many.
func (s *Snapshot[T]) whole(ctx context.Context, source Source[T]) (*listing[T], error) {
	source.One = nil
	for {
		look := s.join(ctx, source)
		if err := s.wait(ctx, look); err != nil {
			return nil, err
		}
		if look.whole {
			return look, nil
		}
		s.mu.Lock()
		if s.last == look {
			s.last = nil
		}
		s.mu.Unlock()
	}
}

// join returns the listing to wait for; nil says to ask for the single thing, as the
// first read does after every write: where reads and writes take turns, no listing
// would serve a second one.
func (s *Snapshot[T]) join(ctx context.Context, source Source[T]) *listing[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	writes := source.Writes()
	if s.last == nil || !s.last.answers(writes, source.MaxAge) {
		if source.One != nil && !s.alone.covers(writes, source.MaxAge) {
			s.alone = solo{time.Now(), writes}
			return nil
		}
		s.last = s.begin(ctx, source, writes)
	}
	s.last.readers++
	return s.last
}

// covers says whether a read that begins now is not the first of its kind.
func (s solo) covers(writes uint64, maxAge time.Duration) bool {
	return !s.at.IsZero() && s.writes == writes && time.Since(s.at) < maxAge
}

// answers says whether a read that begins now may use a listing.
func (l *listing[T]) answers(writes uint64, maxAge time.Duration) bool {
	return l.writes == writes && (!l.finished() || l.err == nil && time.Since(l.ended) < maxAge)
}

func (l *listing[T]) finished() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// begin looks, for as long as anybody waits for it.
func (s *Snapshot[T]) begin(ctx context.Context, source Source[T], writes uint64) *listing[T] {
	ctx, cancel := context.WithCancel(Lasting(ctx)) //nolint:gosec // read calls it, or the last who waits
	look := &listing[T]{writes: writes, done: make(chan struct{}), cancel: cancel, items: map[string]T{}}
	reach := 0
	if source.One != nil {
		s.reach = max(s.reach, firstReach)
		reach = s.reach
	}
	go look.read(ctx, source, reach)
	return look
}

// read fills a listing with so many things; 0 stands for all.
func (l *listing[T]) read(ctx context.Context, source Source[T], reach int) {
	defer close(l.done)
	defer l.cancel()
	for item, err := range source.All(ctx) {
		if err != nil {
			l.err = err
			break
		}
		id := source.ID(item)
		if _, twice := l.items[id]; !twice {
			l.order = append(l.order, id)
		}
		if l.items[id] = item; reach > 0 && len(l.items) == reach {
			l.ended = time.Now()
			return
		}
	}
	l.whole, l.ended = l.err == nil, time.Now()
}

func (s *Snapshot[T]) wait(ctx context.Context, look *listing[T]) error {
	select {
	case <-look.done:
		return look.err
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if look.readers--; look.readers == 0 {
		look.cancel()
		if s.last == look {
			s.last = nil
		}
	}
	return ctx.Err()
}

// miss notes that something was not among the things that were read. When that
// has cost as much as reading on, the next listing reads on.
func (s *Snapshot[T]) miss(look *listing[T]) {
	if look.whole {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missed++; s.missed >= s.reach/rental.MaxPageSize {
		s.reach, s.missed = 2*s.reach, 0
		if s.last == look {
			s.last = nil
		}
	}
}

// lackedBefore says whether the look before, at the same world, lacked an id, too.
// Where it did not, the next look is a new one.
func (s *Snapshot[T]) lackedBefore(look *listing[T], id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != look {
		return false
	}
	if b := s.before; b != nil && b.writes == look.writes && b.finished() && b.whole {
		if _, had := b.items[id]; !had {
			return true
		}
	}
	s.last, s.before = nil, look
	return false
}

// findAlone makes requests for this one thing only.
func findAlone[T any](ctx context.Context, source Source[T], id string) (item T, found bool, err error) {
	if source.One != nil {
		return one(ctx, source, id)
	}
	return Find(source.All(ctx), func(item T) bool { return source.ID(item) == id })
}

// one asks for a single thing.
func one[T any](ctx context.Context, source Source[T], id string) (item T, found bool, err error) {
	item, err = source.One(ctx, id)
	if rental.IsNotFound(err) {
		return item, false, nil
	}
	return item, err == nil, err
}
