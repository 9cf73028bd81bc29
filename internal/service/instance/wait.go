package instance

import (
	"context"
	"errors"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// settler brings one server to where it is wanted and waits until it is there.
type settler struct {
	meta     *tfkit.Meta
	client   *rental.Client
	watch    *watcher
	interval time.Duration // first pause between two looks
	wanted   rental.DesiredState
	onOutbid string
	maxPrice int64   // kopecks per hour, 0 for no cap
	offerID  string  // that was rented; empty when unknown, after an import
	habit    *habit  // of servers like this one; nil when that says nothing
	teller   *teller // who is told how it goes; nil for nobody

	asked      bool      // a start or stop was already asked for
	refusal    *refusal  // the service said no to that; nil when it did not
	unpriced   bool      // it may have been started at a price that is still to be looked at
	agreed     bool      // since then the service was seen heading for what is wanted
	runningAt  time.Time // when it was first seen running
	expectsSSH *bool     // whether its template has SSH; nil until looked up
}

func (r *instanceResource) settlerFor(plan model) *settler {
	s := newSettler(r.Meta, rental.DesiredState(plan.DesiredState.ValueString()), plan.OnOutbid.ValueString(), plan.MaxPriceKopH.ValueInt64())
	s.offerID = plan.RentedOfferID.ValueString()
	return s
}

// newSettler makes one that knows nothing of the server yet.
func newSettler(meta *tfkit.Meta, wanted rental.DesiredState, onOutbid string, maxPrice int64) *settler {
	return &settler{
		meta: meta, client: meta.Client, watch: &fleetOf(meta).watch, interval: meta.PollInterval,
		wanted: wanted, onOutbid: onOutbid, maxPrice: maxPrice,
	}
}

// These end a wait that cannot end well.
var (
	errNeedsReplacement = errors.New("only a replacement helps")
	errGone             = errors.New("it was destroyed outside Terraform")
	errTurnedBack       = errors.New("the service turned it back")
)

// stoppedWaiting says that the wait was over before the server was there.
type stoppedWaiting struct {
	cause   error // context.DeadlineExceeded or context.Canceled
	trouble error // why the last look failed; nil when it did not
}

func (e *stoppedWaiting) Error() string { return e.cause.Error() }

func (e *stoppedWaiting) Unwrap() error { return e.cause }

// settle returns the server as last seen, also with an error.
func (s *settler) settle(ctx context.Context, inst rental.Instance) (rental.Instance, error) {
	done, err := s.advance(ctx, &inst)
	if done || err != nil {
		return inst, err
	}
	var trouble error
	err = s.watch.until(ctx, s.client, wait{id: inst.ID, backoff: poll.Growing(s.interval), habit: s.habit, check: func(ctx context.Context, seen rental.Instance, err error) (bool, error) {
		switch {
		case err == nil:
			trouble, inst = nil, seen
			return s.advance(ctx, &inst)
		case rental.IsNotFound(err):
			return false, errGone
		case unreachable(err) && ctx.Err() == nil:
			// The server is rented whether or not the service answers just now:
			// giving up would only lose sight of it.
			trouble = err
			return false, nil
		}
		return false, err
	}})
	if err != nil && interrupted(ctx, err) {
		err = &stoppedWaiting{cause: ctx.Err(), trouble: trouble}
	}
	return inst, err
}

// interrupted says whether the end of ctx is what ended a wait. A server that was
// started above its cap is worth more than that.
func interrupted(ctx context.Context, err error) bool {
	var dear *priceError
	return ctx.Err() != nil && !errors.As(err, &dear)
}

// unreachable says whether a request failed for want of a proper answer, rather
// than because the service refused it.
func unreachable(err error) bool {
	var apiErr *rental.Error
	return errors.As(err, &apiErr) && (apiErr.Status == 0 || apiErr.Status >= 500 || rental.IsRateLimited(err))
}

// verb is what brings a server there.
func verb(wanted rental.DesiredState) string {
	if wanted == rental.DesiredStopped {
		return "stop"
	}
	return "start"
}

// refusal is a start or stop that the service did not take, and where the server was then.
type refusal struct {
	err    error
	wanted rental.DesiredState
	status rental.InstanceStatus
	at     time.Time
}

func (s *settler) refused(err error, inst rental.Instance) *refusal {
	return &refusal{err, s.wanted, inst.Status, time.Now()}
}

func (r *refusal) Error() string { return r.err.Error() }

func (r *refusal) Unwrap() error { return r.err }

// advance takes the next step, and reports whether none is left.
func (s *settler) advance(ctx context.Context, inst *rental.Instance) (bool, error) {
	if s.unpriced && (inst.Status == rental.StatusStarting || inst.Status == rental.StatusRunning) {
		s.unpriced = false
		if err := s.holdToCap(ctx, inst); err != nil {
			return false, err
		}
	}
	if r := s.refusal; r != nil && r.status == inst.Status && time.Since(r.at) > graceIntervals*s.interval {
		return false, r
	}
	if s.turnedBack(*inst) {
		return false, errTurnedBack
	}
	next := judge(sighting{inst.Status, inst.DesiredState, s.asked}, s.wanted, s.onOutbid)
	if next == stepNone {
		done, err := s.ready(ctx, *inst)
		if !done {
			s.teller.saw(*inst)
		}
		return done, err
	}
	s.teller.saw(*inst)
	switch next {
	case stepStart:
		return false, s.start(ctx, inst)
	case stepStop:
		return false, s.ask(ctx, inst, s.client.StopInstance)
	case stepReplace:
		return false, errNeedsReplacement
	case stepGone:
		return false, errGone
	case stepNone, stepWait:
	}
	return false, nil
}

// turnedBack says whether the service did what was asked for and then undid it,
// for example because the money ran out: asking again would only repeat that.
func (s *settler) turnedBack(inst rental.Instance) bool {
	if !s.asked {
		return false
	}
	if inst.DesiredState == s.wanted {
		s.agreed = true
	}
	settledElsewhere := inst.Status == rental.StatusStopped && inst.DesiredState == rental.DesiredStopped && s.wanted == rental.DesiredRunning ||
		inst.Status == rental.StatusRunning && inst.DesiredState == rental.DesiredRunning && s.wanted == rental.DesiredStopped
	return s.agreed && settledElsewhere
}

// ask makes a start or stop request, once in a wait. A conflict may mean that the
// server moved since it was last seen, or that an earlier request did arrive, so
// the next looks decide: one that stays where it is was refused.
func (s *settler) ask(ctx context.Context, inst *rental.Instance, request func(context.Context, string) (rental.Instance, error)) error {
	s.teller.asks(s.wanted)
	answer, err := request(ctx, inst.ID)
	if err == nil {
		*inst = answer
	}
	if rental.IsConflict(err) {
		s.refusal, err = s.refused(err, *inst), nil
	}
	s.asked = err == nil
	return err
}
