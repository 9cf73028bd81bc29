package tfkit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Once describes the creation of something for which the service takes no
// idempotency key, so that repeating a request whose answer was lost could
// create a second one.
type Once[T any] struct {
	// Patience is how long a request that took too long may still be carried out.
	Patience time.Duration
	// Alone keeps the creations of one kind in this process apart, so that none
	// takes the work of another for its own.
	Alone *sync.Mutex
	// List returns what there is of it.
	List func(context.Context) ([]T, error)
	// Create makes one.
	Create func(context.Context) (T, error)
	// ID is the identity of one.
	ID func(T) string
	// Same says whether one has what Create was to give it.
	Same func(T) bool
	// Discard, if any, removes one that was made by a request whose answer was
	// lost, because it is of no use without that answer. Nil: it is taken as it is.
	Discard func(context.Context, T) error
}

const (
	// maxCreateTries bounds how often a creation is tried whose answers are lost.
	maxCreateTries = 3
	// maxLooks bounds how often one tries to look whether it was made, and to
	// remove it: giving up would leave behind what no state knows.
	maxLooks = 5
)

// Run creates exactly one. When an answer is lost it looks at what is there now
// and was not before: if that has the right shape, it was made after all. Once it
// has begun to create, the end of ctx no longer cuts it off (see Detach): only a
// further try is not made any more.
func (o Once[T]) Run(ctx context.Context) (T, error) {
	o.Alone.Lock()
	defer o.Alone.Unlock()
	var none T
	before, err := o.List(ctx)
	if err == nil {
		err = ctx.Err() // of a run that was interrupted in its turn nothing is created any more
	}
	if err != nil {
		return none, err
	}
	interrupted := ctx.Err
	ctx, stop := Detach(ctx)
	defer stop()
	known := make(map[string]bool, len(before))
	for _, item := range before {
		known[o.ID(item)] = true
	}
	for try := 1; ; try++ {
		made, err := o.Create(ctx)
		if err == nil || !rental.IsOutcomeUnknown(err) || ctx.Err() != nil {
			return made, err
		}
		found, ok, lookErr := o.look(ctx, known)
		if lookErr == nil && !ok && rental.IsOverdue(err) && sleep(ctx, o.Patience) {
			found, ok, lookErr = o.look(ctx, known)
		}
		if lookErr != nil {
			return none, errors.Join(err, fmt.Errorf("looking whether it was made failed too: %w", lookErr))
		}
		if ok && o.Discard == nil {
			return found, nil
		}
		if ok {
			if discardErr := o.discard(ctx, found); discardErr != nil {
				return none, errors.Join(err, fmt.Errorf("%s was made, but removing it failed: %w", o.ID(found), discardErr))
			}
		}
		if try == maxCreateTries || interrupted() != nil {
			return none, err
		}
	}
}

func (o Once[T]) look(ctx context.Context, known map[string]bool) (found T, ok bool, err error) {
	var now []T
	err = insist(ctx, func() (err error) {
		now, err = o.List(ctx)
		return err
	})
	if err != nil {
		return found, false, err
	}
	for _, item := range now {
		if !known[o.ID(item)] && o.Same(item) {
			return item, true, nil
		}
	}
	return found, false, nil
}

func (o Once[T]) discard(ctx context.Context, item T) error {
	return insist(ctx, func() error {
		err := o.Discard(ctx, item)
		if rental.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// insist does something again when it fails, maxLooks times at most.
func insist(ctx context.Context, do func() error) error {
	err := do()
	for try := 1; err != nil && try < maxLooks && ctx.Err() == nil; try++ {
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
