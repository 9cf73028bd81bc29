package placement

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// holdIn returns a Hold that compares with the limit of a ledger, which holds one instance already.
func holdIn(ledger *spending.Ledger, burnKopH int64) spending.HoldFunc {
	ledger.Set("others", burnKopH)
	return func(_ context.Context, kopH int64) (spending.Hold, error) { return ledger.Hold("", kopH) }
}

// The price that is compared with a limit contains the whole disk. What was rented under the key before is in the burn
// rate already, and needs no room.
func TestCreate_Hold(t *testing.T) {
	unreadable := func(context.Context, int64) (spending.Hold, error) {
		return nil, &spending.Error{Kind: spending.AccountUnreadable, Err: errors.New("no")}
	}
	for name, test := range map[string]struct {
		burn  int64
		disk  int64
		known bool // an earlier run has rented under the key
		hold  spending.HoldFunc
		want  spending.Kind // 0: an instance
		total int64
	}{
		"within the limit":               {50, 10, false, nil, 0, 150},
		"above the limit":                {51, 10, false, nil, spending.LimitExceeded, 51},
		"above the limit, recovered":     {51, 10, true, nil, 0, 51},
		"the account cannot be read":     {0, 10, true, unreadable, spending.AccountUnreadable, 0},
		"above the limit, with its disk": {50, 11, false, nil, spending.LimitExceeded, 50},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(map[string]int64{"off_1": 100})
			api.storage = 730
			inRun(t, api, func(t *testing.T, p *Placer) {
				ledger, request := spending.NewLedger(150), query(5, 0)
				request.KeySource, request.RecoverWithin, request.Order.DiskGB = ConfiguredKey("key"), AnyAge, test.disk
				if request.Hold = holdIn(ledger, test.burn); test.hold != nil {
					request.Hold = test.hold
				}
				if test.known {
					api.byKey[request.KeySource.Key(1)] = rental.Instance{
						ID: "ins_old", Status: rental.StatusRunning, Type: rental.OnDemand, CreatedAt: time.Now(),
						Template: rental.TemplateRef{Slug: request.Order.Template},
					}
				}
				placed, err := p.Create(t.Context(), request)
				e, _ := errors.AsType[*spending.Error](err)
				if e == nil && test.want != 0 || e != nil && e.Kind != test.want || (err == nil) != (placed.ID != "") {
					t.Errorf("%+v, %v", placed, err)
				}
				if test.known && err == nil && placed.ID != "ins_old" || ledger.Total() != test.total {
					t.Errorf("%s, and the ledger has %d, want %d", placed.ID, ledger.Total(), test.total)
				}
			})
		})
	}
}

// A request with an unknown outcome counts, because the instance may be billed.
func TestCreate_HoldOfAnUnknownOutcome(t *testing.T) {
	api := newFakeAPI(map[string]int64{"off_1": 100})
	api.after = func() error {
		clear(api.byKey)
		api.prices["off_1"] = 100
		return errors.New("connection lost")
	}
	inRun(t, api, func(t *testing.T, p *Placer) {
		ledger, request := spending.NewLedger(0), query(5, 0)
		request.Hold = holdIn(ledger, 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := p.Create(ctx, request); KindOf(err) != OutcomeUnknown || ledger.Total() != 100 {
			t.Errorf("%v, and the ledger has %d", err, ledger.Total())
		}
	})
}

// A rented offer stays reserved until the API returns it as rented, or until this process destroys an instance.
func TestCreate_ReservationOfARentedOffer(t *testing.T) {
	for name, wait := range map[string]func(p *Placer){
		"a minute later":       func(*Placer) { time.Sleep(goneFor + time.Second) },
		"after a destruction":  func(p *Placer) { p.Destroyed("ins_off_1") },
		"at once, not another": nil,
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(map[string]int64{"off_1": 100})
			inRun(t, api, func(t *testing.T, p *Placer) {
				if _, err := p.Create(t.Context(), query(5, 0)); err != nil {
					t.Fatal(err)
				}
				api.set("off_1", 100) // the API still lists it
				if wait != nil {
					wait(p)
				}
				_, err := p.Create(t.Context(), query(5, 0))
				if e, _ := errors.AsType[*Error](err); (err == nil) != (wait != nil) || err != nil && e.Reserved != 1 {
					t.Errorf("%v", err)
				}
			})
		})
	}
}
