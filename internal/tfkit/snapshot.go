package tfkit

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// ListingMaxAge is for how long a listing answers the reads of one run.
	ListingMaxAge = 30 * time.Second
	// FirstReach is how many pages a listing reads at first where single things can be read, too: a state of a few must not
	// pay for an account of thousands, nor for a service whose lists do not end.
	FirstReach = 10
	// reachGrowth is how much further a listing reads once the last one read too little.
	reachGrowth = 4
	// maxReach is how many pages a listing of single things reads at most.
	maxReach = 100
)

// Source is where things of one kind come from.
type Source[T any] struct {
	// ID is the identity of one.
	ID func(T) string
	// All lists them.
	All func(context.Context, rental.ListOptions) iter.Seq2[T, error]
	// One asks for a single one. Nil where the service has no such request.
	One func(context.Context, string) (T, error)
	// Writes counts the writes of this process that have ended and may have
	// changed any of them.
	Writes func() uint64
	// MaxAge is for how long a listing answers reads.
	MaxAge time.Duration
	// Lag is for how long a listing may lack what was created: something counts as
	// gone only when listings lacked it for so long. Zero for look-ups, which remove
	// nothing from a state.
	Lag time.Duration
}

// ListingLag is the Lag of a source that a refresh reads.
func (m *Meta) ListingLag() time.Duration { return 5 * m.PollInterval }

// CachedListingLag is ListingLag for lists that the service caches for 60 seconds.
func (m *Meta) CachedListingLag() time.Duration { return 13 * m.PollInterval }

// Listed is a source of things that the service has under a path and only lists.
func Listed[T any](m *Meta, under string, id func(T) string, list func(context.Context, rental.ListOptions) iter.Seq2[T, error]) Source[T] {
	return Source[T]{
		ID:     id,
		All:    list,
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
	reach  int         // how many pages a listing reads; 0 for FirstReach
	missed int         // reads of things beyond it

	recent  []*listing[T]         // the latest that lacked something, oldest first, all at the same writes
	created map[string]created[T] // by this process
}

// created is a thing that this process has created.
type created[T any] struct {
	item T
	at   time.Time
}

// createdLag is for how long a listing may lack what this process has created.
const createdLag = 5 * time.Minute

// solo is a read of a single thing.
type solo struct {
	at     time.Time
	writes uint64 // that had ended when it began
}

// listing is one look at all things of a kind.
type listing[T any] struct {
	writes  uint64 // that had ended when it began
	reach   int    // how many pages it reads; 0 for as many as the client does
	done    chan struct{}
	cancel  context.CancelFunc
	readers int // that wait for it

	// What it came to; not to be looked at before done.
	ended   time.Time
	items   map[string]T
	order   []string         // their ids, as the service lists them
	skipped []rental.Skipped // entries that cannot be read
	err     error            // nil if there are no others; with rental.IsListTooLong the items are the first ones
}

// Find returns the thing with an id. It is not found only when listings lack it again and again, for as long as
// source.Lag. That an entry of the listing cannot be read is an error when it is the one that is looked for, or may be.
func (s *Snapshot[T]) Find(ctx context.Context, source Source[T], id string) (item T, found bool, err error) {
	if reading == readEach {
		return findAlone(ctx, source, id)
	}
	needed, pause := 2, time.Duration(0)
	if source.Lag > 0 {
		needed, pause = listings, source.Lag/(1<<(listings-1)-1)
	}
	for lacked := 1; ; lacked++ {
		look := s.join(ctx, source)
		if look == nil {
			return one(ctx, source, id)
		}
		err := s.wait(ctx, look)
		if err != nil && !rental.IsListTooLong(err) {
			return item, false, err
		}
		if item, found = look.items[id]; found {
			return item, true, nil
		}
		if source.One != nil {
			s.miss(look)
			return one(ctx, source, id)
		}
		if err != nil {
			return item, false, err
		}
		if err := look.mayHold(id); err != nil {
			return item, false, err
		}
		if item, found = s.createdHere(id); found {
			return item, true, nil
		}
		if s.lacks(look, id, needed, source.Lag) || lacked == needed {
			return item, false, nil
		}
		if !sleep(ctx, pause) {
			return item, false, ctx.Err()
		}
		pause *= 2
	}
}

// mayHold returns why a thing cannot be read, when the listing has it, or may have it, among the entries that cannot be read.
func (l *listing[T]) mayHold(id string) error {
	for _, entry := range l.skipped {
		if entry.ID == id {
			return fmt.Errorf("the service's list has it, but it cannot be read: %w", entry.Err)
		}
	}
	for _, entry := range l.skipped {
		if entry.ID == "" {
			return fmt.Errorf("the service's list does not have it, but it has an entry without an id, which may be it: %w", entry.Err)
		}
	}
	return nil
}

// Created records what this process has created: a listing may lack it for a while.
func (s *Snapshot[T]) Created(id string, item T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.created == nil {
		s.created = map[string]created[T]{}
	}
	s.created[id] = created[T]{item, time.Now()}
}

// Deleted records what this process has deleted.
func (s *Snapshot[T]) Deleted(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.created, id)
}

