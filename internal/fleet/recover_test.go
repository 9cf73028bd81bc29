package fleet_test

import (
	"context"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A run that was killed after it rented members is continued, even if the state has none of them, the API returns their
// names or not, and no offer is left for a while.
func TestApply_RecoversMembers(t *testing.T) {
	for name, hidden := range map[string]bool{"by name": false, "by key": true} {
		t.Run(name, func(t *testing.T) {
			runAny(t, simulator.Config{}, func(t *testing.T, e *env, all bool) {
				first := e.create(spec(3))
				e.limit(0)
				e.edit(anyInstance, func(inst map[string]any) {
					if hidden {
						delete(inst, "name")
					}
				})
				three := allOf(3, 5*time.Hour)
				three.All = all
				began := time.Now()
				second := e.apply(three, nil)
				e.want(second, 3)
				if took := time.Since(began); len(second.Recovered) != 3 || took > 10*time.Minute {
					t.Errorf("%d members were recovered in %s", len(second.Recovered), took)
				}
				if now := ids(second.Members); !maps.Equal(now, ids(first)) {
					t.Errorf("%v, before %v", now, ids(first))
				}
			})
		})
	}
}

// The state is that of before a replacement. Even if the API accepts the keys of destroyed instances again, so that the
// replacement used the same ones again, its instances are found.
func TestApply_RecoversAfterRestoredState(t *testing.T) {
	for name, quirks := range map[string][]string{"next keys": nil, "the same keys": {"forgotten-keys"}} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{Quirks: quirks}, func(t *testing.T, e *env) {
				old := e.create(spec(2))
				e.want(e.apply(spec(0), old), 0)
				current := e.create(spec(2))
				time.Sleep(2 * time.Hour)
				result := e.apply(spec(2), e.read(old))
				e.want(result, 2)
				if now := ids(result.Members); !maps.Equal(now, ids(current)) || len(result.Recovered) != 2 {
					t.Errorf("%v, want %v", now, ids(current))
				}
			})
		})
	}
}

// A new fleet takes nothing that someone may have, and then rents nothing at all.
func TestApply_NewFleetTakesNothingOfOthers(t *testing.T) {
	type story struct {
		prepare func(e *env, engine *fleet.Engine)
		rented  int
		want    map[int]failure.Kind // of a new fleet with three members
	}
	for name, test := range map[string]story{
		// The API has forgotten the key of the destroyed first instance: it is found by its name.
		"a forgotten key": {func(e *env, _ *fleet.Engine) {
			first := e.create(spec(2))
			e.destroy(first[0].Instance.ID)
			e.want(e.apply(spec(2), e.read(first)), 2)
		}, 3, map[int]failure.Kind{0: failure.NotByKey, 1: failure.NotTried, 2: failure.NotTried}},
		"a foreign name": {func(e *env, _ *fleet.Engine) { e.createOther("train-1") }, 1,
			map[int]failure.Kind{0: failure.NotTried, 1: failure.NotByKey, 2: failure.NotTried}},
		"older than an hour": {func(e *env, _ *fleet.Engine) {
			e.create(spec(2))
			time.Sleep(61 * time.Minute)
		}, 2, map[int]failure.Kind{0: failure.NotLost, 1: failure.NotLost, 2: failure.NotTried}},
		// create_before_destroy: the process has read the members of the old object from a state.
		"of another object": {func(e *env, engine *fleet.Engine) {
			e.want(engine.Apply(e.t.Context(), spec(2), nil, time.Hour), 2)
		}, 2, map[int]failure.Kind{0: failure.InUse, 1: failure.InUse, 2: failure.NotTried}},
		"an account that cannot be listed": {func(e *env, _ *fleet.Engine) {
			e.refuse(http.StatusForbidden, acctest.Request("GET", "/instances"))
		}, 0, map[int]failure.Kind{0: "", 1: "", 2: ""}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{Quirks: []string{"forgotten-keys"}}, func(t *testing.T, e *env) {
				engine := e.engine()
				test.prepare(e, engine)
				sent := e.count("POST")
				result := engine.Apply(t.Context(), newFleet(3), nil, time.Hour)
				e.proxy.Set()
				if got := kinds(result); !maps.Equal(got, test.want) || e.count("POST") > sent+3 {
					t.Errorf("%v, want %v: %s", got, test.want, describe(result))
				}
				if all := e.all(); len(result.Members) > 0 || len(all) != test.rented {
					t.Errorf("%d members, %d were rented", len(result.Members), len(all))
				}
			})
		})
	}
}

