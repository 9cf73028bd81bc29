package lifecycle

import (
	"time"

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
// action without that request. The first row that applies decides:
//
//	wanted   observed after the request                                    next
//	-------  ------------------------------------------------------------  ------------------------------
//	stopped  outbid since the request, and would run again                 stop again
//	stopped  outbid, and will not run again                                none: its GPU is not billed
//	any      another status than the one that a conflict refused           the request again
//	any      unchanged, and the status may lag                             wait
//	any      unchanged, but heading to the wanted state                    wait
//	stopped  refused, and no GPU is billed                                 none: there is nothing to stop
//	any      refused                                                       StateRefused
//	any      unchanged after a request with an unknown outcome             the request again, then its error
//	running  outbid after the start                                        a new bid, then OutbidAgain
//	any      changed by the request, and back in its earlier status        Reverted
func (c *converger) nextAfterRequest(inst rental.Instance, next Action) (Action, error) {
	r, stops := c.last, c.target.State == rental.DesiredStopped
	changed := inst.Status != r.before.Status
	pending := r.mayTakeEffect(c.manager)
	refused := !r.visible && rental.IsConflict(r.err)
	mayRepeat := next == ActionStart && c.starts < maxRequests || next == ActionStop && c.stops < maxRequests
	outbid := inst.Status == rental.StatusOutbid
	ran := !stops && r.before.DesiredState == rental.DesiredRunning // so that it proves no start
	err := r.err
	switch {
	case stops && outbid && changed && inst.DesiredState == rental.DesiredRunning && mayRepeat:
		return next, nil
	case stops && outbid && (changed || !pending && inst.DesiredState == ""):
		return ActionNone, nil
	case rental.IsConflict(r.err) && changed && mayRepeat:
		return next, nil
	case pending:
		return ActionWait, nil
	case inst.DesiredState == c.target.State && !outbid && !(refused && ran):
		return ActionWait, nil
	case refused && stops && !inst.BillsGPU():
		return ActionNone, nil
	case refused:
		err = StateRefused{Wanted: c.target.State, Err: r.err}
		mayRepeat = mayRepeat && c.tooExpensive != nil // it has to be stopped
	case !r.visible && r.err != nil:
	case !stops && outbid:
		err = OutbidAgain{c.starts}
	default:
		return ActionWait, Reverted{}
	}
	if mayRepeat {
		return next, nil
	}
	return ActionWait, err
}
