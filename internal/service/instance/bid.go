package instance

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// priceError says that a start would cost more than allowed.
type priceError struct{ price, limit int64 }

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
			return &priceError{price, s.maxPrice}
		}
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
	price := bare(*inst)
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
		return false, &priceError{*offer.Price.InterruptibleKopH, s.maxPrice}
	}
	return true, nil
}
