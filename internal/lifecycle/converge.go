package lifecycle

import (
	"context"
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// Target is the desired state of an instance, with the limits and callbacks of the way there.
type Target struct {
	State    rental.DesiredState // running or stopped
	OnOutbid OutbidPolicy
	// MaxPriceKopH is the highest price of a start without the disk, in kopecks per hour; 0 for no cap.
	MaxPriceKopH int64
	// OfferID is the offer that the instance was rented from, for the price of a new bid; empty if it is unknown.
	OfferID string
	// Template is the slug of the template if the API does not return it; empty if it is unknown.
	Template string
	// Ready are the conditions of a running instance, in addition to its addresses.
	Ready Conditions
	// CreatedAt is when the instance was created, by the clock of the API; zero if that is unknown. The API may not find a
	// new instance at first.
	CreatedAt time.Time

	// Hold is called before each start with the price of the instance afterwards, as far as it is known. An error ends the
	// wait and is returned unchanged. A nil Hold allows every start.
	Hold spending.HoldFunc
	// Observed is called with an instance that has not reached the desired state; nil for nothing.
	Observed func(inst rental.Instance)
}

// Outcome is how a successful wait ended.
type Outcome struct {
	// Requested reports whether a start or stop was requested.
	Requested bool
	// NoSSH is true for a running instance without the SSH address that its template provides.
	NoSSH bool
}

// Converge moves an instance to its desired state and waits until it is there; a running instance must also be ready to
// use. inst is the latest observation of the instance. Converge returns the last observation, even with an error.
// Errors are of type *failure.Error or *rental.Error.
func (m *Manager) Converge(ctx context.Context, inst rental.Instance, target Target) (rental.Instance, Outcome, error) {
	c := &converger{manager: m, Target: target}
	inst, err := c.run(ctx, inst)
	return inst, c.outcome(), err
}

// converger moves one instance to a state.
type converger struct {
	Target
	manager *Manager

	// accept is called with every observation of a new instance. An error means that the instance must not run.
	accept   func(ctx context.Context, inst rental.Instance) *failure.Error
	rejected *failure.Error // the error of accept

	seen     bool           // a request has found the instance
	last     *request       // the last start or stop; nil if none was requested
	starts   int            // requested starts
	heldKopH int64          // the price for which Hold allowed the instance
	stops    int            // requested stops
	aboveCap *failure.Error // a start cost more than a limit, so the instance is being stopped
	// readError is the error of the last read, or why the price could not be compared with the limits after it; nil if
	// both succeeded.
	readError error

	readiness
}

func (c *converger) outcome() Outcome { return Outcome{Requested: c.last != nil, NoSSH: c.noSSH} }

func (c *converger) run(ctx context.Context, inst rental.Instance) (rental.Instance, error) {
	inst, err := c.wait(ctx, inst)
	if err != nil && ctx.Err() != nil {
		err = c.checkAfterInterruption(ctx, &inst, err)
	}
	priced := c.aboveCap != nil || failure.KindOf(err) == failure.AboveLimit || c.rejected != nil
	if err != nil && ctx.Err() != nil && !priced {
		err = &failure.Error{
			Kind: failure.Interrupted, Wanted: c.State, Err: ctx.Err(), Last: c.lastReadError(), Missing: c.missing,
		}
	}
	if c.aboveCap == nil {
		return inst, err
	}
	kind := failure.KindOf(err)
	if err != nil && !errors.Is(err, c.aboveCap) && kind != failure.Gone && kind != failure.NeedsReplacement {
		c.aboveCap.Removal, c.aboveCap.Err = failure.NotRemoved, err
	}
	return inst, c.aboveCap
}

// wait returns when the instance has reached the desired state, or cannot reach it.
func (c *converger) wait(ctx context.Context, inst rental.Instance) (rental.Instance, error) {
	if done, err := c.advance(ctx, &inst); done || err != nil {
		return inst, err
	}
	check := func(ctx context.Context, seen rental.Instance, err error) (bool, error) {
		switch {
		case err == nil:
			c.readError, inst, c.seen = nil, seen, true
			return c.advance(ctx, &inst)
		case rental.IsNotFound(err) && !c.mayAppear():
			return false, c.failure(failure.Gone)
		case (!rental.IsDefinitive(err) || rental.IsNotFound(err)) && ctx.Err() == nil:
			c.readError = err // the instance is billed whether or not the API responds now
			return false, nil
		}
		return false, err
	}
	err := c.manager.wait(ctx, inst.ID, false, c.pause(), check)
	return inst, err
}

// pause returns growing pauses, which begin again after each start or stop.
func (c *converger) pause() func(attempt int) time.Duration {
	pauses := c.manager.pauses()
	first, last := 0, c.last
	return func(attempt int) time.Duration {
		if c.last != last {
			first, last = attempt, c.last
		}
		return pauses.Pause(attempt - first)
	}
}

// advance takes the next action. done is true if no action is left.
func (c *converger) advance(ctx context.Context, inst *rental.Instance) (done bool, err error) {
	if c.last != nil {
		c.last.observe(*inst)
	}
	if c.accept != nil {
		if c.rejected = c.accept(ctx, *inst); c.rejected != nil {
			return false, c.rejected
		}
	}
	if err := c.checkPriceAfterStart(ctx, inst); err != nil {
		return false, err
	}
	next, err := c.next(*inst)
	if err != nil {
		return false, err
	}
	if next == ActionNone && c.readError == nil && c.isReady(ctx, *inst) {
		return true, nil
	}
	if c.Observed != nil {
		c.Observed(*inst)
	}
	switch next {
	case ActionStart:
		return false, c.start(ctx, inst)
	case ActionStop:
		return false, c.stop(ctx, inst)
	case ActionReplace:
		return false, c.failure(failure.NeedsReplacement)
	case ActionGone:
		return false, c.failure(failure.Gone)
	case ActionNone, ActionWait:
	}
	return false, nil
}

// next returns the next action, or an error if no action helps.
func (c *converger) next(inst rental.Instance) (Action, error) {
	next := NextAction(inst, c.State, c.OnOutbid)
	if c.last == nil || next != ActionStart && next != ActionStop {
		return next, nil
	}
	return c.nextAfterRequest(inst, next)
}

func (c *converger) stop(ctx context.Context, inst *rental.Instance) error {
	c.stops++
	return c.send(ctx, inst, c.manager.Client.StopInstance)
}

// send requests a start or stop. After a refusal because of the status, or a lost response, the next observations
// decide, because an earlier attempt may have succeeded.
func (c *converger) send(
	ctx context.Context, inst *rental.Instance, post func(context.Context, string) (rental.Instance, error),
) error {
	before := *inst
	response, err := post(ctx, inst.ID)
	switch {
	case err == nil:
		*inst = response
	case rental.IsNotFound(err) && !c.mayAppear():
		return c.failure(failure.Gone)
	case rental.IsDefinitive(err) && !rental.IsConflict(err) && !rental.IsInFlight(err) && !rental.IsNotFound(err):
		return err
	}
	c.last = &request{wanted: c.State, before: before, at: time.Now(), err: err}
	return nil
}

// mayAppear reports whether a 404 can mean that the API does not find the new instance yet.
func (c *converger) mayAppear() bool {
	return !c.seen && c.manager.Client.LagLeft(c.CreatedAt, rental.NewInstanceLag) > 0
}

func (c *converger) failure(kind failure.Kind) *failure.Error {
	return &failure.Error{Kind: kind, Wanted: c.State}
}

// lastReadError returns the error of the last read, or of a start or stop with an unknown outcome.
func (c *converger) lastReadError() error {
	if c.readError == nil && c.last != nil && !c.last.visible {
		return c.last.err
	}
	return c.readError
}
