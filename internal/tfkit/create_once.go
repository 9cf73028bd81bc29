package tfkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Creations separates concurrent creations of one kind in this process, so that no creation returns the object of
// another. The zero value is ready for use.
type Creations struct {
	mu      sync.Mutex
	created map[createdID]bool // objects that a list may not contain yet
}

// createdID is unique in the process, where different services may have the same ids.
type createdID struct{ service, id string }

// CreateOnce creates an object of a kind for which the API accepts no idempotency key. After a lost response, a retry
// could create a second object, so CreateOnce first searches the list of objects.
type CreateOnce[T any] struct {
	// InFlight is how long the API may still process a request whose response was lost.
	InFlight time.Duration
	// Creations are those of this kind.
	Creations *Creations
	// Service is the base URL.
	Service string
	// List returns all objects of this kind.
	List func(context.Context) ([]T, error)
	// Create creates one. With an error it returns the part of the response that could be read.
	Create func(context.Context) (T, error)
	// ID returns the id of an object; empty for none.
	ID func(T) string
	// Matches reports whether an object may be the one that Create created.
	Matches func(T) bool
	// Discard deletes an object whose response was lost, because the object is useless without the response. If
	// Discard is nil, Run returns the object. If several objects match, Run does neither: another run may use one.
	Discard func(context.Context, T) error
}

const (
	// maxCreateAttempts bounds the creation requests if their responses are lost.
	maxCreateAttempts = 3
	// createListings is how many lists are read during InFlight before the request is considered failed.
	createListings = 5
)

// Run creates one object. After a lost response it reads lists until one contains a new object that matches, or the
// request can no longer be in flight. Only then does it repeat the creation. Once the first request is sent, the end of
// ctx only prevents further attempts: see rental.Detached.
func (o CreateOnce[T]) Run(ctx context.Context) (T, error) {
	o.Creations.mu.Lock()
	defer o.Creations.mu.Unlock()
	var none T
	before, err := o.List(ctx)
	if err == nil {
		err = ctx.Err() // the run was interrupted while it waited
	}
	if err != nil {
		return none, err
	}
	interrupted := ctx.Err
	ctx, stop := rental.Detached(ctx, rental.CancelGrace)
	defer stop()
	attempt := createAttempt[T]{once: &o, known: map[string]bool{}}
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
		if err == nil || attempt.final || try == maxCreateAttempts || interrupted() != nil || ctx.Err() != nil {
			return made, err
		}
	}
}

// createAttempt is the state of one Run.
type createAttempt[T any] struct {
	once  *CreateOnce[T]
	known map[string]bool // ids of objects that this creation did not create
	lost  bool            // a response was lost
	final bool            // the error is final
}

// create sends one request and determines whether it created an object.
func (a *createAttempt[T]) create(ctx context.Context) (T, error) {
	var none T
	made, err := a.once.Create(ctx)
	if err == nil {
		a.keep(made)
		a.discardEarlier(ctx)
		return made, nil
	}
	found := []T{made} // only its id could be read from the response
	if a.once.ID(made) == "" {
		refused := !rental.IsOutcomeUnknown(err) && !rental.IsInFlight(err)
		if a.final = refused; refused && !a.lost {
			return none, err
		}
		var listErr error
		if found, listErr = a.find(ctx); listErr != nil {
			a.final = true
			return none, errors.Join(
				err,
				fmt.Errorf("the list that would show whether it was created could not be read either: %w", listErr),
			)
		}
	}
	a.lost = true
	if len(found) > 1 {
		a.final = true
		return none, errors.Join(err, a.ambiguous(found))
	}
	if len(found) > 0 && a.once.Discard == nil {
		a.keep(found[0])
		return found[0], nil
	}
	if discardErr := a.discardAll(ctx, found); discardErr != nil {
		a.final = true
		return none, errors.Join(err, discardErr)
	}
	return none, err
}

// ambiguous describes objects of which this creation has created one at most. Another run may use the others.
func (a *createAttempt[T]) ambiguous(found []T) error {
	var ids []string
	for _, item := range found {
		ids = append(ids, a.once.ID(item))
	}
	return fmt.Errorf("one of %s may have been created, and another run may use the others: import or delete what is "+
		"not needed, then apply again", strings.Join(ids, ", "))
}

// keep records an object of this process for the creations that follow.
func (a *createAttempt[T]) keep(made T) {
	if a.once.Creations.created == nil {
		a.once.Creations.created = map[createdID]bool{}
	}
	a.once.Creations.created[createdID{a.once.Service, a.once.ID(made)}] = true
	a.known[a.once.ID(made)] = true
}

// find reads lists until one contains an object that matches, or no request can be in flight anymore.
func (a *createAttempt[T]) find(ctx context.Context) ([]T, error) {
	pauses := backoff.Exponential{First: a.once.InFlight / (1<<(createListings-1) - 1)}
	for n := range createListings {
		found, err := a.list(ctx)
		if err != nil || len(found) > 0 || n == createListings-1 || backoff.Sleep(ctx, pauses.Pause(n)) != nil {
			return found, err
		}
	}
	return nil, nil
}

// list returns the objects that this creation may have created.
func (a *createAttempt[T]) list(ctx context.Context) ([]T, error) {
	var found []T
	all, err := a.once.List(ctx)
	for _, item := range all {
		if !a.known[a.once.ID(item)] && a.once.Matches(item) {
			found = append(found, item)
		}
	}
	return found, err
}

// discardEarlier deletes the object of an earlier request whose response was lost, if a list contains that object only
// now. It ignores errors, because the new object is valid in any case.
func (a *createAttempt[T]) discardEarlier(ctx context.Context) {
	if !a.lost || a.once.Discard == nil {
		return
	}
	if found, err := a.list(ctx); err == nil && len(found) == 1 {
		_ = a.discardAll(ctx, found) //nolint:errcheck // the new object is valid
	}
}

func (a *createAttempt[T]) discardAll(ctx context.Context, items []T) error {
	var problems []error
	for _, item := range items {
		a.known[a.once.ID(item)] = true
		if err := a.once.Discard(ctx, item); err != nil && !rental.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("%s was created, but deleting it failed: %w", a.once.ID(item), err))
		}
	}
	return errors.Join(problems...)
}
