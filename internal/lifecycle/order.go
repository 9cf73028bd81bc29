package lifecycle

import (
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Order describes an instance to rent.
type Order struct {
	// Request is what is requested, without the offer.
	Request rental.InstanceCreate
	// ExpectedImage is the expected container image, even if the template sets it. Any image meets an empty one.
	ExpectedImage string
	// MaxPriceKopH is the highest price without the disk. Zero means no cap.
	MaxPriceKopH int64
	// Seed makes the idempotency keys: a later call with the same seed returns the same instance.
	Seed KeySeed
	// Generation is the number of the first key to use, from 1. See Rented.
	Generation int
	// Object is the object that gets the instance.
	Object Object
	// RecoverWithin is the maximum age of an instance that was rented before under a chosen seed and that this call may
	// return. An older one, or one of unknown age, may belong to another state.
	RecoverWithin time.Duration
	// Replaces is the id of the instance that the new one replaces: only a rise of its price counts for the burn limit.
	Replaces string
}

// Candidate is an offer for one instance.
type Candidate struct {
	Offer rental.Offer
	Query int   // index of the query that selected it
	KopH  int64 // price with the disk; 0 if it is unknown
}

// Known reports whether the offer was read, and not only named.
func (c Candidate) Known() bool { return c.Offer.GPU.Slug != "" }

// Rented is an instance, and how it was rented.
type Rented struct {
	rental.Instance
	// Order is the order of a new instance. Converge does not compare an existing instance with it.
	Order Order
	// Candidate is the offer as it was before the request; nil if the instance was found by its key.
	Candidate *Candidate
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
