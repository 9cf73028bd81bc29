package fleet_test

import (
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// All or nothing: what prevents one member leaves none of the new ones, and ends the waits for the others soon. The
// failures have the reason and its instance. What was rejected itself is not rolled back.
func TestApply_AllOrNothing(t *testing.T) {
	booting := simulator.Config{Boot: 5 * time.Minute, Hooks: quirks.New("busy-while-booting")}
	whenOthersAreRented := func(name string) simtest.Match {
		return func(req *http.Request) bool {
			last := simtest.Creates(name)(req)
			if last {
				time.Sleep(2 * time.Second)
			}
			return last
		}
	}
	for name, test := range map[string]struct {
		config             simulator.Config
		prepare            func(e *env)
		rented, rolledBack int
		kind               string // of a slot
		took               time.Duration
	}{
		"too few offers": {simulator.Config{}, func(e *env) { e.LimitOffers(4) }, 0, 0, "NoOffer", time.Minute},
		"account limit": {simulator.Config{}, func(e *env) {
			e.SetAccount(simulator.AccountPatch{MaxInstances: new(int64(4))})
		}, 4, 4, "OfferRefused", 5 * time.Minute},
		"a boot fails": {simulator.Config{}, func(e *env) {
			e.failBoots(e.Offers()[0].ID)
		}, 5, 5, "NeedsReplacement", 5 * time.Minute},
		"not as demanded": {simulator.Config{}, func(e *env) {
			e.edit(simtest.Creates().Once(), smallerDisk)
		}, 1, 0, "NotAsOrdered", 5 * time.Minute},
		"not ready in time": {simulator.Config{}, func(e *env) {
			e.neverReady("train-1")
		}, 5, 5, "NotReady", 40 * time.Minute},
		// The API refuses DELETE while an instance boots. A rollback keeps asking until nothing is billed.
		"refused while the others boot": {booting, func(e *env) {
			e.refuse(http.StatusPaymentRequired, whenOthersAreRented("train-3"))
		}, 4, 4, "Error", 15 * time.Minute},
		"above the cap while the others boot": {simulator.Config{Boot: 5 * time.Minute}, func(e *env) {
			e.edit(whenOthersAreRented("train-2"), func(inst map[string]any) { multiplyPrice(inst, 10_000) })
		}, 5, 4, "AboveCap", 5 * time.Minute},
	} {
		subtest(t, name, test.config, func(t *testing.T, e *env) {
			five := allOf(5, 0)
			five.Target.MaxPriceKopH = 8 * priceOf(e.Offers()[:5]...)
			test.prepare(e)
			began := time.Now()
			result := e.apply(five, nil)
			if took := time.Since(began); took > test.took {
				t.Errorf("it took %s", took)
			}
			e.wantLeft(result, 0, test.rented)
			if !slices.Contains(slices.Collect(maps.Values(kinds(result))), test.kind) {
				t.Errorf("no slot has %q: %s", test.kind, describe(result))
			}
			if len(result.RolledBack) != test.rolledBack {
				t.Errorf("%d rolled back: %s", len(result.RolledBack), describe(result))
			}
			for _, f := range result.Failures {
				if kind(f.Err) == "NotReady" && f.Member.Missing() {
					t.Errorf("slot %d: %v, without its instance", f.Slot, f.Err)
				}
			}
		})
	}
}

func smallerDisk(inst map[string]any) { inst["disk_gb"] = 10 }

// Existing members stay. They are started first: new ones would be destroyed again if one of them cannot start.
func TestApply_AllKeepsExistingMembers(t *testing.T) {
	run(t, simulator.Config{}, func(_ *testing.T, e *env) {
		before := e.create(spec(3))
		e.LimitOffers(4)
		e.wantLeft(e.apply(allOf(8, 0), before), 3, 3)
	})
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		three := interruptible(3)
		three.All = true
		first := e.create(three)
		three.Target.MaxPriceKopH = first[0].Instance.Price.RunningKopH
		e.outbid(2, first[0])
		e.destroy(first[2].Instance.ID)
		result := e.apply(three, e.read(first))
		if e.wantLeft(result, 2, 3); kinds(result)[0] != "AboveCap" || kinds(result)[2] != "NotTried" {
			t.Error(describe(result))
		}
	})
}

