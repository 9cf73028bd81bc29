package fleet_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// All or nothing: what prevents one member leaves none of the new ones, and ends the waits for the others soon. The
// failures have the reason and its instance.
func TestApply_AllOrNothing(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(e *env)
		rented  int
		kind    failure.Kind // of a slot
		took    time.Duration
	}{
		"too few offers": {func(e *env) { e.limit(4) }, 0, failure.NoOffer, time.Minute},
		"account limit": {
			func(e *env) { e.setAccount(simulator.AccountPatch{MaxInstances: new(int64(4))}) }, 4, failure.OfferRefused, 0,
		},
		"a boot fails":    {func(e *env) { e.failing = e.offers()[0].ID }, 5, failure.NeedsReplacement, 0},
		"not as demanded": {func(e *env) { e.edit(creates().Once(), smallerDisk) }, 1, failure.NotAsRequested, 0},
		"not ready in time": {func(e *env) {
			e.edit(anyInstance, func(inst map[string]any) {
				if inst["name"] == "train-1" && inst["status"] == "running" {
					inst["status"] = "starting"
				}
			})
		}, 5, failure.Interrupted, 40 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{}, func(t *testing.T, e *env) {
				test.prepare(e)
				began := time.Now()
				result := e.apply(allOf(5, 0), nil)
				if took := time.Since(began); took > max(test.took, 5*time.Minute) {
					t.Errorf("it took %s", took)
				}
				e.wantLeft(result, 0, test.rented)
				if !slices.Contains(slices.Collect(maps.Values(kinds(result))), test.kind) {
					t.Errorf("no slot has %q: %s", test.kind, describe(result))
				}
				if test.rented > 1 && len(result.RolledBack) != test.rented {
					t.Errorf("%d rolled back", len(result.RolledBack))
				}
				for _, f := range result.Failures {
					if kind := failure.KindOf(f.Err); kind == failure.Interrupted && f.Member.Lost() {
						t.Errorf("slot %d: %v, without its instance", f.Slot, f.Err)
					}
				}
			})
		})
	}
}

func smallerDisk(inst map[string]any) { inst["disk_gb"] = 10 }

// Existing members stay. They are started first: new ones would be destroyed again if one of them cannot start.
func TestApply_AllKeepsExistingMembers(t *testing.T) {
	run(t, simulator.Config{}, func(_ *testing.T, e *env) {
		before := e.create(spec(3))
		e.limit(4)
		e.wantLeft(e.apply(allOf(8, 0), before), 3, 3)
	})
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		three := interruptible(3)
		three.All = true
		first := e.create(three)
		three.MaxPriceKopH = first[0].Instance.Price.RunningKopH
		e.outbid(2, first[0])
		e.destroy(first[2].Instance.ID)
		result := e.apply(three, e.read(first))
		if e.wantLeft(result, 2, 3); kinds(result)[0] != failure.AboveLimit || kinds(result)[2] != failure.NotTried {
			t.Error(describe(result))
		}
	})
}

// The API refuses DELETE while an instance boots. A rollback keeps asking until nothing is billed.
func TestApply_RollBackWhileBooting(t *testing.T) {
	config := simulator.Config{Boot: 5 * time.Minute, Hooks: quirks.New("busy-while-booting")}
	run(t, config, func(t *testing.T, e *env) {
		e.refuse(http.StatusPaymentRequired, func(req *http.Request) bool {
			last := creates("train-3")(req)
			if last {
				time.Sleep(time.Second) // the others are rented
			}
			return last
		})
		result := e.apply(allOf(4, 0), nil)
		e.wantLeft(result, 0, 3)
		if len(result.RolledBack) != 3 || len(result.Failures) != 1 {
			t.Errorf("%d rolled back: %s", len(result.RolledBack), describe(result))
		}
	})
}

// The failure that ends the phase is not that of the other slots: what they rented is destroyed again.
func TestApply_RollBackAfterAnotherSlotFailed(t *testing.T) {
	run(t, simulator.Config{Boot: 5 * time.Minute}, func(t *testing.T, e *env) {
		e.edit(func(req *http.Request) bool {
			third := creates("train-2")(req)
			if third {
				time.Sleep(2 * time.Second) // the others are rented
			}
			return third
		}, func(inst map[string]any) { multiplyPrice(inst, 10_000) })
		capped := allOf(4, 0)
		capped.MaxPriceKopH = 8 * priceOf(e.offers()[:4]...)
		result := e.apply(capped, nil)
		if e.wantLeft(result, 0, 4); len(result.RolledBack) != 3 {
			t.Errorf("%d rolled back: %s", len(result.RolledBack), describe(result))
		}
	})
}

// The rollback of a large fleet has enough time, although the API limits the requests per minute.
func TestApply_RollBackLarge(t *testing.T) {
	run(t, simulator.Config{MarketScale: 40}, func(t *testing.T, e *env) {
		e.enrich()
		const size = 2000
		rents, sent := creates(), new(atomic.Int64)
		e.refuse(http.StatusPaymentRequired, func(req *http.Request) bool {
			return rents(req) && sent.Add(1) == size
		})
		result := e.apply(allOf(size, 0), nil)
		if len(result.Members) > 0 || len(result.RolledBack) != size-1 {
			t.Errorf("%d members are left, %d were destroyed", len(result.Members), len(result.RolledBack))
		}
	})
}

