package lifecycle

import (
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Order describes an instance to rent.
type Order struct {
	// InstanceCreate is the request, without the offer.
	rental.InstanceCreate
	// ExpectedImage is the expected container image, even if the template sets it; empty for any image.
	ExpectedImage string
	// Seed makes the idempotency keys: a later call with the same seed returns the same instance.
	Seed KeySeed
	// Generation is the number of the first key to use; 0 for the first one. See Rented.
	Generation int
	// Object is the object that gets the instance.
	Object Object
	// RecoverWithin is the maximum age of an instance that was rented before under a chosen seed and that this call may
	// return. An older one, or one of unknown age, may belong to another state.
	RecoverWithin time.Duration
	// Target is where to take the instance. Its price cap and its Hold apply to the rental, too.
	Target Target
	// OnRented is called with the instance before anything else can fail, so that its id can be saved.
	OnRented func(Rented)
}

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
	// Candidate is the offer as it was before the request; nil if the instance was found by its key.
	Candidate *Candidate
	// QuotedKopH is the price while running in the first response that has one.
	QuotedKopH int64
	// Generation is the number of its key: the replacement of the instance uses the next one.
	Generation int
	// Recovered: it was rented before this creation, under the same idempotency key.
	Recovered bool
	// Proven: the object itself rented it, as a 201 or a key of a random seed proves. Otherwise another object with the
	// same chosen seed may have rented it, so that this one does not destroy it.
	Proven bool
}

// ByThisCreation reports whether this creation has rented the instance for certain, so that it may destroy it again.
func (r Rented) ByThisCreation() bool { return r.Proven && !r.Recovered }
