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
	template string  // slug, where the service does not return it; empty when unknown
	habit    *habit  // of servers like this one; nil when that says nothing
	teller   *teller // who is told how it goes; nil for nobody

	// exceedsCap ends the wait for a new server; nil when nothing is to be checked.
	exceedsCap func(rental.Instance) bool
	// reserve checks the spending limit right before a start; nil when nothing is to be checked.
	reserve func(context.Context, rental.Instance) (release func(), err error)

	last      *request     // the last start or stop; nil when none was requested
	starts    int          // requests so far
	stops     int          // requests so far
	releases  []func()     // of what the starts reserved
	aboveCap  *priceError  // a start was more expensive than maxPrice: the server is being stopped
	trouble   error        // why the last read or check failed; nil when it did not
	runningAt time.Time    // when it was first seen running
	observed  int          // observations of it running
	lacksSSH  bool         // it is ready without the SSH address that its template should have
	expects   *expectation // by its template; nil until looked up
}

func (r *instanceResource) settlerFor(plan model) *settler {
	wanted := rental.DesiredState(plan.DesiredState.ValueString())
	s := newSettler(r.Meta, wanted, plan.OnOutbid.ValueString(), plan.MaxPriceKopH.ValueInt64())
	s.offerID, s.template = plan.RentedOfferID.ValueString(), plan.Template.ValueString()
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

// exceedsCapError ends the wait for a new server whose price turns out to be above its cap. The caller has the prices.
type exceedsCapError struct{}

func (exceedsCapError) Error() string { return "" }

// stoppedWaiting says that the wait was over before the server was there.
type stoppedWaiting struct {
	cause   error // context.DeadlineExceeded or context.Canceled
	trouble error // why the last look failed; nil when it did not
}

func (e *stoppedWaiting) Error() string { return e.cause.Error() }

func (e *stoppedWaiting) Unwrap() error { return e.cause }

// settle returns the server as last seen, also with an error.
func (s *settler) settle(ctx context.Context, inst rental.Instance) (rental.Instance, error) {
	defer s.release()
	inst, err := s.wait(ctx, inst)
	if err != nil && interrupted(ctx, err) {
		err = &stoppedWaiting{cause: ctx.Err(), trouble: s.lastTrouble()}
	}
	if s.aboveCap == nil {
		return inst, err
	}
	if err != nil && !errors.Is(err, s.aboveCap) && !errors.Is(err, errGone) && !errors.Is(err, errNeedsReplacement) {
		s.aboveCap.stuck = err
	}
	return inst, s.aboveCap
}

// backoff grows, and begins again after each start or stop.
func (s *settler) backoff() poll.Backoff {
	growing := poll.Growing(s.interval)
	first, last := 0, s.last
	return func(attempt int) time.Duration {
		if s.last != last {
			first, last = attempt, s.last
		}
		return growing(attempt - first)
	}
}

// lastTrouble is why the last read failed, or the last start or stop had no answer.
func (s *settler) lastTrouble() error {
	if s.trouble == nil && s.last != nil && !s.last.visible {
		return s.last.err
	}
	return s.trouble
}

// wait returns when the server is where it is wanted, or cannot get there.
func (s *settler) wait(ctx context.Context, inst rental.Instance) (rental.Instance, error) {
	done, err := s.advance(ctx, &inst)
	if done || err != nil {
		return inst, err
	}
	check := func(ctx context.Context, seen rental.Instance, err error) (bool, error) {
		switch {
		case err == nil:
			s.trouble, inst = nil, seen
			return s.advance(ctx, &inst)
		case rental.IsNotFound(err):
			return false, errGone
		case !isDefinitive(err) && ctx.Err() == nil:
			// The server is rented whether or not the service answers just now:
			// giving up would only lose sight of it.
			s.trouble = err
			return false, nil
		}
		return false, err
	}
	err = s.watch.until(ctx, s.client, wait{id: inst.ID, backoff: s.backoff(), habit: s.habit, check: check})
	return inst, err
}

// release ends what the starts reserved.
func (s *settler) release() {
	for _, release := range s.releases {
		release()
	}
}

// interrupted says whether the end of ctx is what ended a wait. A server that was
// started above its cap is worth more than that.
func interrupted(ctx context.Context, err error) bool {
	var price *priceError
	return ctx.Err() != nil && !errors.As(err, &price)
}

// verb is what brings a server there.
func verb(wanted rental.DesiredState) string {
	if wanted == rental.DesiredStopped {
		return "stop"
	}
	return "start"
}

// advance takes the next step, and reports whether none is left.
func (s *settler) advance(ctx context.Context, inst *rental.Instance) (bool, error) {
	if s.last != nil {
		s.last.observe(*inst)
	}
	if s.exceedsCap != nil && s.exceedsCap(*inst) {
		return false, exceedsCapError{}
	}
	if err := s.checkPrice(ctx, inst); err != nil {
		return false, err
	}
	next, err := s.next(*inst)
	if err != nil {
		return false, err
	}
	if next == stepNone {
		if s.ready(ctx, *inst) {
			return true, nil
		}
	}
	s.teller.saw(*inst)
	switch next {
	case stepStart:
		return false, s.start(ctx, inst)
	case stepStop:
		return false, s.stop(ctx, inst)
	case stepReplace:
		return false, errNeedsReplacement
	case stepGone:
		return false, errGone
	case stepNone, stepWait:
	}
	return false, nil
}

// next returns the next step, or why there is none that helps.
func (s *settler) next(inst rental.Instance) (step, error) {
	next := judge(sightingOf(inst), s.wanted, s.onOutbid)
	if s.last == nil || next != stepStart && next != stepStop {
		return next, nil
	}
	return s.afterRequest(inst, next)
}

func (s *settler) stop(ctx context.Context, inst *rental.Instance) error {
	s.stops++
	return s.ask(ctx, inst, s.client.StopInstance)
}

// ask makes a start or stop request. Where the service refuses it because of the status,
// or its answer is lost, the next observations decide: an earlier attempt may have arrived.
func (s *settler) ask(ctx context.Context, inst *rental.Instance, send func(context.Context, string) (rental.Instance, error)) error {
	s.teller.asks(s.wanted)
	r := &request{wanted: s.wanted, before: *inst}
	answer, err := send(ctx, inst.ID)
	r.at = time.Now()
	switch {
	case err == nil:
		*inst = answer
	case rental.IsNotFound(err):
		return errGone
	case isDefinitive(err) && !rental.IsConflict(err) && !rental.IsInFlight(err):
		return err
	default:
		r.err = err
	}
	s.last = r
	return nil
}
