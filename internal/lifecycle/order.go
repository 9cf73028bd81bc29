package lifecycle

import (
	"math"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Order describes an instance to rent.
type Order struct {
	// InstanceCreate is the request, without the offer.
	rental.InstanceCreate
	// ExpectedImage is the expected container image, even if the template sets it; empty for any image.
	ExpectedImage string
	// Keys makes a later call with the same source return the same instance. The zero value means a random key.
	Keys KeySource
	// Generation is the number of the first key to use; 0 for the first one. See Rented.
	Generation int
	// ExpectedGeneration is the generation that a similar order has reached; 0 if unknown. If the key before it is used,
	// so are all keys before that one.
	ExpectedGeneration int
	// Object is the object that gets the instance.
	Object Object
	// RecoverWithin is the maximum age of an instance that an earlier call rented with the same source and that this one
	// may return. An older one, or one of unknown age, most likely belongs to another state. See AnyAge.
	RecoverWithin time.Duration
	// Target is where to take the instance. Its price cap and its Hold apply to the rental, too.
	Target Target
	// OnRented is called with the instance before anything else can fail, so that its id can be saved.
	OnRented func(Rented)
}

// AnyAge is the RecoverWithin of an order whose key belongs to its object for certain. The instance that an earlier
// call rented may then also differ from the order.
const AnyAge = time.Duration(math.MaxInt64)

// Candidate is an offer for one instance.
type Candidate struct {
	Offer rental.Offer
	Query int   // index of the query that selected it
	KopH  int64 // price with the disk; 0 if it is unknown
}

// Known reports whether the offer was read, and not only named.
func (c Candidate) Known() bool { return c.Offer.GPU.Slug != "" }

// Rented is an instance that was rented for an order.
type Rented struct {
	rental.Instance
	// Outcome is how the wait for the instance ended.
	Outcome Outcome
	// Candidate is the offer as it was before the request; nil if an earlier run rented the instance.
	Candidate *Candidate
	// QuotedKopH is the price while running in the first response that has one.
	QuotedKopH int64
	// Generation is the number of its key in the series: the replacement of the instance uses the next one.
	Generation int
	// Recovered: an earlier run rented it with the same idempotency key.
	Recovered bool
	// Replayed: the API returned an instance that was rented before under the key. Unless it is Recovered, a request of
	// this creation, whose response was lost, has most likely rented it; another run may have.
	Replayed bool
}
