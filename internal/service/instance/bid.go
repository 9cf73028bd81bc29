package instance

import (
	"context"
	"fmt"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/tfkit"
)

// priceError reports a start that costs more than the cap allows.
type priceError struct {
	price, limit int64 // kopecks per hour
	// started: the price was known only after the start, and the server was to be stopped again.
	started bool
	// stuck is why it could not be stopped; nil when the service accepted the stop.
	stuck error
}

func (e *priceError) Error() string {
	return fmt.Sprintf("it costs %s now, max_price_kop_h allows %s", tfkit.HourlyRubles(e.price), tfkit.HourlyRubles(e.limit))
}

// start starts a server or renews its bid. With a cap, an interruption does not come
// between the request and the check of the price in its answer.
func (s *settler) start(ctx context.Context, inst *rental.Instance) error {
	if err := s.checkBeforeStart(ctx, *inst); err != nil {
		return s.tryLater(ctx, err)
	}
	if s.reserve != nil {
		release, err := s.reserve(ctx, *inst)
		if err != nil {
			return err
		}
		s.releases = append(s.releases, release)
	}
	s.starts++
	if s.maxPrice == 0 {
		return s.ask(ctx, inst, s.client.StartInstance)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	detached, end := tfkit.Detach(ctx)
	defer end()
	if err := s.ask(detached, inst, s.client.StartInstance); err != nil {
		return err
	}
	if err := s.checkPrice(detached, inst); err != nil || ctx.Err() == nil {
		return err
	}
	// There is no next observation after an interruption.
	seen, err := s.client.GetInstance(detached, inst.ID)
	if err != nil {
		return ctx.Err()
	}
	*inst = seen
	s.last.observe(seen)
	return s.checkPrice(detached, inst)
}

// tryLater leaves to the next observation what failed without the service's own word.
func (s *settler) tryLater(ctx context.Context, err error) error {
	if isDefinitive(err) || ctx.Err() != nil {
		return err
	}
	s.trouble = err
	return nil
}

// checkPrice stops a server again that this wait started above the cap. Every observation
// after a start is checked, because its answer may be lost, or tell the price from before.
func (s *settler) checkPrice(ctx context.Context, inst *rental.Instance) error {
	if s.maxPrice == 0 || s.starts == 0 || s.aboveCap != nil || s.last == nil || s.last.wanted != rental.DesiredRunning {
		return nil
	}
	switch inst.Status {
	case rental.StatusStopping, rental.StatusFailed, rental.StatusDestroying, rental.StatusDestroyed:
		return nil
	case rental.StatusStopped, rental.StatusOutbid:
		// Its GPU is not billed, unless the status lags and only the price is new.
		if s.last.visible || inst.Price.RunningKopH == s.last.before.Price.RunningKopH {
			return nil
		}
	default:
	}
	price := priceWithoutDisk(*inst, s.last.before.Price.StoppedKopH)
	if price <= s.maxPrice {
		return nil
	}
	s.aboveCap = &priceError{price: inst.Price.RunningKopH, limit: s.maxPrice, started: true}
	s.wanted = rental.DesiredStopped
	ctx, end := tfkit.Detach(ctx)
	defer end()
	if err := s.stop(ctx, inst); err != nil {
		return err
	}
	if s.last.err == nil {
		return s.aboveCap
	}
	return nil // the next observations decide whether to stop it once more
}

// checkBeforeStart compares the price that a start would have with the cap, as far as it is known.
// The price of an on-demand server is locked, that of a new bid is the offer's. There may be no offer
// to compare with: after an import the state does not know it.
func (s *settler) checkBeforeStart(ctx context.Context, inst rental.Instance) error {
	switch {
	case s.maxPrice == 0:
		return nil
	case inst.Type != rental.Interruptible:
		return s.allow(priceWithoutDisk(inst, inst.Price.StoppedKopH))
	case s.offerID == "":
		return nil
	}
	offer, err := s.client.GetOffer(ctx, s.offerID)
	switch {
	case rental.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case offer.Price.InterruptibleKopH == nil:
		return nil
	}
	return s.allow(*offer.Price.InterruptibleKopH)
}

// allow returns an error for a price above the cap.
func (s *settler) allow(price int64) error {
	if price > s.maxPrice {
		return &priceError{price: price, limit: s.maxPrice}
	}
	return nil
}