// A fleet in the state takes an older server only for a slot that it has had: a copy of the configuration in another
// state, grown from size 0, takes nothing.
func TestApply_NewSlotsTakeNoOldInstance(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.create(newFleet(1))
		time.Sleep(5 * time.Hour)
		result := e.apply(spec(1), nil)
		if kinds(result)[0] != failure.NotLost || len(result.Members) > 0 || len(e.active()) != 1 {
			t.Error(describe(result))
		}
	})
}

// After a create_before_destroy that failed, the old object destroys its members, and a new one is created.
func TestApply_CreateAfterDestroy(t *testing.T) {
	run(t, simulator.Config{Quirks: []string{"lagging-list"}}, func(_ *testing.T, e *env) {
		engine := e.engine()
		old := engine.Apply(e.t.Context(), spec(2), nil, time.Hour)
		engine.Apply(e.t.Context(), newFleet(2), nil, time.Hour)
		e.want(engine.Apply(e.t.Context(), spec(0), old.Members, time.Hour), 0)
		e.want(engine.Apply(e.t.Context(), newFleet(2), nil, time.Hour), 2)
	})
}

// A young member of a killed run is given up if another instance makes the new fleet fail: the next apply can take it.
func TestApply_NewFleetReleasesFoundMembers(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		killed := e.create(spec(1))
		other, engine := e.createOther("train-1"), e.engine()
		result := engine.Apply(t.Context(), newFleet(2), nil, time.Hour)
		if len(result.Failures) != 2 || engine.Lifecycle.Owners.Has(killed[0].Instance.ID) {
			t.Errorf("the failed fleet still has the instance of the killed run: %s", describe(result))
		}
		e.destroy(other.ID)
		result = engine.Apply(t.Context(), newFleet(2), nil, time.Hour)
		if e.want(result, 2); len(result.Recovered) != 1 {
			t.Error(describe(result))
		}
	})
}

// The API replays the first answer for a key, with the status creating, whatever became of the server.
func TestApply_FirstAnswerReplays(t *testing.T) {
	for name, destroyed := range map[string]bool{"destroyed": true, "running": false} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{Quirks: []string{"first-answer-replays"}}, func(t *testing.T, e *env) {
				first, generation := e.create(spec(2)), 1
				if destroyed {
					e.want(e.apply(spec(0), first), 0)
					generation = 2
				}
				result := e.apply(newFleet(2), nil)
				e.want(result, 2)
				for _, m := range result.Members {
					if m.Generation != generation || destroyed == (m.Instance.ID == first[m.Slot].Instance.ID) {
						t.Errorf("slot %d: %s, generation %d", m.Slot, m.Instance.ID, m.Generation)
					}
				}
			})
		})
	}
}

// What a killed run rented and what has failed since is taken, and not destroyed: no plan has shown that. The next
// apply replaces it.
func TestApply_FoundFailedMember(t *testing.T) {
	for name, hidden := range map[string]bool{"by name": false, "by key": true} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{}, func(t *testing.T, e *env) {
				killed := e.create(spec(1))
				e.fail(killed...)
				withheld := e.limit(0)
				e.edit(anyInstance, func(inst map[string]any) {
					if hidden {
						delete(inst, "name")
					}
				})
				two := newFleet(2)
				two.All, two.WaitForOffer = true, 10*time.Hour
				began := time.Now()
				result := e.engine().Apply(t.Context(), two, nil, 20*time.Hour)
				want := map[int]failure.Kind{0: failure.NotPlanned, 1: failure.NotTried}
				if !maps.Equal(kinds(result), want) || len(result.Recovered) != 1 || time.Since(began) > time.Hour ||
					!maps.Equal(ids(result.Members), ids(killed)) {
					t.Errorf("%d recovered after %s: %s", len(result.Recovered), time.Since(began), describe(result))
				}
				for _, offer := range withheld {
					e.available(offer, 0)
				}
				result = e.apply(spec(2), e.read(result.Members))
				e.want(result, 2)
				if len(result.Recovered) > 0 {
					t.Errorf("%d recovered", len(result.Recovered))
				}
			})
		})
	}
}

