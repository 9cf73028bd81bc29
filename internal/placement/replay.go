package placement

import (
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// checkReplay decides whether an instance that was rented before under the key belongs to this creation. used reports
// that it is destroyed. An instance that someone may have is an error: nothing is changed.
func (c *creation) checkReplay(placed *Placed) (used bool, err error) {
	other, found := c.placer.Owners.Owner(placed.ID)
	if placed.Destroyed() || other.Destroyed || !c.confirm(placed) {
		return true, nil
	}
	if found && other.Token != c.Object.Token {
		return false, c.inUse(*placed)
	}
	age := time.Duration(0)
	if !placed.CreatedAt.IsZero() {
		age = max(1, c.placer.client.Now().Sub(placed.CreatedAt))
	}
	if !c.rented(placed.Instance) {
		placed.Recovered, placed.OfferID, placed.Offer = true, "", nil
		if c.RecoverWithin != AnyAge && (age == 0 || age > c.RecoverWithin) {
			return false, &Error{Kind: NotLost, Instance: placed.Instance, Age: age, Within: c.RecoverWithin}
		}
	}
	differences := placed.Differences(c.Request)
	if len(differences) > 0 && (placed.Recovered || differences[0].Harmful) {
		return false, &Error{Kind: OtherArguments, Instance: placed.Instance, Difference: differences[0]}
	}
	return false, nil
}

// rented reports whether this creation itself most likely rented the instance: the response to an attempt was lost, and
// the instance is not older than the creation. Another run with the same key can create an instance at the same time.
func (c *creation) rented(inst rental.Instance) bool {
	older := !inst.CreatedAt.IsZero() && inst.CreatedAt.Before(c.began.Add(-time.Second)) // the API returns whole seconds
	return c.lost && !older
}

// confirm reads the instance by its id, because a replay can be the first response for the key. It returns false if the
// instance is gone. An instance that cannot be read stays as the replay describes it.
func (c *creation) confirm(placed *Placed) (exists bool) {
	pauses := backoff.Exponential{First: c.placer.pollInterval, Max: longestRetryPause * c.placer.pollInterval}
	left := rental.NewInstanceLag
	if !placed.CreatedAt.IsZero() {
		left = c.placer.client.LagLeft(placed.CreatedAt, left)
	}
	certain := time.Now().Add(left)
	for attempt := 0; ; attempt++ {
		inst, err := c.placer.client.GetInstance(c.requestCtx, placed.ID)
		switch {
		case err == nil:
			placed.Instance, placed.Unreadable = c.placer.client.ReadOmitted(c.requestCtx, inst), nil
			return !placed.Destroyed()
		case !rental.IsNotFound(err):
			return true
		case time.Now().After(certain):
			return false
		}
		if backoff.Sleep(c.requestCtx, pauses.Pause(attempt)) != nil {
			return true
		}
	}
}

func (c *creation) inUse(placed Placed) *Error {
	return &Error{Kind: InUse, Instance: placed.Instance, Replayed: !c.keys.isRandom()}
}
