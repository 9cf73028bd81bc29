// Package placement chooses an offer and creates an instance from it exactly once. It keeps the instances that one
// process creates from taking each other's offers, and two objects from having one instance. It is about instances and
// requests of the API and does not depend on Terraform. All prices are kopecks per hour.
package placement

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// Placer creates instances. It is safe for concurrent use.
type Placer struct {
	client *rental.Client
	cache  *rental.Cache
	// pollInterval is the first pause between two attempts of a request.
	pollInterval time.Duration

	// Owners records which objects of this process have which instances.
	Owners *Owners

	offers reservations // of instances that are being created
}

// New returns a Placer.
func New(client *rental.Client, cache *rental.Cache, owners *Owners, pollInterval time.Duration) *Placer {
	return &Placer{client: client, cache: cache, pollInterval: pollInterval, Owners: owners}
}

// Destroyed records that the API has accepted the destruction of an instance. Its offer may be available again.
func (p *Placer) Destroyed(id string) {
	p.Owners.destroyed(id)
	p.offers.forget()
}

// Request describes an instance to create.
type Request struct {
	// Order is what to rent, without the offer.
	Order rental.InstanceCreate
	// Image is the expected container image, also if the template sets it; empty for any image.
	Image string
	// Queries select the offers to try, in order of preference. None: OfferID is the only offer.
	Queries []Query
	OfferID string
	// Candidate is the offer that Choose reserved for the instance. Without Queries, OfferID and Candidate, Create rents
	// nothing: it returns the instance that an earlier run rented.
	Candidate *Candidate
	// WaitForOffer is how long Create waits until an offer of Queries can be rented; 0 for not at all.
	WaitForOffer time.Duration
	// MaxPriceKopH is the highest price of an offer; 0 for no cap.
	MaxPriceKopH int64
	// KeySource makes a later call with the same source return the same instance. The zero value means a random key.
	KeySource KeySource
	// Generation is the number of the first key of the series to use; 0 for the first one. See Placed.
	Generation int
	// Object is the object that gets the instance.
	Object Object
	// RecoverWithin is the maximum age of an instance that an earlier call rented with the same source and that Create may
	// return. An older one, or one of unknown age, most likely belongs to another state. AnyAge allows all.
	RecoverWithin time.Duration
	// ExpectedGeneration is the generation that a similar request has reached; 0 if unknown. If the key before it is used,
	// so are all keys before that one.
	ExpectedGeneration int
	// Hold is called with the price of an offer and the whole disk before it is rented. With an error, Create can only
	// return the instance that was rented before under the key, else the error. A nil Hold allows every price.
	Hold spending.HoldFunc
}

// Query selects offers.
type Query struct {
	rental.OfferQuery
	// MaxAttempts is the maximum number of offers to try. With WaitForOffer, it is for one listing of the offers.
	MaxAttempts int
}

// Placed is an instance that Create returned.
type Placed struct {
	rental.Instance
	// OfferID is the offer that it was rented from; empty if an earlier run rented it.
	OfferID string
	// Offer is the offer as it was before the request; nil if it was not read, or if OfferID is empty.
	Offer *rental.Offer
	// MatchedQuery is the index of the query that selected the offer; nil if none did.
	MatchedQuery *int
	// Generation is the number of its key in the series: the replacement of the instance uses the next one.
	Generation int
	// Recovered: an earlier run rented it with the same idempotency key.
	Recovered bool
	// Replayed: the API returned an instance that was rented before under the key. Unless it is Recovered, a request of
	// this creation, whose response was lost, has most likely rented it; another run may have.
	Replayed bool
	// Unreadable is the error of a response that could be read only in part; nil otherwise.
	Unreadable error
}

// AnyAge is the RecoverWithin of a request whose key belongs to its object for certain.
const AnyAge = time.Duration(math.MaxInt64)

// createGrace is how long the create request may continue after an interruption, in addition to the request timeout.
const createGrace = 10 * time.Second

// Create rents an instance, or returns the instance that was rented before under the idempotency key. The end of ctx
// does not cancel the create request, which could leave a billed instance in no state. With an error nothing was
// rented, unless its kind is OutcomeUnknown. Errors are of type *Error or *rental.Error, or come from Hold.
func (p *Placer) Create(ctx context.Context, request Request) (Placed, error) {
	requestCtx, stop := rental.Detached(ctx, p.client.RequestTimeout()+createGrace)
	defer stop()
	c := &creation{
		Request: request, placer: p, keys: newIdempotencyKeys(request), requestCtx: requestCtx, began: p.client.Now(),
		offers: map[string]rental.Offer{},
	}
	placed, err := c.run(ctx)
	if KindOf(err) != Interrupted && err != nil && ctx.Err() != nil && c.nothingRented(err, ctx.Err()) {
		err = &Error{Kind: Interrupted, Err: ctx.Err()}
	}
	return placed, err
}

// creation creates one instance under one series of idempotency keys.
type creation struct {
	Request
	placer     *Placer
	keys       *idempotencyKeys
	requestCtx context.Context // of the create request, which outlives an interruption

	began    time.Time               // in the API's time
	sent     bool                    // a create request was sent
	lost     bool                    // the response to a create request was lost
	refusals int                     // of available offers
	reserved []string                // offers that no other creation may take
	offers   map[string]rental.Offer // last read, by id
}

// run rents from the named offer, or from the first available offer of the queries.
func (c *creation) run(ctx context.Context) (Placed, error) {
	switch {
	case c.Candidate != nil || len(c.Queries) == 0 && c.OfferID == "":
		return c.fromCandidate(ctx)
	case len(c.Queries) == 0:
		return c.fromNamedOffer(ctx)
	case c.WaitForOffer > 0:
		return c.awaitOffer(ctx)
	}
	return c.fromQueries(ctx)
}

// nothingRented reports whether a creation that failed because its context ended has rented nothing.
func (c *creation) nothingRented(err, end error) bool {
	return KindOf(err) != OutcomeUnknown && (!c.sent || errors.Is(err, end))
}
