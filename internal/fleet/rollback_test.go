package fleet_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// allOf describes a fleet that is rented as a whole or not at all.
func allOf(size int, wait time.Duration) fleet.Spec {
	s := spec(size)
	s.All, s.WaitForOffer = true, wait
	return s
}

// lose returns a hook with which an offer is taken by someone else when the first create request is sent. It is
// available again after some time.
func (e *env) lose(offerID string, back time.Duration) hook {
	var once atomic.Bool
	return func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		if isCreate(req) && !once.Swap(true) {
			e.setOffer(offerID, simulator.OfferPatch{Available: new(false)})
			e.setOffer(offerID, simulator.OfferPatch{Available: new(true), After: back})
		}
		return send()
	}
}

// The API refuses DELETE while an instance boots. A rollback keeps asking until nothing is billed.
func TestApply_RollBackWhileBooting(t *testing.T) {
	config := simulator.Config{Boot: 5 * time.Minute, Quirks: []string{"busy-while-booting"}}
	run(t, config, func(t *testing.T, e *env) {
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if isCreate(req) && strings.Contains(bodyOf(req), `"train-3"`) {
				time.Sleep(time.Second) // the others are rented
				return apiError(http.StatusPaymentRequired, "insufficient_funds"), nil
			}
			return send()
		})
		result := e.apply(allOf(4, 0), nil)
		if len(result.Members) > 0 || len(e.active()) > 0 || len(result.RolledBack) != 3 || len(result.Failures) != 1 {
			t.Errorf("%d active, %d rolled back: %s", len(e.active()), len(result.RolledBack), describe(result))
		}
	})
}

// The failure that ends the phase is not that of the other slots: what they rented is destroyed again.
func TestApply_RollBackAfterAnotherSlotFailed(t *testing.T) {
	run(t, simulator.Config{Boot: 5 * time.Minute}, func(t *testing.T, e *env) {
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if isCreate(req) && strings.Contains(bodyOf(req), `"train-2"`) {
				time.Sleep(2 * time.Second) // the others are rented
			}
			resp, err := send()
			return edit(resp, func(inst map[string]any) {
				if inst["name"] == "train-2" {
					inst["price"] = map[string]any{"running_kop_h": 1_000_000, "stopped_kop_h": 1, "traffic_kop_gb": 0}
				}
			}), err
		})
		capped := allOf(4, 0)
		capped.MaxTotalKopH = 100_000
		result := e.apply(capped, nil)
		if len(e.active()) > 0 || len(result.Members) > 0 || len(result.RolledBack) != 3 {
			t.Errorf("%d active, %d rolled back: %s", len(e.active()), len(result.RolledBack), describe(result))
		}
	})
}

// With All and WaitForOffer, a lost race destroys what was rented. Nothing is billed while the apply waits for the
// missing offer.
func TestApply_AllWaitsAgainAfterLostRace(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		offers := e.offers()
		e.limit(4)
		e.intercept(e.lose(offers[3].ID, 20*time.Minute))
		began := time.Now()
		time.AfterFunc(10*time.Minute, func() {
			if billed := len(e.active()); billed > 0 {
				t.Errorf("%d instances are billed during the wait", billed)
			}
		})
		result := e.engine().Apply(t.Context(), allOf(4, time.Hour), nil, 2*time.Hour)
		e.want(result, 4)
		if took := time.Since(began); took < 20*time.Minute || took > 25*time.Minute {
			t.Errorf("it took %s", took)
		}
		if result.Members[0].Generation != 2 || len(e.all()) != 7 {
			t.Errorf("generation %d, %d rented", result.Members[0].Generation, len(e.all()))
		}
	})
}

// The API may forget the keys of what a rollback destroyed. After a killed run the next one finds what the run rented
// after that, because both try the keys of a slot from the same one.
func TestApply_AllWaitsAgainWithForgottenKeys(t *testing.T) {
	run(t, simulator.Config{Quirks: []string{"forgotten-keys"}}, func(t *testing.T, e *env) {
		offers := e.offers()
		e.limit(4)
		e.intercept(e.lose(offers[3].ID, 20*time.Minute))
		e.want(e.engine().Apply(t.Context(), allOf(4, time.Hour), nil, 2*time.Hour), 4)
		result := e.engine().Apply(t.Context(), allOf(4, 0), nil, 2*time.Hour) // the first one was killed
		if len(result.Recovered) != 4 || len(e.active()) != 4 {
			t.Errorf("%d active: %s", len(e.active()), describe(result))
		}
	})
}

// If the offer does not come back, the wait ends without members, and without failures that only repeat another one.
func TestApply_AllWaitEndsAfterLostRace(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		offers := e.offers()
		e.limit(4)
		e.intercept(e.lose(offers[3].ID, 48*time.Hour))
		began := time.Now()
		result := e.engine().Apply(t.Context(), allOf(4, time.Hour), nil, 2*time.Hour)
		if took := time.Since(began); took > 70*time.Minute || len(e.active()) > 0 || len(result.Members) > 0 {
			t.Errorf("%s, %d active: %s", took, len(e.active()), describe(result))
		}
		if kinds(result)[0] != failure.NoOffer || len(e.all()) != 3 {
			t.Errorf("%d rented: %s", len(e.all()), describe(result))
		}
	})
}

// A wait with All ends when no offer can fit: the members that stay use the whole total cap.
func TestApply_AllWaitWithoutBudget(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(2), nil)
		e.want(first, 2)
		three := allOf(3, 2*time.Hour)
		three.MaxTotalKopH = fleet.RunningKopH(first.Members)
		began := time.Now()
		result := e.engine().Apply(t.Context(), three, first.Members, 3*time.Hour)
		if took := time.Since(began); took > time.Minute || kinds(result)[2] != failure.NoOffer {
			t.Errorf("it took %s: %s", took, describe(result))
		}
	})
}

