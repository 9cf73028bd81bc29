package instance

import (
	"context"
	"fmt"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// priceError says that a start would cost more than allowed.
type priceError struct {
	price, limit int64 // kopecks per hour
	// stuck: it was started before its price was known, and could not be stopped again.
	stuck error
}

func (e *priceError) Error() string {
	return fmt.Sprintf("it costs %s now, max_price_kop_h allows %s", tfkit.HourlyRubles(e.price), tfkit.HourlyRubles(e.limit))
}

// start starts a server or renews its bid, never above the cap.
func (s *settler) start(ctx context.Context, inst *rental.Instance) error {
	if s.maxPrice == 0 {
		return s.ask(ctx, inst, s.client.StartInstance)
	}
	if inst.Type != rental.Interruptible {
		// Its price is locked.
		if price := bare(*inst); price > s.maxPrice {
			return &priceError{price: price, limit: s.maxPrice}
		}
		return s.ask(ctx, inst, s.client.StartInstance)
	}
	checked, err := s.checkBid(ctx)
	if err != nil {
		return err
	}
	if checked {
		return s.ask(ctx, inst, s.client.StartInstance)
	}
	return s.bidAndLook(ctx, inst)
}

// bidAndLook renews a bid where there is no offer to look at beforehand, so the
// answer is looked at. An interruption must not come between the two.
func (s *settler) bidAndLook(ctx context.Context, inst *rental.Instance) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, end := tfkit.Detach(ctx)
	defer end()
	err := s.ask(ctx, inst, s.client.StartInstance)
	if unreachable(err) {
		// As with a conflict, the next looks tell what came of it.
		s.asked, s.refusal, err = true, s.refused(err, *inst), nil
	}
	if err != nil {
		return err
	}
	if s.refusal != nil {
		s.unpriced = true // a request may have arrived whose answer was lost
		return nil
	}
	return s.holdToCap(ctx, inst)
}

// holdToCap stops a server again that was started above the cap.
func (s *settler) holdToCap(ctx context.Context, inst *rental.Instance) error {
	if bare(*inst) <= s.maxPrice {
		return nil
	}
	ctx, end := tfkit.Detach(ctx)
	defer end()
	dear := &priceError{price: bare(*inst), limit: s.maxPrice}
	stopped, err := s.client.StopInstance(ctx, inst.ID)
	if err != nil {
		dear.stuck = err
		return dear
	}
	*inst = stopped
	return dear
}

// bare is what a running server costs without its disk, kopecks per hour: at
// most what its offer asks, whose price holds a base disk, so that a comparison
// with the cap never refuses what the cap allows.
func bare(inst rental.Instance) int64 { return inst.Price.RunningKopH - inst.Price.StoppedKopH }

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
		return false, &priceError{price: *offer.Price.InterruptibleKopH, limit: s.maxPrice}
	}
	return true, nil
}
