package rental

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"
)

// How long cached results are used. The API refreshes its offers about every minute.
const (
	objectsTTL = 30 * time.Second // instances, templates, SSH keys, API keys and GPU models
	offersTTL  = 30 * time.Second
	goneTTL    = 5 * time.Second // an offer that is not available
	balanceTTL = 10 * time.Second
)

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
	money  Cached[Balance]

	seen   sync.Map // offers by id
	mu     sync.Mutex
	offers map[offersKey]*Cached[[]Offer]
	market map[RentalType]*Collection[Offer]
}

// marketPages is how much of the market is read to find offers by their ids.
const marketPages = 5

// offersKey is a query, and how many offers of it were read at most.
type offersKey struct {
	query string
	limit int
}

// NewInstanceLag is how long the API may not find an instance by its id after it was created.
const NewInstanceLag = time.Minute

// How long a listing may lack an object that exists. The API caches the templates for a minute.
const (
	listLag     = 30 * time.Second
	templateLag = 65 * time.Second
)

// NewCache returns an empty cache.
func NewCache(client *Client) *Cache {
	c := &Cache{
		client: client,
		offers: map[offersKey]*Cached[[]Offer]{}, market: map[RentalType]*Collection[Offer]{},
	}
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
		ttl:    objectsTTL,
	}
}

// Balance returns the account's money.
func (c *Cache) Balance(ctx context.Context) (Balance, error) {
	return c.money.Get(ctx, balanceTTL, c.client.Writes("instances"), c.client.GetBalance)
}

// OffersWithin returns the first offers of a query, limit of them at most. Fewer means that there are no others. The
// result is not older than maxAge.
func (c *Cache) OffersWithin(
	ctx context.Context, query OfferQuery, limit int, maxAge time.Duration,
) ([]Offer, error) {
	query.PageSize = min(int64(limit), MaxPageSize)
	key := offersKey{query.Key(), limit}
	c.mu.Lock()
	if c.offers[key] == nil {
		c.offers[key] = new(Cached[[]Offer])
	}
	cached := c.offers[key]
	var complete []Offer
	found := false
	for other, list := range c.offers { // a list that was not cut serves every limit
		if offers, ok := list.Last(maxAge, 0); ok && other.query == key.query && len(offers) < other.limit {
			complete, found = offers[:min(limit, len(offers))], true
		}
	}
	c.mu.Unlock()
	if found {
		return complete, nil
	}
	return cached.Get(ctx, maxAge, 0, func(ctx context.Context) ([]Offer, error) {
		var offers []Offer
		for offer, err := range c.client.ListOffers(ctx, query) {
			if err != nil {
				return nil, err
			}
			if offers = append(offers, offer); len(offers) == limit {
				break
			}
		}
		return offers, nil
	})
}

// Offer returns one offer: of a cached list, else by its id, else, from the second offer on, from the list of the
// market. It is not found if the API does not list it as available.
func (c *Cache) Offer(ctx context.Context, id string, kind RentalType) (offer Offer, found bool, err error) {
	if offer, found = c.cachedOffer(id); found {
		return offer, offer.Available, nil
	}
	if offer, found, err = c.marketOf(kind).Find(ctx, id); err != nil || !found {
		return offer, false, err
	}
	c.KeepOffer(offer)
	return offer, offer.Available, nil
}

// ReadOffer reads an offer now. It is not found if the API does not find it.
func (c *Cache) ReadOffer(ctx context.Context, id string) (offer Offer, found bool, err error) {
	offer, err = c.client.GetOffer(ctx, id)
	switch {
	case IsNotFound(err):
		return Offer{}, false, nil
	case err != nil:
		return Offer{}, false, err
	}
	c.KeepOffer(offer)
	return offer, true, nil
}

// KeepOffer records an offer that was just read.
func (c *Cache) KeepOffer(offer Offer) { c.seen.Store(offer.ID, seenOffer{offer, time.Now()}) }

// SeenOffer returns an offer as it was last read in this process.
func (c *Cache) SeenOffer(id string) (Offer, bool) {
	seen, found := c.seen.Load(id)
	if !found {
		return Offer{}, false
	}
	return seen.(seenOffer).offer, true
}

// seenOffer is an offer as it was at a time.
type seenOffer struct {
	offer Offer
	at    time.Time
}

func (c *Cache) cachedOffer(id string) (Offer, bool) {
	if seen, found := c.seen.Load(id); found {
		ttl := offersTTL
		if !seen.(seenOffer).offer.Available {
			ttl = goneTTL
		}
		if time.Since(seen.(seenOffer).at) < ttl {
			return seen.(seenOffer).offer, true
		}
	}
	c.mu.Lock()
	lists := make([]*Cached[[]Offer], 0, len(c.offers))
	for _, list := range c.offers {
		lists = append(lists, list)
	}
	c.mu.Unlock()
	for _, list := range lists {
		offers, _ := list.Last(offersTTL, 0)
		if at := slices.IndexFunc(offers, func(o Offer) bool { return o.ID == id }); at >= 0 {
			return offers[at], true
		}
	}
	return Offer{}, false
}

func (c *Cache) marketOf(kind RentalType) *Collection[Offer] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.market[kind] == nil {
		c.market[kind] = &Collection[Offer]{
			id: Offer.identity, get: c.client.GetOffer,
			list: func(ctx context.Context, options ListOptions) iter.Seq2[Offer, error] {
				options.MaxPages = marketPages
				return c.client.ListOffers(ctx, OfferQuery{Type: kind, ListOptions: options})
			},
			writes: func() uint64 { return 0 },
			ttl:    offersTTL,
		}
	}
	return c.market[kind]
}
