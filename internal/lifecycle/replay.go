package lifecycle

import (
	"context"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// clockTolerance is how much the time of a creation may differ from the clock of the API.
const clockTolerance = time.Minute

// checkReplay decides what to do with an instance that was rented before under the key. If it is destroyed, the next
// key is for another instance. A key of a random seed proves that the instance belongs to this creation. Under a chosen
// seed, it is an error if someone else may have the instance: nothing is changed.
func (c *creation) checkReplay(ctx context.Context, rented *Rented) (destroyed bool, err error) {
	if c.order.Seed.kind == single {
		return false, nil
	}
	owner, found := c.manager.Owners.Owner(rented.ID)
	if rented.Destroyed() || owner.Destroyed || !c.confirm(ctx, rented) {
		return true, nil
	}
	if rented.Recovered = !c.isOwn(rented.Instance); rented.Recovered {
		rented.Candidate = nil
	}
	switch {
	case found && owner.Token != c.order.Object.Token:
		return false, InUse{rented.Instance}
	case !c.order.Seed.Chosen():
		return false, nil
	}
	age, known := c.age(rented.Instance)
	if rented.Recovered && (!known || age > c.order.RecoverWithin) {
		return false, NotRecent{Instance: rented.Instance, RecoverWithin: c.order.RecoverWithin}
	}
	differences := rented.Differences()
	if len(differences) > 0 && (rented.Recovered || differences[0].Harmful) {
		return false, ReplayDiffers{Instance: rented.Instance, Differences: differences}
	}
	return false, nil
}

// age returns the age of an instance, if it is known.
func (c *creation) age(inst rental.Instance) (age time.Duration, known bool) {
	age = c.manager.Client.Now().Sub(inst.CreatedAt)
	return max(0, age), !inst.CreatedAt.IsZero() && age >= -clockTolerance
}

// isOwn reports whether this creation itself most likely rented the instance: the response to an attempt was lost, and
// the instance is not older than the creation. Another run with the same key can create an instance at the same time.
func (c *creation) isOwn(inst rental.Instance) bool {
	older := !inst.CreatedAt.IsZero() && inst.CreatedAt.Before(c.began.Add(-time.Second)) // the API returns whole seconds
	return c.responseLost && !older
}

// confirm reads the instance by its id, because a replay can be the first response for the key. It returns false if the
// API does not find it. An instance that cannot be read stays as the replay describes it.
func (c *creation) confirm(ctx context.Context, rented *Rented) (exists bool) {
	left := rental.NewInstanceLag
	if !rented.CreatedAt.IsZero() {
		left = c.manager.Client.LagLeft(rented.CreatedAt, left)
	}
	certain := time.Now().Add(left)
	for attempt := 0; ; attempt++ {
		inst, err := c.manager.Client.GetInstance(ctx, rented.ID)
		switch {
		case err == nil:
			rented.Instance = c.manager.Client.ReadOmitted(ctx, inst)
			return !rented.Destroyed()
		case !rental.IsNotFound(err):
			return true
		case time.Now().After(certain):
			return false
		}
		if backoff.Sleep(ctx, c.manager.pauses().Pause(attempt)) != nil {
			return true
		}
	}
}
