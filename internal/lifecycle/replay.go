package lifecycle

import (
	"context"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// clockTolerance is how much the time of a creation may differ from the clock of the API.
const clockTolerance = time.Minute

// checkReplay decides what to do with an instance that was rented before under the key. If it is destroyed, used is
// true, and the next key is for another instance. A key of a random seed proves that the instance belongs to this
// creation. Under a chosen seed, it is an error if someone else may have the instance: nothing is changed.
func (c *creation) checkReplay(ctx context.Context, rented *Rented) (used bool, err error) {
	if c.Seed.kind == single {
		return false, nil
	}
	owner, found := c.manager.Owners.Owner(rented.ID)
	if rented.Destroyed() || owner.Destroyed || !c.confirm(ctx, rented) {
		return true, nil
	}
	if rented.Recovered = !c.rented(rented.Instance); rented.Recovered {
		rented.Candidate = nil
	}
	switch {
	case found && owner.Token != c.Object.Token:
		return false, c.inUse(*rented)
	case !c.Seed.Chosen():
		return false, nil
	}
	if age := c.age(rented.Instance); rented.Recovered && (age == 0 || age > c.RecoverWithin) {
		return false, &failure.Error{
			Kind: failure.NotLost, Instance: rented.Instance, Age: age, Within: c.RecoverWithin,
		}
	}
	differences := rented.Differences(c.Order)
	if len(differences) > 0 && (rented.Recovered || differences[0].Harmful) {
		return false, &failure.Error{
			Kind: failure.OtherArguments, Instance: rented.Instance, Differences: differences,
		}
	}
	return false, nil
}

// age returns the age of an instance; 0 if it is unknown.
func (c *creation) age(inst rental.Instance) time.Duration {
	age := c.manager.Client.Now().Sub(inst.CreatedAt)
	if inst.CreatedAt.IsZero() || age < -clockTolerance {
		return 0
	}
	return max(1, age)
}

// rented reports whether this creation itself most likely rented the instance: the response to an attempt was lost, and
// the instance is not older than the creation. Another run with the same key can create an instance at the same time.
func (c *creation) rented(inst rental.Instance) bool {
	older := !inst.CreatedAt.IsZero() && inst.CreatedAt.Before(c.began.Add(-time.Second)) // the API returns whole seconds
	return c.lost && !older
}

// confirm reads the instance by its id, because a replay can be the first response for the key. It returns false if the
// instance is gone. An instance that cannot be read stays as the replay describes it.
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