// The rollback of a large fleet has enough time, although the API limits the requests per minute.
func TestApply_RollBackLarge(t *testing.T) {
	run(t, simulator.Config{MarketScale: 40}, func(t *testing.T, e *env) {
		e.enrich()
		e.SetRateLimit(30, 0) // a quarter of the documented one
		const size = 600
		rents, sent := simtest.Creates(), new(atomic.Int64)
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
		loses simtest.Match
		left  int
	}{
		"then known": {simtest.Creates("train-2").Once(), 0},
		"unknown":    {simtest.Creates("train-2"), 1},
	} {
		subtest(t, name, simulator.Config{}, func(t *testing.T, e *env) {
			e.failBoots(e.Offers()[3].ID)
			e.lose(test.loses)
			result := e.apply(allOf(4, 0), nil)
			if len(result.Failures) == 0 || len(e.Active()) != test.left {
				t.Errorf("%d instances are left: %s", len(e.Active()), describe(result))
			}
			e.boots.Set()
			e.Proxy.Set()
			e.want(e.apply(allOf(4, 0), result.Slots()), 4)
		})
	}
}

// The list lacks the instances of an interrupted apply, of which one never gets ready: their keys return them. The wait
// for it ends with the failure of another slot, which is no timeout, and both stay.
func TestApply_CancelledWaitIsNoTimeout(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.create(spec(2)) // by the interrupted apply
		e.neverReady("train-0", emptyList)
		e.failBoots(e.Offers()[2].ID)
		result := e.apply(allOf(3, 0), nil)
		e.Proxy.Set()
		if e.wantLeft(result, 2, 3); len(result.Failures) != 2 || kinds(result)[0] != "NotTried" {
			t.Error(describe(result))
		}
	})
}

// The list lacks the instances of an interrupted apply, and no offer is left: an apply changes nothing, and the next
// one finds them.
func TestApply_AllAfterLaggingList(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(3)) // by the interrupted apply
		e.LimitOffers(0)
		e.Proxy.Set(emptyList)
		result := e.apply(allOf(3, 0), nil)
		e.Proxy.Set()
		want := map[int]string{0: "NoOffer", 1: "NoOffer", 2: "NoOffer"}
		if !maps.Equal(kinds(result), want) || len(e.Active()) != 3 {
			t.Errorf("%d active: %s", len(e.Active()), describe(result))
		}
		again := allOf(3, 0)
		again.Owner.SearchedAt = result.SearchedAt
		result = e.apply(again, result.Slots())
		if e.want(result, 3); !maps.Equal(ids(result.Members), ids(first)) {
			t.Error(describe(result))
		}
	})
}

// An instance that was returned for its key stays when the others are destroyed again, and needs no further offer.
func TestApply_AllWaitsAgainWithRecoveredMember(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.create(spec(1)) // by an interrupted apply
		last := e.Offers()[2].ID
		e.LimitOffers(3)
		e.Proxy.Set(emptyList, simtest.Creates("train-2").Once().Do(simtest.Before(func(*http.Request) {
			time.Sleep(time.Second) // the others are rented
			e.LimitOffers(0)
			e.AddOffer(last, 10*time.Minute)
		})))
		began := time.Now()
		result := e.apply(allOf(3, time.Hour), nil)
		e.Proxy.Set()
		if e.want(result, 3); time.Since(began) > 20*time.Minute || len(result.Recovered) != 1 || len(e.Instances()) != 4 {
			t.Errorf("%d rented, %d recovered after %s", len(e.Instances()), len(result.Recovered), time.Since(began))
		}
	})
}

// loseOffer leaves four offers, of which someone else takes one when the first create request is sent. It is available
// again after some time.
func (e *env) loseOffer(index int, back time.Duration) {
	e.t.Helper()
	id := e.Offers()[index].ID
	e.LimitOffers(4)
	e.Proxy.Set(simtest.Creates().Once().Do(simtest.Before(func(*http.Request) {
		e.SetOffer(id, simulator.OfferPatch{Available: new(false)})
		e.AddOffer(id, back)
	})))
}