func (s *Snapshot[T]) createdHere(id string) (item T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	made, ok := s.created[id]
	return made.item, ok && time.Since(made.at) < createdLag
}

// All returns all things by their ids. With an error rental.IsListTooLong it returns the first ones.
func (s *Snapshot[T]) All(ctx context.Context, source Source[T]) (map[string]T, error) {
	look, err := s.whole(ctx, source)
	if look == nil {
		return nil, err
	}
	return look.items, err
}

// List returns all things in the service's order. The list is the caller's own. Entries that cannot be read are reported as by
// the client: see rental.WithSkipped.
func (s *Snapshot[T]) List(ctx context.Context, source Source[T]) ([]T, error) {
	look, err := s.whole(ctx, source)
	if err != nil {
		return nil, err
	}
	for _, entry := range look.skipped {
		rental.ReportSkipped(ctx, entry)
	}
	things := make([]T, len(look.order))
	for i, id := range look.order {
		things[i] = look.items[id]
	}
	return things, nil
}

// whole is a listing of all of them. With an error rental.IsListTooLong it is one of as many as the client reads.
func (s *Snapshot[T]) whole(ctx context.Context, source Source[T]) (*listing[T], error) {
	source.One = nil
	for {
		look := s.join(ctx, source)
		err := s.wait(ctx, look)
		switch {
		case err == nil:
			return look, nil
		case !rental.IsListTooLong(err):
			return nil, err
		case look.reach == 0:
			return look, err
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
	usable := func() bool { return l.err == nil || rental.IsListTooLong(l.err) }
	return l.writes == writes && (!l.finished() || usable() && time.Since(l.ended) < maxAge)
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
	if source.One != nil {
		s.reach = max(s.reach, FirstReach)
		look.reach = s.reach
	}
	go look.read(ctx, source)
	return look
}

// read fills a listing.
func (l *listing[T]) read(ctx context.Context, source Source[T]) {
	defer close(l.done)
	defer l.cancel()
	ctx = rental.WithSkipped(ctx, func(entry rental.Skipped) { l.skipped = append(l.skipped, entry) })
	for item, err := range source.All(ctx, rental.ListOptions{MaxPages: l.reach}) {
		if err != nil {
			l.err = err
			break
		}
		id := source.ID(item)
		if _, twice := l.items[id]; !twice {
			l.order = append(l.order, id)
		}
		l.items[id] = item
	}
	l.ended = time.Now()
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
	if look.err == nil || look.reach == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missed++; s.missed >= s.reach && s.reach < maxReach {
		s.reach, s.missed = min(reachGrowth*s.reach, maxReach), 0
		if s.last == look {
			s.last = nil
		}
	}
}

// lacks reports whether the latest listings, as many as needed and over the time of lag, all lack an id. Where that is not known yet,
// the next read makes a new listing.
func (s *Snapshot[T]) lacks(look *listing[T], id string, needed int, lag time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(look)
	if oldest := s.recent[0]; len(s.recent) >= needed && look.ended.Sub(oldest.ended) >= lag {
		if !slices.ContainsFunc(s.recent, func(l *listing[T]) bool { _, has := l.items[id]; return has }) {
			return true
		}
	}
	if s.last == look {
		s.last = nil
	}
	return false
}

// record keeps the oldest and the latest listings since the last write.
func (s *Snapshot[T]) record(look *listing[T]) {
	switch {
	case slices.Contains(s.recent, look):
	case len(s.recent) == 0 || s.recent[0].writes != look.writes:
		s.recent = []*listing[T]{look}
	case len(s.recent) < listings:
		s.recent = append(s.recent, look)
	default:
		s.recent = append(slices.Delete(s.recent, 1, 2), look)
	}
}

// findAlone makes requests for this one thing only.
func findAlone[T any](ctx context.Context, source Source[T], id string) (item T, found bool, err error) {
	if source.One != nil {
		return one(ctx, source, id)
	}
	return Find(source.All(ctx, rental.ListOptions{}), func(item T) bool { return source.ID(item) == id })
}

// one asks for a single thing.
func one[T any](ctx context.Context, source Source[T], id string) (item T, found bool, err error) {
	item, err = source.One(ctx, id)
	if rental.IsNotFound(err) {
		return item, false, nil
	}
	return item, err == nil, err
}