// An offer that is listed and always refused must not make a fleet be rented and destroyed each minute.
func TestApply_AllWithRefusedOffer(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		refused := e.offers()[3].ID
		e.setOffer(e.limit(4)[0], simulator.OfferPatch{Available: new(true), After: 50 * time.Minute})
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if isCreate(req) && strings.Contains(bodyOf(req), `"`+refused+`"`) {
				return apiError(http.StatusConflict, "conflict"), nil
			}
			return send()
		})
		e.want(e.engine().Apply(t.Context(), allOf(4, 2*time.Hour), nil, 3*time.Hour), 4)
		if rented := len(e.all()); rented > 4+3*6 {
			t.Errorf("%d instances were rented", rented)
		}
	})
}

// An interruption of the wait after a lost race rents nothing more.
func TestApply_InterruptedAfterLostRace(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		offers := e.offers()
		e.limit(4)
		e.intercept(e.lose(offers[3].ID, 30*time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		result := e.engine().Apply(ctx, allOf(4, time.Hour), nil, 2*time.Hour)
		if !result.Interrupted || len(result.Failures) != 4 || kinds(result)[0] != failure.Interrupted {
			t.Error(describe(result))
		}
		time.Sleep(time.Hour)
		if len(result.Members) > 0 || len(e.active()) > 0 || len(e.all()) != 3 {
			t.Errorf("%d active, %d rented: %s", len(e.active()), len(e.all()), describe(result))
		}
	})
}

// After a lost race, the next attempt replaces the members that the first one did not reach.
func TestApply_AllReplacesAfterLostRace(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(allOf(3, 0), nil)
		e.want(first, 3)
		for _, m := range first.Members {
			e.setInstance(m.Instance.ID, simulator.InstancePatch{Status: new(string(rental.StatusFailed))})
			e.setOffer(m.Offer.ID, simulator.OfferPatch{Available: new(false)})
		}
		members, offers := e.read(first.Members), e.offers()
		e.limit(3)
		e.intercept(e.lose(offers[2].ID, 15*time.Minute))
		result := e.engine().Apply(t.Context(), allOf(3, time.Hour), members, 2*time.Hour)
		e.want(result, 3)
		if changes := fleet.Plan(allOf(3, 0), result.Members); len(changes) > 0 {
			t.Errorf("another plan: %s", planText(changes))
		}
	})
}

// The failure of a recovered member ends a wait for offers with All: the outcome is decided.
func TestApply_AllRecoveredMemberFails(t *testing.T) {
	run(t, simulator.Config{Boot: 5 * time.Minute}, func(t *testing.T, e *env) {
		e.setOffer(e.offers()[0].ID, simulator.OfferPatch{FailBoots: new(true)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		e.engine().Apply(ctx, spec(1), nil, time.Hour) // its state is lost
		e.limit(0)
		began := time.Now()
		result := e.engine().Apply(t.Context(), allOf(2, 3*time.Hour), nil, 4*time.Hour)
		if took := time.Since(began); took > 10*time.Minute || len(result.Failures) != 2 {
			t.Errorf("it took %s: %s", took, describe(result))
		}
	})
}

// What an earlier apply rejected is destroyed also if All finds no offer for its replacement.
func TestApply_AllDestroysRejectedWithoutOffer(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		two, result := e.notDiscarded()
		two.All = true
		e.limit(0)
		result = e.apply(two, e.read(result.Members))
		if len(e.active()) > 0 || len(result.Lost) != 2 || len(result.Failures) != 2 {
			t.Errorf("%d active, %d lost: %s", len(e.active()), len(result.Lost), describe(result))
		}
	})
}

// A heal fits under a burn limit with room for the fleet only, also if the API bills the failed member until it is
// destroyed.
func TestApply_HealWithinBurnLimit(t *testing.T) {
	run(t, simulator.Config{Quirks: []string{"failed-is-billed"}}, func(t *testing.T, e *env) {
		next := e.offers()[2]
		first := e.apply(spec(2), nil)
		e.want(first, 2)
		failed := first.Members[0]
		e.setInstance(failed.Instance.ID, simulator.InstancePatch{Status: new(string(rental.StatusFailed))})
		limits := spending.Limits{
			RequireFunds: spending.FundsOff, MaxBurnKopH: next.Price.OnDemandKopH + next.DiskKopH(10) +
				first.Members[1].Instance.Price.RunningKopH,
		}
		result := e.engine(limits).Apply(t.Context(), spec(2), e.read(first.Members), time.Hour)
		e.want(result, 2)
	})
}

// A replacement fits under a total cap that the members use up, also if it has to wait for its offer.
func TestApply_ReplaceAtTotalAfterWait(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		offer := e.offers()[2]
		first := e.apply(spec(2), nil)
		e.want(first, 2)
		failed := first.Members[1]
		e.setInstance(failed.Instance.ID, simulator.InstancePatch{Status: new(string(rental.StatusFailed))})
		e.limit(0)
		time.AfterFunc(5*time.Minute, func() {
			patch := simulator.OfferPatch{Available: new(true), OnDemandKopH: new(failed.Instance.Price.RunningKopH / 2)}
			e.setOffer(offer.ID, patch)
		})
		two := spec(2)
		two.WaitForOffer, two.MaxTotalKopH = time.Hour, fleet.RunningKopH(first.Members)
		e.want(e.engine().Apply(t.Context(), two, e.read(first.Members), 2*time.Hour), 2)
	})
}