// With All and a wait for offers, a lost race destroys what was rented. Nothing is billed while the apply waits for the
// missing offer. After an interruption, the next apply continues, even if the API has no record of the keys of what the
// rollback destroyed: both try the keys of a slot from the same one.
func TestApply_AllWaitsAgainAfterLostRace(t *testing.T) {
	for index, rented := range map[int]int{3: 7, 0: 4} { // after the loss of the first offer, no other one is tried
		run(t, simulator.Config{Hooks: quirks.New("forgotten-keys")}, func(t *testing.T, e *env) {
			e.loseOffer(index, 20*time.Minute)
			began := time.Now()
			time.AfterFunc(10*time.Minute, func() {
				if billed := len(e.Active()); billed > 0 {
					t.Errorf("%d instances are billed during the wait", billed)
				}
			})
			result := e.apply(allOf(4, time.Hour), nil)
			took := time.Since(began)
			e.want(result, 4)
			e.wantLeft(result, 4, rented)
			if took < 20*time.Minute || took > 25*time.Minute {
				t.Errorf("it took %s", took)
			}
			result = e.apply(allOf(4, 0), nil) // the first one was interrupted
			if e.wantLeft(result, 4, rented); len(result.Recovered) != 4 {
				t.Errorf("%d recovered: %s", len(result.Recovered), describe(result))
			}
		})
	}
}

// If the offer does not come back, the wait ends without members, with its own reason, or with an interruption.
func TestApply_AllWaitEnds(t *testing.T) {
	for want, timeout := range map[string]time.Duration{
		"NoOffer": 4 * time.Hour, "Interrupted": 10 * time.Minute,
	} {
		subtest(t, want, simulator.Config{}, func(t *testing.T, e *env) {
			e.loseOffer(3, 48*time.Hour)
			ctx := within(t, timeout)
			began := time.Now()
			result := e.engine().Apply(ctx, allOf(4, time.Hour), nil, 2*time.Hour)
			interrupted := want == "Interrupted"
			if took := time.Since(began); took > 70*time.Minute || result.Interrupted != interrupted {
				t.Errorf("interrupted %t after %s", result.Interrupted, took)
			}
			if len(result.Failures) == 0 || kinds(result)[0] != want {
				t.Error(describe(result))
			}
			e.wantLeft(result, 0, 3)
		})
	}
}

// An offer that is listed and always refused must not make a fleet be rented and destroyed each minute.
func TestApply_AllWithRefusedOffer(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		refused := e.Offers()[3].ID
		e.AddOffer(e.LimitOffers(4)[0], 50*time.Minute)
		e.refuse(http.StatusConflict, simtest.Creates(refused))
		e.want(e.apply(allOf(4, 2*time.Hour), nil), 4)
		if rented := len(e.Instances()); rented > 4+3*6 {
			t.Errorf("%d instances were rented", rented)
		}
	})
}

// What exceeds a cap and could not be destroyed is rejected: the next apply destroys it, even if no offer is left.
func TestApply_DestroysRejected(t *testing.T) {
	runAny(t, simulator.Config{}, func(t *testing.T, e *env, all bool) {
		two := spec(2)
		two.Target.MaxPriceKopH = e.Offers()[1].Price.OnDemandKopH
		expensive := anyInstance.Do(simtest.RewriteItems(func(inst map[string]any) { multiplyPrice(inst, 300) }))
		e.Proxy.Set(deletes.Do(simtest.Fail(http.StatusForbidden)), expensive)
		result := e.apply(two, nil)
		e.wantLeft(result, 2, 2)
		e.Proxy.Set(expensive)
		e.LimitOffers(0)
		e.taken(result.Members...)
		two.All = all
		result = e.apply(two, e.read(result.Members))
		if e.wantLeft(result, 0, 2); len(result.Missing) != 2 || len(result.Failures) != 2 {
			t.Errorf("%d lost: %s", len(result.Missing), describe(result))
		}
	})
}
