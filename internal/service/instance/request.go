package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

const (
	// maxStatusLag is how long a status may stay the old one after the service accepted a start or stop.
	maxStatusLag = 30 * time.Second
	// lagIntervals bounds it for short poll intervals, which serve fast services.
	lagIntervals = 30
	// lagObservations is how many observations of an unchanged status are needed at least.
	lagObservations = 5
	// maxRequests is how many starts, and how many stops, one wait requests: a server
	// that is outbid again and again must not be bid for without end.
	maxRequests = 3
)

// statusLag is how long an unchanged status means nothing after a start or stop.
func statusLag(pollInterval time.Duration) time.Duration {
	return min(lagIntervals*pollInterval, maxStatusLag)
}

// request is the last start or stop of a wait.
type request struct {
	wanted  rental.DesiredState
	before  rental.Instance // as the server was before the request
	at      time.Time       // when it was answered, or given up
	err     error           // a conflict, or why the answer is unknown; nil when it was accepted
	seen    int             // observations after the request
	visible bool            // an observation after the request shows its effect
}

// observe notes the effect of the request. The answer to the request itself is no
// observation: the next one may still return the status from before.
func (r *request) observe(inst rental.Instance) {
	r.seen++
	if inst.Status != r.before.Status && (r.wanted == rental.DesiredRunning || inst.Status != rental.StatusRunning) {
		r.visible = true
	}
}

// doubt is how long the status from before the request proves nothing.
func (r *request) doubt(lag, requestTimeout time.Duration) time.Duration {
	if r.err != nil && (!isDefinitive(r.err) || rental.IsInFlight(r.err)) {
		return lag + requestTimeout // an attempt whose answer was lost may still be in flight
	}
	return lag
}

// isDefinitive reports whether the service itself refused the request. Everything else,
// such as a network error or the page of a proxy, leaves its outcome unknown.
func isDefinitive(err error) bool {
	var apiErr *rental.Error
	if !errors.As(err, &apiErr) || apiErr.Attempts == 0 {
		return true
	}
	return rental.IsNotFound(err) || rental.IsConflict(err) || rental.IsUnauthorized(err) || rental.IsForbidden(err) ||
		rental.IsInsufficientFunds(err) || rental.IsValidation(err)
}

// refusal is a start or stop that the service refused because of the server's state.
type refusal struct {
	err    error
	wanted rental.DesiredState
}

func (r *refusal) Error() string { return r.err.Error() }

func (r *refusal) Unwrap() error { return r.err }

// reportedError ends a wait whose error is among the diagnostics already.
type reportedError struct{}

func (reportedError) Error() string { return "" }

// reserveStart reserves what a start adds to the burn rate until release is called.
func reserveStart(ctx context.Context, meta *tfkit.Meta, inst rental.Instance, diags *diag.Diagnostics) (release func(), err error) {
	var found diag.Diagnostics
	reservation := reserveBurn(ctx, meta, inst.ID, inst.Price.RunningKopH, startOf(inst).added, &found)
	diags.Append(found...)
	if found.HasError() {
		reservation.release()
		return nil, reportedError{}
	}
	return reservation.release, nil
}

// outbidAgainError reports a server that stayed outbid after all starts of a wait.
type outbidAgainError struct{ starts int }

func (e *outbidAgainError) Error() string {
	return fmt.Sprintf("it was outbid again after %d starts", e.starts)
}

// afterRequest returns the next step for a server that the last request should have
// moved, where next is the step that it would need without that request.
func (s *settler) afterRequest(inst rental.Instance, next step) (step, error) {
	r := s.last
	moved := inst.Status != r.before.Status
	doubt := r.doubt(statusLag(s.interval), s.client.RequestTimeout())
	inFlight := !r.visible && (r.seen < lagObservations || time.Since(r.at) <= doubt)
	switch {
	case s.wanted == rental.DesiredStopped && inst.Status == rental.StatusOutbid && (moved || !inFlight && inst.DesiredState == ""):
		return stepNone, nil // its GPU is not billed: as good as stopped
	case rental.IsConflict(r.err) && moved && s.mayRequest(next):
		return next, nil // the service refused it in another status
	case inFlight:
		return stepWait, nil
	case inst.DesiredState == s.wanted && inst.Status != rental.StatusOutbid:
		return stepWait, nil // the service is slow, and still heading there
	case !r.visible && rental.IsConflict(r.err) && s.wanted == rental.DesiredStopped && !billsGPU(inst):
		return stepNone, nil // there is nothing to stop
	case !r.visible && rental.IsConflict(r.err) && s.aboveCap != nil:
		return s.repeat(next, &refusal{r.err, s.wanted}) // it costs too much to give up after one refusal
	case !r.visible && rental.IsConflict(r.err):
		return stepWait, &refusal{r.err, s.wanted}
	case !r.visible && r.err != nil:
		return s.repeat(next, r.err)
	case s.wanted == rental.DesiredRunning && inst.Status == rental.StatusOutbid:
		return s.repeat(next, &outbidAgainError{s.starts})
	}
	return stepWait, errTurnedBack
}

// repeat returns next while the wait may request it once more, and err after that.
func (s *settler) repeat(next step, err error) (step, error) {
	if s.mayRequest(next) {
		return next, nil
	}
	return stepWait, err
}

// mayRequest reports whether the wait may request this start or stop once more.
func (s *settler) mayRequest(next step) bool {
	if next == stepStart {
		return s.starts < maxRequests
	}
	return s.stops < maxRequests
}
