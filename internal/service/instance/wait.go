package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/poll"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// settler brings one server to where it is wanted and waits until it is there.
type settler struct {
	client   *rental.Client
	interval time.Duration // first pause between two looks
	wanted   rental.DesiredState
	onOutbid string
	maxPrice int64  // kopecks per hour, 0 for no cap
	offerID  string // empty when unknown, after an import

	asked      bool      // a start or stop was already asked for
	refusal    *refusal  // the service said no to that; nil when it did not
	agreed     bool      // since then the service was seen heading for what is wanted
	runningAt  time.Time // when it was first seen running without SSH
	expectsSSH *bool     // whether its template has SSH; nil until looked up
}

func (r *instanceResource) settlerFor(plan model) *settler {
	return &settler{
		client:   r.Meta.Client,
		interval: r.Meta.PollInterval,
		wanted:   rental.DesiredState(plan.DesiredState.ValueString()),
		onOutbid: plan.OnOutbid.ValueString(),
		maxPrice: plan.MaxPriceKopH.ValueInt64(),
		offerID:  plan.OfferID.ValueString(),
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

// priceError says that a new bid would cost more than allowed.
type priceError struct{ price, limit int64 }

func (e *priceError) Error() string {
	return fmt.Sprintf("it costs %s per hour now, max_price_kop_h allows %s", tfkit.Rubles(e.price), tfkit.Rubles(e.limit))
}

// settle returns the server as last seen, also with an error.
func (s *settler) settle(ctx context.Context, inst rental.Instance) (rental.Instance, error) {
	done, err := s.advance(ctx, &inst)
	if done || err != nil {
		return inst, err
	}
	var trouble error
	err = poll.Until(ctx, poll.Exponential(s.interval), func(ctx context.Context) (bool, error) {
		seen, err := s.client.GetInstance(ctx, inst.ID)
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
	})
	if err != nil && ctx.Err() != nil {
		err = &stoppedWaiting{cause: ctx.Err(), trouble: trouble}
	}
	return inst, err
}

// unreachable says whether a request failed for want of a proper answer, rather
// than because the service refused it.
func unreachable(err error) bool {
	var apiErr *rental.Error
	return errors.As(err, &apiErr) && (apiErr.Status == 0 || apiErr.Status >= 500 || rental.IsRateLimited(err))
}

// refusal is a start or stop that the service did not take, and where the server was then.
type refusal struct {
	err    error
	status rental.InstanceStatus
	at     time.Time
}

func (r *refusal) Error() string { return r.err.Error() }

func (r *refusal) Unwrap() error { return r.err }

// advance takes the next step, and reports whether none is left.
func (s *settler) advance(ctx context.Context, inst *rental.Instance) (bool, error) {
	if r := s.refusal; r != nil && r.status == inst.Status && time.Since(r.at) > graceIntervals*s.interval {
		return false, r
	}
	if s.turnedBack(*inst) {
		return false, errTurnedBack
	}
	switch judge(sighting{inst.Status, inst.DesiredState, s.asked}, s.wanted, s.onOutbid) {
	case stepNone:
		return s.ready(ctx, *inst)
	case stepStart:
		return false, s.start(ctx, inst)
	case stepStop:
		return false, s.ask(ctx, inst, s.client.StopInstance)
	case stepReplace:
		return false, errNeedsReplacement
	case stepGone:
		return false, errGone
	case stepWait:
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

// start starts a server or renews its bid, never above the cap.
func (s *settler) start(ctx context.Context, inst *rental.Instance) error {
	capped := s.maxPrice > 0 && inst.Type == rental.Interruptible
	if !capped {
		return s.ask(ctx, inst, s.client.StartInstance)
	}
	checked, err := s.checkBid(ctx)
	if err != nil {
		return err
	}
	if err := s.ask(ctx, inst, s.client.StartInstance); err != nil || checked {
		return err
	}
	// There was no offer to look at beforehand, so the answer is looked at.
	price := inst.Price.RunningKopH
	if price <= s.maxPrice {
		return nil
	}
	stopped, err := s.client.StopInstance(ctx, inst.ID)
	if err != nil {
		return errors.Join(&priceError{price, s.maxPrice}, fmt.Errorf("stopping it again failed: %w", err))
	}
	*inst = stopped
	return &priceError{price, s.maxPrice}
}

// checkBid compares the price a new bid would have with the cap. It reports
// false when there is no offer to compare with: after an import the state does
// not know it.
func (s *settler) checkBid(ctx context.Context) (checked bool, err error) {
	if s.offerID == "" {
		return false, nil
	}
	offer, err := s.client.GetOffer(ctx, s.offerID)
	switch {
	case rental.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, err
	case offer.Price.InterruptibleKopH == nil:
		return false, nil
	case *offer.Price.InterruptibleKopH > s.maxPrice:
		return false, &priceError{*offer.Price.InterruptibleKopH, s.maxPrice}
	}
	return true, nil
}

// ask makes a start or stop request, once in a wait. A conflict may mean that the
// server moved since it was last seen, or that an earlier request did arrive, so
// the next looks decide: one that stays where it is was refused.
func (s *settler) ask(ctx context.Context, inst *rental.Instance, request func(context.Context, string) (rental.Instance, error)) error {
	answer, err := request(ctx, inst.ID)
	if err == nil {
		*inst = answer
	}
	if rental.IsConflict(err) {
		s.refusal, err = &refusal{err, inst.Status, time.Now()}, nil
	}
	s.asked = err == nil
	return err
}

// graceIntervals is how many poll intervals a running server without SSH is
// watched before it counts as ready, where its template has no SSH.
const graceIntervals = 6

// ready says whether a server that is where it is wanted can be used: a running
// one needs its SSH address, unless its template has none.
func (s *settler) ready(ctx context.Context, inst rental.Instance) (bool, error) {
	if inst.Status != rental.StatusRunning || inst.SSH != nil {
		return true, nil
	}
	if s.runningAt.IsZero() {
		s.runningAt = time.Now()
	}
	if time.Since(s.runningAt) < graceIntervals*s.interval {
		return false, nil
	}
	if s.expectsSSH == nil {
		expected, err := s.templateHasSSH(ctx, inst.Template.Slug)
		if err != nil {
			return false, err
		}
		s.expectsSSH = &expected
	}
	return !*s.expectsSSH, nil
}

// templateHasSSH is false for a template that launches an entrypoint, and for
// one that is deleted: then nothing says that SSH is to come.
func (s *settler) templateHasSSH(ctx context.Context, slug string) (bool, error) {
	for template, err := range s.client.ListTemplates(ctx, rental.ListOptions{}) {
		if err != nil {
			return false, err
		}
		if template.Slug == slug {
			return template.LaunchMode != rental.LaunchEntrypoint, nil
		}
	}
	return false, nil
}
