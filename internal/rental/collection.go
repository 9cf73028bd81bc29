package rental

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"
)

// Collection reads objects of one kind with few requests. A CLI reads the objects of a state one by one, hundreds of
// them in a second: the first read requests its object, the following ones share a listing. No read that begins after a
// write of this process returns an object as it was before that write.
type Collection[T any] struct {
	id   func(T) string
	list func(context.Context, ListOptions) iter.Seq2[T, error]
	// get requests one object. It is nil if the API has no such request.
	get func(context.Context, string) (T, error)
	// all lists also the objects that list leaves out, for many reads of such objects; nil for none.
	all *Collection[T]
	// writes returns how many changes this process has made so far.
	writes func() uint64
	// ttl is how old a cached listing may be.
	ttl time.Duration
	// lag is how long a listing may lack an object that exists.
	lag time.Duration

	listing Cached[*Listing[T]]

	mu          sync.Mutex
	alone       time.Time // of the last read that requested its object, after aloneWrites
	aloneWrites uint64
	unlisted    int // number of reads of objects that the listing lacks
	created     map[string]createdObject[T]
}

// createdObject is an object that this process has created.
type createdObject[T any] struct {
	object T
	at     time.Time
}

// maxLookupPages is how many pages are read to find single objects, where what the pages lack can be requested by its
// id: 20,000 objects, unless the API returns small pages.
const maxLookupPages = 100

// Listing is what a list request returned. Several callers share it, so none may change it.
type Listing[T any] struct {
	Items   []T       // in the order of the API
	Skipped []Skipped // entries that cannot be read
	Err     error     // IsListTooLong if Items are only the first ones; else nil

	ended   time.Time
	index   map[string]int // by id
	limited bool           // it ends after maxLookupPages
}

// Find returns the object with an id.
func (l *Listing[T]) Find(id string) (object T, found bool) {
	at, found := l.index[id]
	if found {
		object = l.Items[at]
	}
	return object, found
}

// skippedError returns why an object cannot be read if it is, or may be, one of the entries that cannot be read.
func skippedError(skipped []Skipped, id string) error {
	for _, entry := range skipped {
		if entry.ID == id || entry.ID == "" {
			return fmt.Errorf("the list contains an entry that is it or may be it, but it cannot be read: %w", entry.Err)
		}
	}
	return nil
}

// List returns all objects. If there are more than the client reads, it returns the first ones and an error
// IsListTooLong.
func (c *Collection[T]) List(ctx context.Context) (*Listing[T], error) {
	listing, err := c.load(ctx, c.ttl, 0)
	if err == nil && listing.Err != nil && listing.limited {
		listing, err = c.load(ctx, 0, 0)
	}
	if err != nil {
		return nil, err
	}
	return listing, listing.Err
}

// Recent is List, except that the result may lack what this process has changed in the meantime.
func (c *Collection[T]) Recent(ctx context.Context) (*Listing[T], error) {
	if listing, ok := c.listing.Last(c.ttl, 0); ok && !listing.limited {
		return listing, listing.Err
	}
	return c.List(ctx)
}

// load returns a listing that is not older than maxAge. It reads at most this many pages; 0 for no limit.
func (c *Collection[T]) load(ctx context.Context, maxAge time.Duration, pages int) (*Listing[T], error) {
	return c.listing.Get(ctx, maxAge, c.writes(), func(ctx context.Context) (*Listing[T], error) {
		listing := &Listing[T]{index: map[string]int{}, limited: pages > 0}
		for object, err := range c.list(ctx, ListOptions{MaxPages: pages, Skipped: &listing.Skipped}) {
			if IsListTooLong(err) {
				listing.Err = err
				break
			}
			if err != nil {
				return nil, err
			}
			id := c.id(object)
			if at, twice := listing.index[id]; twice {
				listing.Items[at] = object
				continue
			}
			listing.index[id] = len(listing.Items)
			listing.Items = append(listing.Items, object)
		}
		listing.ended = time.Now()
		return listing, nil
	})
}

// Has reports whether Find returns the object with an id.
func (c *Collection[T]) Has(ctx context.Context, id string) bool {
	_, found, err := c.Find(ctx, id)
	return found && err == nil
}

// Find returns the object with an id. Only a listing that is newer than the call shows that there is none, and it may
// lack an object that was created a moment ago: see Lag.
func (c *Collection[T]) Find(ctx context.Context, id string) (object T, found bool, err error) {
	if c.readsAlone() {
		return c.getOne(ctx, id)
	}
	began := time.Now()
	maxAge, pages := c.ttl, 0
	if c.get != nil {
		pages = maxLookupPages
	}
	for {
		listing, err := c.load(ctx, maxAge, pages)
		if err != nil {
			return object, false, err
		}
		if object, found = listing.Find(id); found {
			return object, true, nil
		}
		if c.get != nil {
			return c.getUnlisted(ctx, id)
		}
		if err := listing.Err; err != nil {
			return object, false, err
		}
		if err := skippedError(listing.Skipped, id); err != nil {
			return object, false, err
		}
		if object, found = c.createdHere(id); found || maxAge == 0 || listing.ended.After(began) {
			return object, found, nil
		}
		maxAge = 0 // the next listing is newer than the call, even if the clock is too coarse to show it
	}
}

// readsAlone reports whether a read requests its object: the first one after each write, since no listing would serve a
// second read where reads and writes take turns.
func (c *Collection[T]) readsAlone() bool {
	if c.get == nil {
		return false
	}
	writes := c.writes()
	if _, ok := c.listing.Last(c.ttl, writes); ok {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.aloneWrites == writes && time.Since(c.alone) < c.ttl {
		return false
	}
	c.alone, c.aloneWrites = time.Now(), writes
	return true
}

// singleReads is how many objects that the listing lacks are requested one by one.
const singleReads = 3

// getUnlisted reads an object that the listing lacks. If there are many, as after hundreds of servers were destroyed
// outside, one listing of all objects serves them.
func (c *Collection[T]) getUnlisted(ctx context.Context, id string) (object T, found bool, err error) {
	c.mu.Lock()
	c.unlisted++
	many := c.unlisted > singleReads
	c.mu.Unlock()
	if many && c.all != nil {
		if listing, err := c.all.load(ctx, c.ttl, maxLookupPages); err == nil {
			if object, found = listing.Find(id); found {
				return object, true, nil
			}
		}
	}
	return c.getOne(ctx, id)
}

func (c *Collection[T]) getOne(ctx context.Context, id string) (object T, found bool, err error) {
	object, err = c.get(ctx, id)
	if IsNotFound(err) {
		return object, false, nil
	}
	return object, err == nil, err
}

// Lag returns how long a listing may lack an object that exists.
func (c *Collection[T]) Lag() time.Duration { return c.lag }

// Created records an object that this process has created.
func (c *Collection[T]) Created(object T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.created == nil {
		c.created = map[string]createdObject[T]{}
	}
	c.created[c.id(object)] = createdObject[T]{object, time.Now()}
}

// Deleted records an object that this process has deleted.
func (c *Collection[T]) Deleted(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.created, id)
}

// createdHere returns an object that this process has created, while a listing may lack it.
func (c *Collection[T]) createdHere(id string) (object T, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	made, found := c.created[id]
	return made.object, found && time.Since(made.at) < c.lag
}
