package tfkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/unicode/norm"

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
	// Matches reports whether an object may be the one that Create created. It is called only with objects that did not
	// exist before. The API may spell what was sent otherwise, and add to it: see SameText and ContainsText. Another
	// client may have created an object in the same moment, so what was sent must not be missing.
	Matches func(T) bool
	// Discard deletes an object whose response was lost, because the object is useless without the response. If
	// Discard is nil, Run returns the object. If several objects match, Run does neither: another run may use one.
	Discard func(context.Context, T) error

	known map[string]bool // ids of objects that this creation did not create
	lost  bool            // a response was lost
}

// SameText reports whether two texts are equal except for white space, letter case and Unicode normalization.
func SameText(one, other string) bool { return bare(one) == bare(other) }

// ContainsText reports whether a text of a response contains the one that was sent, as SameText compares them. A text
// that is added to none is another one.
func ContainsText(text, sent string) bool {
	return strings.Contains(bare(text), bare(sent)) && (bare(sent) != "" || bare(text) == "")
}

// bare returns a text as SameText compares it.
func bare(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(norm.NFC.String(text)), ""))
}

const (
	// maxCreateAttempts bounds the creation requests if their responses are lost.
	maxCreateAttempts = 3
	// createListings is how many lists are read during InFlight before the request is considered failed.
	createListings = 5
)

// Run creates one object. After a lost response it reads lists until one contains a new object that matches, or the
// request can no longer be in flight. Only then does it repeat the creation.
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
	o.known = map[string]bool{}
	for of := range o.Creations.created {
		if of.service == o.Service {
			o.known[of.id] = true
		}
	}
	for _, item := range before {
		o.known[o.ID(item)] = true
	}
	for try := 1; ; try++ {
		made, retry, err := o.create(ctx)
		if !retry || try == maxCreateAttempts || ctx.Err() != nil {
			return made, err
		}
	}
}

// create sends one request and determines whether it created an object. With an error, retry reports whether another
// request may follow.
func (o *CreateOnce[T]) create(ctx context.Context) (created T, retry bool, err error) {
	var none T
	made, err := o.Create(ctx)
	if err == nil {
		o.keep(made)
		o.discardEarlier(ctx)
		return made, false, nil
	}
	found := []T{made} // only its id could be read from the response
	retry = o.ID(made) != "" || rental.IsOutcomeUnknown(err) || rental.IsInFlight(err)
	if !retry && !o.lost {
		return none, false, err
	}
	if o.ID(made) == "" {
		var listErr error
		if found, listErr = o.find(ctx); listErr != nil {
			return none, false, errors.Join(err,
				fmt.Errorf("the list that would show whether it was created could not be read either: %w", listErr))
		}
	}
	o.lost = true
	switch {
	case len(found) == 0:
	case len(found) > 1:
		return none, false, errors.Join(err, o.ambiguous(found))
	case o.Discard == nil:
		o.keep(found[0])
		return found[0], false, nil
	default:
		if discardErr := o.discard(ctx, found[0]); discardErr != nil {
			return none, false, errors.Join(err, discardErr)
		}
	}
	return none, retry, err
}

// ambiguous describes objects of which this creation has created one at most. Another run may use the others.
func (o *CreateOnce[T]) ambiguous(found []T) error {
	var ids []string
	for _, item := range found {
		ids = append(ids, o.ID(item))
	}
	return fmt.Errorf("one of %s may have been created, and another run may use the others: import or delete what is "+
		"not needed, then apply again", strings.Join(ids, ", "))
}

// keep records an object of this process for the creations that follow.
func (o *CreateOnce[T]) keep(made T) {
	if o.Creations.created == nil {
		o.Creations.created = map[createdID]bool{}
	}
	o.Creations.created[createdID{o.Service, o.ID(made)}] = true
	o.known[o.ID(made)] = true
}

// find reads lists until one contains an object that matches, or no request can be in flight anymore.
func (o *CreateOnce[T]) find(ctx context.Context) ([]T, error) {
	pauses := backoff.Exponential{First: o.InFlight / (1<<(createListings-1) - 1)}
	for n := range createListings {
		found, err := o.list(ctx)
		if err != nil || len(found) > 0 || n == createListings-1 || backoff.Sleep(ctx, pauses.Pause(n)) != nil {
			return found, err
		}
	}
	return nil, nil
}

// list returns the objects that this creation may have created.
func (o *CreateOnce[T]) list(ctx context.Context) ([]T, error) {
	var found []T
	all, err := o.List(ctx)
	for _, item := range all {
		if !o.known[o.ID(item)] && o.Matches(item) {
			found = append(found, item)
		}
	}
	return found, err
}

// discardEarlier deletes the object of an earlier request whose response was lost, if a list contains that object only
// now. It ignores errors, because the new object is valid in any case.
func (o *CreateOnce[T]) discardEarlier(ctx context.Context) {
	if !o.lost || o.Discard == nil {
		return
	}
	if found, err := o.list(ctx); err == nil && len(found) == 1 {
		_ = o.discard(ctx, found[0]) //nolint:errcheck // the new object is valid
	}
}

func (o *CreateOnce[T]) discard(ctx context.Context, item T) error {
	o.known[o.ID(item)] = true
	ctx, stop := rental.Detached(ctx)
	defer stop()
	if err := o.Discard(ctx, item); err != nil && !rental.IsNotFound(err) {
		return fmt.Errorf("%s was created, but deleting it failed: %w", o.ID(item), err)
	}
	return nil
}
