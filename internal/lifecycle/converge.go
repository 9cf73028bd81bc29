package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

// Target is the desired state of an instance, and the limits on the way there.
type Target struct {
	State    rental.DesiredState // running or stopped
	OnOutbid OutbidPolicy
	// MaxPriceKopH is the highest price of a start without the disk, in kopecks per hour. Zero means no cap.
	MaxPriceKopH int64
	// OfferID is the offer that an existing instance was rented from, for the price of a new bid; empty if it is unknown.
	OfferID string
	// Template is the slug of the template if the API does not return it; empty if it is unknown.
	Template string
	// Ready are the conditions of a running instance, in addition to its addresses.
	Ready Conditions
	// CreatedAt is when an existing instance was created, by the clock of the API; zero if that is unknown. The API may
	// not find a new instance at first.
	CreatedAt time.Time
	// Progress is called with each observation of an instance that has not reached the desired state. It can be nil.
	Progress func(inst rental.Instance)
}

// Converged is the last observation of an instance, and how the wait ended.
type Converged struct {
	rental.Instance
	// NoSSH is true for a running instance without the SSH address that its template provides.
	NoSSH bool
}

// Converge moves an instance to its desired state and waits until it is there; a running instance must also be ready to
// use. inst is the latest observation of the instance. Converge returns the last observation, even with an error.
func (m *Manager) Converge(ctx context.Context, inst rental.Instance, target Target) (Converged, error) {
	return m.converge(ctx, &converger{manager: m, target: target}, inst)
}

// ConvergeRented is Converge for an instance that Rent or Find returned. It compares the instance with its order, and
// destroys one that costs too much or is not as ordered, or stops it if this creation may not have rented it. The error
// is then Rejected.
func (m *Manager) ConvergeRented(ctx context.Context, rented Rented, target Target) (Converged, error) {
	if target.CreatedAt = rented.CreatedAt; !rented.Recovered || target.CreatedAt.IsZero() {
		target.CreatedAt = m.Client.Now()
	}
	c := &converger{manager: m, target: target, rented: &rented}
	if offer := rented.Candidate; offer != nil {
		c.target.OfferID, c.allowedKopH = offer.Offer.ID, offer.KopH
	}
	return m.converge(ctx, c, rented.Instance)
}

func (m *Manager) converge(ctx context.Context, c *converger, inst rental.Instance) (Converged, error) {
	err := c.wait(ctx, &inst)
	if err != nil && ctx.Err() != nil {
		err = c.afterInterruption(ctx, &inst, err)
	}
	if c.tooExpensive != nil {
		err = c.afterStop(err)
	}
	return Converged{Instance: inst, NoSSH: c.noSSH}, err
}

// converger moves one instance to a state.
type converger struct {
	target  Target
	manager *Manager
	rented  *Rented // nil for an instance that existed before

	seen   bool     // a request has found the instance
	last   *request // the last start or stop; nil if none was requested
	starts int      // requested starts
	stops  int      // requested stops
	// allowedKopH is the price that the burn limit has allowed.
	allowedKopH int64
	// tooExpensive is why a start cost more than a limit, so that the instance is being stopped.
	tooExpensive error
	// readError is the error of the last read, or why the price could not be compared with the limits after it; nil if
	// both succeeded.
	readError error

	readiness
}

// afterStop returns the error for an instance that was started above a limit. err is that of the wait for the stop.
func (c *converger) afterStop(err error) error {
	_, missing := errors.AsType[Missing](err)
	_, failed := errors.AsType[NeedsReplacement](err)
	if err == nil || missing || failed || errors.Is(err, errStopped) {
		return StoppedAgain{c.tooExpensive}
	}
	return StillRunning{Reason: c.tooExpensive, Err: err}
}

// errStopped ends a wait whose instance was started above a limit and whose stop the API has accepted.
var errStopped = errors.New("stopped")

