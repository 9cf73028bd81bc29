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

// statusLag returns how long an unchanged status may lag behind a request.
func (m *Manager) statusLag() time.Duration {
	return min(lagIntervals*m.PollInterval, maxStatusLag)
}

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
func (r *request) mayTakeEffect(lag, requestTimeout time.Duration) bool {
	if r.err != nil && (!rental.IsDefinitive(r.err) || rental.IsInFlight(r.err)) {
		lag += requestTimeout // an attempt whose response was lost may be in flight
	}
	return !r.visible && (r.seen < lagObservations || time.Since(r.at) <= lag)
}

// nextAfterRequest returns the next action for an instance that the last request should have changed. next is the
// action without that request.
func (c *converger) nextAfterRequest(inst rental.Instance, next Action) (Action, error) {
	r := c.last
	changed := inst.Status != r.before.Status
	pending := r.mayTakeEffect(c.manager.statusLag(), c.client.RequestTimeout())
	refused := !r.visible && rental.IsConflict(r.err)
	outbid := inst.Status == rental.StatusOutbid
	switch {
	case c.State == rental.DesiredStopped && outbid && (changed || !pending && inst.DesiredState == ""):
		return ActionNone, nil // its GPU is not billed
	case rental.IsConflict(r.err) && changed && c.mayRepeat(next):
		return next, nil // the refusal was for another status
	case pending:
		return ActionWait, nil
	case inst.DesiredState == c.State && !outbid:
		return ActionWait, nil // the request has not taken effect
	case refused && c.State == rental.DesiredStopped && !inst.BillsGPU():
		return ActionNone, nil // there is nothing to stop
	case refused && c.aboveCap != nil:
		return c.repeat(next, c.refused(r.err)) // a refusal does not end the attempts to stop an instance above the cap
	case refused:
		return ActionWait, c.refused(r.err)
	case !r.visible && r.err != nil:
		return c.repeat(next, r.err)
	case c.State == rental.DesiredRunning && outbid:
		return c.repeat(next, &failure.Error{Kind: failure.OutbidAgain, Wanted: c.State, Starts: c.starts})
	}
	return ActionWait, c.failure(failure.Reverted)
}

func (c *converger) refused(err error) *failure.Error {
	return &failure.Error{Kind: failure.StateRefused, Wanted: c.State, Err: err}
}

// repeat returns next while the wait may request it again, else err.
func (c *converger) repeat(next Action, err error) (Action, error) {
	if c.mayRepeat(next) {
		return next, nil
	}
	return ActionWait, err
}

// mayRepeat reports whether the wait may request this start or stop again.
func (c *converger) mayRepeat(next Action) bool {
	if next == ActionStart {
		return c.starts < maxRequests
	}
	return c.stops < maxRequests
}
