package lifecycle

import (
	"context"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// lookupOnly is the offer of a request that must not rent. The API has no such offer, but it returns the instance that
// was rented under the key.
const lookupOnly = "none"

// request rents from an offer, or returns the instance that was rented under the key before. If that instance is
// destroyed, the first unused key of the seed is for its replacement. Without an offer it rents nothing.
func (c *creation) request(ctx context.Context, candidate *Candidate) (Rented, error) {
	select {
	case c.manager.rentals <- struct{}{}:
		defer func() { <-c.manager.rentals }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return Rented{}, &failure.Error{Kind: failure.Interrupted, Err: ctx.Err()}
	}
	for attempt := 0; ; attempt++ {
		rented, used, err := c.tryKey(ctx, candidate)
		if !used || err != nil {
			return rented, err
		}
		if attempt > 0 { // the next keys are probably used, too
			if rented, used, err = c.skipUsed(ctx); !used || err != nil {
				return rented, err
			}
		}
		c.Generation++
	}
}

// skipUsed moves from a used key to the last used one, with a number of requests that grows with the logarithm of their
// number: they are used in order. If the last one's instance exists, skipUsed returns it.
func (c *creation) skipUsed(ctx context.Context) (rented Rented, used bool, err error) {
	low, high := c.Generation, 0 // the key low is used, and high is not; 0 if it is unknown
	for step := 1; high == 0 || high-low > 1; step *= 2 {
		c.Generation = low + step
		if high > 0 {
			c.Generation = (low + high) / 2
		}
		rented, used, err = c.tryKey(ctx, nil)
		switch {
		case provesNothingRented(err):
			high = c.Generation
		case !used || err != nil:
			return rented, used, err
		default:
			low = c.Generation
		}
	}
	c.Generation = low
	return Rented{}, true, nil
}

// tryKey requests an instance under the current key. used reports that the instance of the key is destroyed.
func (c *creation) tryKey(ctx context.Context, candidate *Candidate) (rented Rented, used bool, err error) {
	offerID := lookupOnly
	if candidate != nil {
		offerID = candidate.Offer.ID
	}
	inst, replay, err := c.createOnce(ctx, offerID)
	if err != nil && inst.ID == "" {
		return Rented{}, false, err
	}
	if err != nil { // the response can be read only in part: the wait reads the instance by its id
		inst = rental.Instance{ID: inst.ID}
	}
	rented = Rented{Instance: inst, Candidate: candidate, Generation: c.Generation}
	c.lost = c.lost || replay == rental.ReplayedAfterLoss && candidate != nil
	rented.Proven = replay == rental.NotReplayed || !c.Seed.Chosen()
	if replay != rental.NotReplayed {
		if used, err = c.checkReplay(ctx, &rented); used || err != nil {
			return Rented{}, used, err
		}
	}
	object := c.Object
	object.Taken = rented.Recovered && !rented.Proven
	if _, ok := c.manager.Owners.Claim(rented.ID, object); !ok {
		return Rented{}, false, c.inUse(rented)
	}
	return rented, false, nil
}

func (c *creation) inUse(rented Rented) *failure.Error {
	return &failure.Error{Kind: failure.InUse, Instance: rented.Instance}
}
