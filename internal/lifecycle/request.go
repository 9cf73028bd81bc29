package lifecycle

import (
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
)

const (
	// maxStatusLag is how long the status may stay unchanged after the API accepted a start or stop.
	maxStatusLag = 30 * time.Second
	// lagIntervals limits it to a number of poll intervals: a short interval means a service that responds quickly.
	lagIntervals = 30
	// lagObservations is the minimum number of observations of an unchanged status.
	lagObservations = 5
	// maxRequests is the maximum number of starts, and of stops, in one wait: an instance that is outbid after every start
	// must not be started forever.
	maxRequests = 3
)

// request is the last start, stop or destruction that was requested.
type request struct {
	wanted  rental.DesiredState
	before  rental.Instance // as it was before the request
	at      time.Time       // when the request ended
	err     error           // a refusal, or an unknown outcome; nil if it was accepted
	seen    int             // observations after the request
	visible bool            // an observation after the request shows its effect
}

// observe records an observation. The response to the request itself does not count as one, because the next read may
// return an older status.
func (r *request) observe(inst rental.Instance) {
	r.seen++
	if inst.Status != r.before.Status && (r.wanted == rental.DesiredRunning || inst.Status != rental.StatusRunning) {
		r.visible = true
	}
}

// mayTakeEffect reports whether the request may still change the observed status.
func (r *request) mayTakeEffect(m *Manager) bool {
	lag := min(lagIntervals*m.PollInterval, maxStatusLag)
	if r.err != nil && (!rental.IsDefinitive(r.err) || rental.IsInFlight(r.err)) {
		lag += m.Client.RequestTimeout() // an attempt whose response was lost may be in flight
	}
	return !r.visible && (r.seen < lagObservations || time.Since(r.at) <= lag)
}

// nextAfterRequest returns the next action for an instance that the last request should have changed. next is the
// action without that request.
func (c *converger) nextAfterRequest(inst rental.Instance, next Action) (Action, error) {
	r := c.last
	changed := inst.Status != r.before.Status
	pending := r.mayTakeEffect(c.manager)
	refused := !r.visible && rental.IsConflict(r.err)
	mayRepeat := next == ActionStart && c.starts < maxRequests || next == ActionStop && c.stops < maxRequests
	err := r.err
	outbid := inst.Status == rental.StatusOutbid
	ran := c.State == rental.DesiredRunning && r.before.DesiredState == c.State // so that it proves no start
	switch {
	case c.State == rental.DesiredStopped && outbid && changed && inst.DesiredState == rental.DesiredRunning && mayRepeat:
		return next, nil // it was outbid before the stop took effect, and would run again
	case c.State == rental.DesiredStopped && outbid && (changed || !pending && inst.DesiredState == ""):
		return ActionNone, nil // its GPU is not billed
	case rental.IsConflict(r.err) && changed && mayRepeat:
		return next, nil // the refusal was for another status
	case pending:
		return ActionWait, nil
	case inst.DesiredState == c.State && !outbid && !(refused && ran):
		return ActionWait, nil // the request has not taken effect
	case refused && c.State == rental.DesiredStopped && !inst.BillsGPU():
		return ActionNone, nil // there is nothing to stop
	case refused:
		err = &failure.Error{Kind: failure.StateRefused, Wanted: c.State, Err: r.err}
		mayRepeat = mayRepeat && c.aboveCap != nil // an instance above the cap has to be stopped
	case !r.visible && r.err != nil:
	case c.State == rental.DesiredRunning && outbid:
		err = &failure.Error{Kind: failure.OutbidAgain, Wanted: c.State, Starts: c.starts}
	default:
		return ActionWait, c.failure(failure.Reverted)
	}
	if mayRepeat {
		return next, nil
	}
	return ActionWait, err
}
