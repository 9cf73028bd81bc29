package rental

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
	"time"
)

// cacheTTL is how long cached results are used. The API refreshes its offers about every minute.
const cacheTTL = 30 * time.Second

// Cache holds what was read of the account and the market for the resources that one configured provider serves.
type Cache struct {
	Instances *Collection[Instance] // active ones; Find returns destroyed ones, too
	// AllInstances are active and destroyed ones.
	AllInstances *Collection[Instance]
	Templates    *Collection[Template] // of the catalog and the account
	SSHKeys      *Collection[SSHKey]
	APIKeys      *Collection[APIKey]
	GPUs         *Collection[GPUModel]

	client *Client

	mu     sync.Mutex
	lists  map[string]*Cached[offerList] // by OfferQuery as JSON
	seen   map[string]seenOffer          // by id
	readAt time.Time                     // when Offer last read an offer by its id
}

// offerList contains the first offers of a query.
type offerList struct {
	offers  []Offer
	skipped []Skipped
	limit   int // how many were read at most
}

// serves reports whether the list contains the first offers of the query up to a limit.
func (l offerList) serves(limit int) bool { return limit <= l.limit || len(l.offers) < l.limit }

// seenOffer is an offer as it was at a time.
type seenOffer struct {
	offer Offer
	at    time.Time
}

// marketOffers is how many offers are listed to find some by their ids.
const marketOffers = 5 * MaxPageSize

// NewInstanceLag is how long the API may not find an instance by its id after it was created.
const NewInstanceLag = time.Minute

// How long a listing may lack an object that exists. The API caches the templates for a minute.
const (
	listLag     = 30 * time.Second
	templateLag = 65 * time.Second
)

// NewCache returns an empty cache.
func NewCache(client *Client) *Cache {
	c := &Cache{client: client, lists: map[string]*Cached[offerList]{}, seen: map[string]seenOffer{}}
	instances := func(status string) func(context.Context, ListOptions) iter.Seq2[Instance, error] {
		return func(ctx context.Context, options ListOptions) iter.Seq2[Instance, error] {
			return client.ListInstances(ctx, ListInstancesQuery{Status: status, ListOptions: options})
		}
	}
	c.Instances = newCollection(c, "instances", Instance.identity, instances(ListActive), listLag)
	c.Instances.get = client.GetInstance
	c.AllInstances = newCollection(c, "instances", Instance.identity, instances(ListAll), listLag)
	c.Instances.all = c.AllInstances
	c.Templates = newCollection(c, "templates", Template.identity, client.ListTemplates, templateLag)
	c.SSHKeys = newCollection(c, "ssh-keys", SSHKey.identity, client.ListSSHKeys, listLag)
	c.APIKeys = newCollection(c, "api-keys", APIKey.identity, client.ListAPIKeys, listLag)
	c.GPUs = newCollection(c, "gpus", GPUModel.identity, client.ListGPUs, 0)
	return c
}

func newCollection[T any](
	c *Cache,
	path string,
	id func(T) string,
	list func(context.Context, ListOptions) iter.Seq2[T, error],
	lag time.Duration,
) *Collection[T] {
	return &Collection[T]{
		id: id, list: list, lag: lag,
		writes: func() uint64 { return c.client.Writes(path) },
		ttl:    cacheTTL,
	}
}

// OffersWithin returns the first offers of a query, limit of them at most. Fewer means that there are no others. The
// result is not older than maxAge.
func (c *Cache) OffersWithin(
	ctx context.Context, query OfferQuery, limit int, maxAge time.Duration,
) ([]Offer, error) {
	name, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	key := string(name)
	c.mu.Lock()
	if c.lists[key] == nil {
		c.lists[key] = new(Cached[offerList])
	}
	cached := c.lists[key]
	c.mu.Unlock()
	read := func(ctx context.Context) (offerList, error) { return c.readOffers(ctx, query, limit) }
	list, err := cached.Get(ctx, maxAge, 0, read)
	for err == nil && !list.serves(limit) {
		list, err = cached.Get(ctx, 0, 0, read)
	}
	if query.Skipped != nil {
		*query.Skipped = append(*query.Skipped, list.skipped...)
	}
	return list.offers[:min(limit, len(list.offers))], err
}

func (c *Cache) readOffers(ctx context.Context, query OfferQuery, limit int) (offerList, error) {
	list := offerList{limit: limit}
	query.Skipped = &list.skipped
	for offer, err := range c.client.ListOffers(ctx, query) {
		if err != nil {
			return offerList{}, err
		}
		c.KeepOffer(offer)
		if list.offers = append(list.offers, offer); len(list.offers) == limit {
			break
		}
	}
	return list, nil
}

// Offer returns one offer: as it was last read, else by its id, else, from the second offer on, from a list. It is not
// found if the API does not return it as available.
func (c *Cache) Offer(ctx context.Context, id string, kind RentalType) (offer Offer, found bool, err error) {
	if offer, found = c.recentOffer(id); found {
		return offer, offer.Available, nil
	}
	if c.readsList() {
		if _, err := c.OffersWithin(ctx, OfferQuery{Type: kind}, marketOffers, cacheTTL); err != nil {
			return Offer{}, false, err
		}
		if offer, found = c.recentOffer(id); found {
			return offer, offer.Available, nil
		}
	}
	offer, found, err = c.ReadOffer(ctx, id)
	return offer, found && offer.Available, err
}

// readsList reports whether Offer has read an offer by its id a moment ago.
func (c *Cache) readsList() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.readAt) < cacheTTL {
		return true
	}
	c.readAt = time.Now()
	return false
}

// ReadOffer reads an offer now. It is not found if the API does not find it.
func (c *Cache) ReadOffer(ctx context.Context, id string) (offer Offer, found bool, err error) {
	offer, err = c.client.GetOffer(ctx, id)
	switch {
	case IsNotFound(err):
		c.KeepOffer(Offer{ID: id}) // many resources may name it
		return Offer{}, false, nil
	case err != nil:
		return Offer{}, false, err
	}
	c.KeepOffer(offer)
	return offer, true, nil
}

// KeepOffer records an offer that was just read.
func (c *Cache) KeepOffer(offer Offer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[offer.ID] = seenOffer{offer, time.Now()}
}

// SeenOffer returns an offer as it was last read in this process.
func (c *Cache) SeenOffer(id string) (Offer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, found := c.seen[id]
	return seen.offer, found
}

func (c *Cache) recentOffer(id string) (Offer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, found := c.seen[id]
	return seen.offer, found && time.Since(seen.at) < cacheTTL
}