// A server whose create response was lost is destroyed, too, as soon as its key proves that it was rented. While the
// outcome is unknown, the slot is remembered, and the next apply takes the server.
func TestApply_AllAfterLostResponse(t *testing.T) {
	for name, test := range map[string]struct {
		loses acctest.Match
		left  int
	}{
		"then known": {creates("train-2").Once(), 0},
		"unknown":    {creates("train-2"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{}, func(t *testing.T, e *env) {
				fails := e.offers()[3].ID
				e.failing = fails
				e.lose(test.loses)
				result := e.apply(allOf(4, 0), nil)
				if len(result.Failures) == 0 || len(e.active()) != test.left {
					t.Errorf("%d instances are left: %s", len(e.active()), describe(result))
				}
				e.failing = ""
				e.proxy.Set()
				e.want(e.apply(allOf(4, 0), result.Slots()), 4)
			})
		})
	}
}

// A killed run's instance that never gets ready is found while offers are missing. The wait for it ends with the
// failure of another slot, which is no timeout.
func TestApply_CancelledWaitIsNoTimeout(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.create(spec(2)) // by a run that is killed then
		e.edit(anyInstance, func(inst map[string]any) {
			if inst["name"] == "train-0" && inst["status"] == "running" {
				inst["status"] = "starting"
			}
			delete(inst, "name") // the keys find them when there are too few offers
		})
		e.limit(0)
		result := e.apply(allOf(3, 0), nil)
		if len(result.Failures) != 2 || kinds(result)[0] != failure.NotTried {
			t.Error(describe(result))
		}
	})
}

// lose4th leaves four offers, of which the last one is taken by someone else when the first create request is sent. It
// is available again after some time.
func (e *env) lose4th(back time.Duration) {
	e.t.Helper()
	last := e.offers()[3].ID
	e.limit(4)
	e.proxy.Set(creates().Once().Do(acctest.Before(func(*http.Request) {
		e.setOffer(last, simulator.OfferPatch{Available: new(false)})
		e.available(last, back)
	})))
}

// With All and WaitForOffer, a lost race destroys what was rented. Nothing is billed while the apply waits for the
// missing offer. After a kill, the next run continues, even if the API has no record of the keys of what the rollback
// destroyed: both try the keys of a slot from the same one.
func TestApply_AllWaitsAgainAfterLostRace(t *testing.T) {
	run(t, simulator.Config{Hooks: quirks.New("forgotten-keys")}, func(t *testing.T, e *env) {
		e.lose4th(20 * time.Minute)
		began := time.Now()
		time.AfterFunc(10*time.Minute, func() {
			if billed := len(e.active()); billed > 0 {
				t.Errorf("%d instances are billed during the wait", billed)
			}
		})
		result := e.apply(allOf(4, time.Hour), nil)
		took := time.Since(began)
		e.want(result, 4)
		e.wantLeft(result, 4, 7)
		if took < 20*time.Minute || took > 25*time.Minute {
			t.Errorf("it took %s", took)
		}
		result = e.apply(allOf(4, 0), nil) // the first one was killed
		if e.wantLeft(result, 4, 7); len(result.Recovered) != 4 {
			t.Errorf("%d recovered: %s", len(result.Recovered), describe(result))
		}
	})
}

// If the offer does not come back, the wait ends without members, with its own reason, or with an interruption.
func TestApply_AllWaitEnds(t *testing.T) {
	for want, timeout := range map[failure.Kind]time.Duration{
		failure.NoOffer: 4 * time.Hour, failure.Interrupted: 10 * time.Minute,
	} {
		t.Run(string(want), func(t *testing.T) {
			run(t, simulator.Config{}, func(t *testing.T, e *env) {
				e.lose4th(48 * time.Hour)
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				began := time.Now()
				result := e.engine().Apply(ctx, allOf(4, time.Hour), nil, 2*time.Hour)
				interrupted := want == failure.Interrupted
				if took := time.Since(began); took > 70*time.Minute || result.Interrupted != interrupted {
					t.Errorf("interrupted %t after %s", result.Interrupted, took)
				}
				if len(result.Failures) == 0 || kinds(result)[0] != want {
					t.Error(describe(result))
				}
				e.wantLeft(result, 0, 3)
			})
		})
	}
}

// An offer that is listed and always refused must not make a fleet be rented and destroyed each minute.
func TestApply_AllWithRefusedOffer(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		refused := e.offers()[3].ID
		e.available(e.limit(4)[0], 50*time.Minute)
		e.refuse(http.StatusConflict, creates(refused))
		e.want(e.apply(allOf(4, 2*time.Hour), nil), 4)
		if rented := len(e.all()); rented > 4+3*6 {
			t.Errorf("%d instances were rented", rented)
		}
	})
}

// What exceeds a cap and could not be destroyed is rejected: the next apply destroys it, even if no offer is left.
func TestApply_DestroysRejected(t *testing.T) {
	runAny(t, simulator.Config{}, func(t *testing.T, e *env, all bool) {
		two := spec(2)
		two.MaxPriceKopH = e.offers()[1].Price.OnDemandKopH
		expensive := anyInstance.Do(acctest.RewriteItems(func(inst map[string]any) { multiplyPrice(inst, 300) }))
		e.proxy.Set(deletes.Do(apiError(http.StatusForbidden)), expensive)
		result := e.apply(two, nil)
		e.wantLeft(result, 2, 2)
		e.proxy.Set(expensive)
		e.limit(0)
		e.taken(result.Members...)
		two.All = all
		result = e.apply(two, e.read(result.Members))
		if e.wantLeft(result, 0, 2); len(result.Lost) != 2 || len(result.Failures) != 2 {
			t.Errorf("%d lost: %s", len(result.Lost), describe(result))
		}
	})
}