// A killed update has rented an instance for a slot, with other arguments than now. The fleet takes it, and a plan
// shows that it is replaced. With its arguments, the fleet keeps it.
func TestApply_OutdatedLeftover(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(1))
		e.destroy(first[0].Instance.ID)
		lost := e.read(first)
		killed := e.apply(spec(1), lost)
		time.Sleep(2 * time.Hour)
		result := e.apply(rolling(1, 1), lost)
		plan := planText(fleet.Plan(rolling(1, 1), result.Members))
		if kinds(result)[0] != failure.NotPlanned || plan != "strict: update 0" {
			t.Errorf("%s, the next plan is %q", describe(result), plan)
		}
		e.want(e.apply(spec(1), lost), 1)
		e.wantLeft(killed, 1, 2)
	})
}

// The generation of a lost member is kept if the recovery of its instance fails: the next apply recovers it, however
// old it is. An interruption ends the search.
func TestApply_KeepsGenerationAfterFailedRecovery(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(1))
		e.destroy(first[0].Instance.ID)
		lost := e.read(first)
		healed := e.apply(spec(1), lost) // killed: its result is not stored
		time.Sleep(2 * time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		rents := creates()
		e.refuse(http.StatusServiceUnavailable, func(req *http.Request) bool {
			if rents(req) {
				cancel()
			}
			return rents(req)
		})
		result := e.engine().Apply(ctx, spec(1), lost, 30*time.Minute)
		if len(result.Lost) != 1 || result.Lost[0].Generation != 1 {
			t.Fatalf("%s, lost %+v", describe(result), result.Lost)
		}
		e.proxy.Set()
		result = e.apply(spec(1), result.Lost)
		if !maps.Equal(ids(result.Members), ids(healed.Members)) {
			t.Error(describe(result))
		}
	})
}

// The search for instances of a killed run ends with the timeout of the apply.
func TestApply_RecoveryEndsInTime(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.create(spec(1))
		e.refuse(http.StatusServiceUnavailable, creates())
		began := time.Now()
		result := e.engine().Apply(t.Context(), spec(1), nil, 30*time.Minute)
		if took := time.Since(began); took > 45*time.Minute || len(result.Failures) != 1 {
			t.Errorf("after %s: %s", took, describe(result))
		}
	})
}

// If the outcome of a create request stays unknown, the error has the key, and the next apply finds the server.
func TestApply_UnknownOutcomeHasKey(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.lose(creates("train-1"))
		result := e.apply(newFleet(2), nil)
		if len(result.Failures) != 1 || len(result.Members) != 1 {
			t.Fatal(describe(result))
		}
		unknown := failure.As(result.Failures[0].Err)
		if unknown.Kind != failure.OutcomeUnknown || unknown.Key != lifecycle.SlotKey("train", 1).Key(1) {
			t.Errorf("%s, key %q", describe(result), unknown.Key)
		}
		e.proxy.Set()
		result = e.apply(spec(2), result.Members)
		e.want(result, 2)
		if e.wantLeft(result, 2, 2); len(result.Recovered) != 1 {
			t.Errorf("%d recovered", len(result.Recovered))
		}
	})
}

// The only new member is destroyed outside while it boots: the apply ends soon, and reports the instance.
func TestApply_DestroyedOutsideWhileBooting(t *testing.T) {
	runAny(t, simulator.Config{Boot: 10 * time.Minute}, func(t *testing.T, e *env, all bool) {
		time.AfterFunc(time.Minute, func() { e.destroy(e.active()[0].ID) })
		one := newFleet(1)
		one.All = all
		began := time.Now()
		result := e.apply(one, nil)
		if took := time.Since(began); took > 3*time.Minute || kinds(result)[0] != failure.Gone ||
			result.Failures[0].Member.Lost() {
			t.Errorf("after %s: %s", took, describe(result))
		}
		e.wantLeft(result, 0, 1)
	})
}

// The destruction of a fleet leaves an instance alone that another object of the process has.
func TestApply_DestructionKeepsInstancesOfAnotherObject(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		members, engine := e.create(spec(2)), e.engine()
		engine.Lifecycle.Owners.Claim(members[0].Instance.ID, lifecycle.Object{Token: "other"})
		result := engine.Apply(t.Context(), spec(0), members, time.Hour)
		if len(result.KeptForOther) != 1 || len(result.Failures) > 0 || len(e.active()) != 1 {
			t.Errorf("kept %v, %d active: %s", result.KeptForOther, len(e.active()), describe(result))
		}
	})
}
