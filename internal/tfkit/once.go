package tfkit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Creations keeps the creations of one kind in this process apart, so that none takes the work of another for its own. Its zero value is
// ready.
type Creations struct {
	mu      sync.Mutex
	created map[createdID]bool // a listing may not contain them yet
}

// createdID is unique in the process, where different services may have the same ids.
type createdID struct{ service, id string }

// Once describes the creation of something for which the service takes no idempotency key, so that repeating a request whose answer was
// lost could create a second one.
type Once[T any] struct {
	// InFlight is how long a request whose answer was lost may still be carried out.
	InFlight time.Duration
	// Creations are those of this kind.
	Creations *Creations
	// Service is the base URL.
	Service string
	// List returns what there is of it.
	List func(context.Context) ([]T, error)
	// Create makes one. Beside an error it returns what could be read of the answer.
	Create func(context.Context) (T, error)
	// ID is the identity of one; empty for none.
	ID func(T) string
	// Same says whether one may be what Create was to make.
	Same func(T) bool
	// Discard, if any, removes one whose answer was lost, because it is of no use without that answer. Nil: it is taken as it is.
	Discard func(context.Context, T) error
}

const (
	// maxCreateTries bounds how often a creation is tried whose answers are lost.
	maxCreateTries = 3
	// maxListTries bounds how often a listing or a removal is tried: giving up would leave behind what no state contains.
	maxListTries = 5
	// listings is how many listings are read over InFlight before a creation counts as not carried out: each pause is twice the one before.
	listings = 5
)

// Run creates exactly one. When an answer is lost it reads listings until one contains what was not there before and has the right shape,
// for as long as the request may be in flight; only then is the creation tried again. Once it has begun to create, the end of ctx no longer
// cuts it off (see Detach): only a further try is not made any more.
func (o Once[T]) Run(ctx context.Context) (T, error) {
	o.Creations.mu.Lock()
	defer o.Creations.mu.Unlock()
	var none T
	before, err := o.List(ctx)
	if err == nil {
		err = ctx.Err() // of a run that was interrupted while it waited nothing is created any more
	}
	if err != nil {
		return none, err
	}
	interrupted := ctx.Err
	ctx, stop := Detach(ctx)
	defer stop()
	attempt := onceAttempt[T]{Once: o, known: map[string]bool{}}
	for of := range o.Creations.created {
		if of.service == o.Service {
			attempt.known[of.id] = true
		}
	}
	for _, item := range before {
		attempt.known[o.ID(item)] = true
	}
	for try := 1; ; try++ {
		made, err := attempt.create(ctx)
		if err == nil || attempt.over || try == maxCreateTries || interrupted() != nil || ctx.Err() != nil {
			return made, err
		}
	}
}

// onceAttempt is the state of one Run.
type onceAttempt[T any] struct {
	Once[T]
	known map[string]bool // ids of what is not the work of this creation
	lost  bool            // an answer was lost
	over  bool            // the error is final
}

// create makes one request and finds out what came of it.
func (a *onceAttempt[T]) create(ctx context.Context) (T, error) {
	var none T
	made, err := a.Create(ctx)
	if err == nil {
		a.keep(made)
		a.discardEarlier(ctx)
		return made, nil
	}
	found := []T{made} // what the service says it made, although the rest of its answer cannot be read
	if a.ID(made) == "" {
		refused := !rental.IsOutcomeUnknown(err) && !rental.IsInFlight(err)
		if a.over = refused; refused && !a.lost {
			return none, err
		}
		var listErr error
		if found, listErr = a.find(ctx); listErr != nil {
			a.over = true
			return none, errors.Join(err, fmt.Errorf("reading the list to find out whether it was created failed too: %w", listErr))
		}
	}
	a.lost = true
	if len(found) > 0 && a.Discard == nil {
		a.keep(found[0])
		return found[0], nil
	}
	if discardErr := a.discardAll(ctx, found); discardErr != nil {
		a.over = true
		return none, errors.Join(err, discardErr)
	}
	return none, err
}

// keep records that a thing is the work of this process, for the creations that follow.
func (a *onceAttempt[T]) keep(made T) {
	if a.Creations.created == nil {
		a.Creations.created = map[createdID]bool{}
	}
	a.Creations.created[createdID{a.Service, a.ID(made)}] = true
	a.known[a.ID(made)] = true
}

// find reads listings until one contains the work of this creation, for as long as a request may be in flight.
func (a *onceAttempt[T]) find(ctx context.Context) ([]T, error) {
	pause := a.InFlight / (1<<(listings-1) - 1)
	for listing := 1; ; listing++ {
		found, err := a.list(ctx)
		if err != nil || len(found) > 0 || listing == listings || !sleep(ctx, pause) {
			return found, err
		}
		pause *= 2
	}
}

// list returns what may be the work of this creation.
func (a *onceAttempt[T]) list(ctx context.Context) ([]T, error) {
	var all, found []T
	err := insist(ctx, func() (err error) {
		all, err = a.List(ctx)
		return err
	})
	for _, item := range all {
		if !a.known[a.ID(item)] && a.Same(item) {
			found = append(found, item)
		}
	}
	return found, err
}

// discardEarlier removes what an earlier request made whose answer was lost, and which no listing contained until now. That it fails is no
// reason to lose what was made now.
func (a *onceAttempt[T]) discardEarlier(ctx context.Context) {
	if !a.lost || a.Discard == nil {
		return
	}
	if found, err := a.list(ctx); err == nil {
		_ = a.discardAll(ctx, found) //nolint:errcheck // see above
	}
}

func (a *onceAttempt[T]) discardAll(ctx context.Context, items []T) error {
	var problems []error
	for _, item := range items {
		a.known[a.ID(item)] = true
		err := insist(ctx, func() error { return a.Discard(ctx, item) })
		if err != nil && !rental.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("%s was created, but removing it failed: %w", OneLine(a.ID(item)), err))
		}
	}
	return errors.Join(problems...)
}

// insist does something again when it fails, maxListTries times at most. That something is not there is final.
func insist(ctx context.Context, do func() error) error {
	err := do()
	for try := 1; err != nil && !rental.IsNotFound(err) && try < maxListTries && ctx.Err() == nil; try++ {
		err = do()
	}
	return err
}

// sleep is false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