// wait returns when the instance has reached the desired state, or cannot reach it.
func (c *converger) wait(ctx context.Context, inst *rental.Instance) error {
	if done, err := c.advance(ctx, inst); done || err != nil {
		return err
	}
	check := func(ctx context.Context, seen rental.Instance, err error) (bool, error) {
		switch {
		case err == nil:
			c.readError, *inst, c.seen = nil, seen, true
			return c.advance(ctx, inst)
		case rental.IsNotFound(err) && !c.mayAppear():
			return false, Missing{}
		case (!rental.IsDefinitive(err) || rental.IsNotFound(err)) && ctx.Err() == nil:
			c.readError = err // the instance is billed whether or not the API responds now
			return false, nil
		}
		return false, err
	}
	return c.manager.wait(ctx, inst.ID, false, c.pause(), check)
}

// afterInterruption returns the error of a wait that ended with ctx. It checks the price once more, because nothing
// observes the instance again: the interruption can have prevented that, and the responses after a start can contain
// the old price.
func (c *converger) afterInterruption(ctx context.Context, inst *rental.Instance, err error) error {
	_, rejected := errors.AsType[Rejected](err)
	if rejected || c.tooExpensive != nil {
		return err
	}
	detached, stop := rental.Detached(ctx)
	defer stop()
	if c.rented != nil && inst.Status == "" { // the response could be read only in part
		if seen, readErr := c.manager.Client.GetInstance(detached, inst.ID); readErr == nil {
			*inst = seen
		}
	}
	if reason := c.checkTerms(detached, *inst); reason != nil {
		return c.remove(detached, inst, reason)
	}
	if c.starts > 0 && c.last != nil && c.isLimited() {
		if seen, readErr := c.manager.Client.GetInstance(detached, inst.ID); readErr == nil {
			*inst = seen
			c.last.observe(seen)
			if stopErr := c.checkPriceAfterStart(detached, inst); c.tooExpensive != nil {
				return cmp.Or(stopErr, err)
			}
		}
	}
	if isLimit(err) {
		return err
	}
	return NotReady{Err: ctx.Err(), LastRead: c.lastReadError(), Unmet: c.unmet}
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
	if reason := c.checkTerms(ctx, *inst); reason != nil {
		return false, c.remove(ctx, inst, reason)
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
	if c.target.Progress != nil {
		c.target.Progress(*inst)
	}
	switch next {
	case ActionStart:
		return false, c.start(ctx, inst)
	case ActionStop:
		return false, c.stop(ctx, inst)
	case ActionReplace:
		return false, NeedsReplacement{}
	case ActionMissing:
		return false, Missing{}
	case ActionNone, ActionWait:
	}
	return false, nil
}

// next returns the next action, or an error if no action helps.
func (c *converger) next(inst rental.Instance) (Action, error) {
	next := NextAction(inst, c.target.State, c.target.OnOutbid)
	if c.last == nil || next != ActionStart && next != ActionStop {
		return next, nil
	}
	return c.nextAfterRequest(inst, next)
}

func (c *converger) stop(ctx context.Context, inst *rental.Instance) error {
	c.stops++
	return c.send(ctx, inst, c.manager.Client.StopInstance)
}

// send requests a start or stop. After a refusal because of the status, or if the response was lost, the next
// observations decide, because an earlier attempt may have succeeded.
func (c *converger) send(
	ctx context.Context, inst *rental.Instance, post func(context.Context, string) (rental.Instance, error),
) error {
	before := *inst
	response, err := post(ctx, inst.ID)
	if _, notSent := errors.AsType[rental.NotSent](err); notSent {
		return err
	}
	switch {
	case err == nil:
		*inst = response
	case rental.IsNotFound(err) && !c.mayAppear():
		return Missing{}
	case rental.IsDefinitive(err) && !rental.IsConflict(err) && !rental.IsInFlight(err) && !rental.IsNotFound(err):
		return err
	}
	c.last = &request{wanted: c.target.State, before: before, at: time.Now(), err: err}
	return nil
}

// mayAppear reports whether a 404 can mean that the API does not find the new instance yet.
func (c *converger) mayAppear() bool {
	return !c.seen && c.manager.Client.LagLeft(c.target.CreatedAt, rental.NewInstanceLag) > 0
}

// lastReadError returns the error of the last read, or of a start or stop with an unknown outcome.
func (c *converger) lastReadError() error {
	if c.readError == nil && c.last != nil && !c.last.visible {
		return c.last.err
	}
	return c.readError
}
