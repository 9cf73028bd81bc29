package fleet_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// What an interrupted apply rented for missing slots is taken at any age, even if the API does not return the names,
// and no offer is left for a while.
func TestApply_RecoversMembers(t *testing.T) {
	for name, hidden := range map[string]bool{"by name": false, "by key": true} {
		t.Run(name, func(t *testing.T) {
			runAny(t, simulator.Config{}, func(t *testing.T, e *env, all bool) {
				first := e.create(spec(3))
				e.LimitOffers(0)
				if hidden {
					e.hideNames()
				}
				time.Sleep(5 * time.Hour)
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

// A growth from two to five members was killed, and nothing of it was saved. Whatever the size is now, the next apply
// takes the servers beyond it, and destroys none that no plan has shown. A destruction destroys all.
func TestApply_FindsAKilledGrowth(t *testing.T) {
	for _, age := range []time.Duration{0, 2 * time.Hour} {
		for _, size := range []int{2, 1, 0, 4, 6} {
			subtest(t, fmt.Sprintf("size %d after %s", size, age), simulator.Config{}, func(t *testing.T, e *env) {
				saved := e.create(spec(2))
				e.want(e.apply(spec(5), saved), 5)
				time.Sleep(age)
				result := e.apply(spec(size), saved)
				if len(result.Failures) > 0 || len(result.Recovered) != 3 || len(result.Members) != max(min(size, 2)+3, size) {
					t.Errorf("%d recovered: %s", len(result.Recovered), describe(result))
				}
				e.want(e.apply(spec(size), e.read(result.Members)), size)
			})
		}
		for _, listed := range []bool{true, false} {
			name := fmt.Sprintf("destroyed after %s, listed %t", age, listed)
			subtest(t, name, simulator.Config{}, func(t *testing.T, e *env) {
				saved := e.create(spec(2))
				e.want(e.apply(spec(5), saved), 5)
				time.Sleep(age)
				if !listed { // their keys return them
					e.Proxy.Set(emptyList)
				}
				result := e.destroyAll(spec(2), saved)
				e.Proxy.Set()
				if len(result.Recovered) != 3 || len(result.Failures) > 0 || len(e.Active()) > 0 {
					t.Errorf("%d recovered, %d left: %s", len(result.Recovered), len(e.Active()), describe(result))
				}
			})
		}
	}
}

// A heal was killed, and the state has lost the generations of the slots. The first instances were rented under a
// chosen seed, and the API accepts the keys of destroyed instances again. The next apply finds the new instance.
func TestApply_FindsAHealWithoutGenerations(t *testing.T) {
	for name, first := range map[string]fleet.Spec{"random": spec(3), "chosen": chosenFleet(3)} {
		for _, destroys := range []bool{false, true} {
			forgets := simulator.Config{Hooks: quirks.New("forgotten-keys")}
			subtest(t, fmt.Sprintf("%s, destroys %t", name, destroys), forgets, func(t *testing.T, e *env) {
				members := e.create(first)
				e.destroy(members[1].Instance.ID)
				train := spec(3)
				train.Owner.Chosen = first.Owner.Chosen
				e.want(e.apply(train, e.read(members)), 3)
				train.Owner.GenerationsUnknown = true
				saved := []fleet.Member{members[0], members[2]}
				if destroys {
					e.destroyAll(train, saved)
					if left := len(e.Active()); left > 0 {
						t.Errorf("%d are left", left)
					}
					return
				}
				if result := e.apply(train, saved); len(e.Instances()) != 4 || len(result.Members) != 3 {
					t.Errorf("%d were rented: %s", len(e.Instances()), describe(result))
				}
			})
		}
	}
}

// Two fleets of one name have nothing to do with each other: a creation, a growth and a destruction of one leave the
// servers of the other alone, of any age, and none of them waits or fails.
func TestApply_TwoFleetsWithOneName(t *testing.T) {
	for _, age := range []time.Duration{0, 2 * time.Hour} {
		subtest(t, fmt.Sprint(age), simulator.Config{}, func(t *testing.T, e *env) {
			others := e.create(spec(3))
			time.Sleep(age)
			second := newFleet(1)
			result := e.apply(second, nil)
			second = resized(saved(second), 4)
			result = e.apply(second, result.Members)
			if len(result.Failures) > 0 || len(result.Members) != 4 || len(result.Recovered) > 0 || len(e.Active()) != 7 {
				t.Fatalf("%d active: %s", len(e.Active()), describe(result))
			}
			e.destroyAll(second, result.Members)
			if e.want(e.apply(spec(3), others), 3); len(e.Active()) != 3 {
				t.Errorf("%d of the other fleet are left", len(e.Active()))
			}
		})
	}
}

// A fleet does not ask for servers with the names of members that are older than it, or that another object has.
func TestApply_AsksForNoServerOfOthers(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.create(spec(3))
		time.Sleep(time.Hour)
		younger := saved(newFleet(0))
		younger.Owner.SearchedAt = time.Now()
		engine := e.engine()
		sent := e.CountRequests("POST", "")
		engine.Apply(t.Context(), younger, nil, time.Hour)
		younger.Owner.SearchedAt = time.Time{}
		for _, inst := range e.Active() {
			engine.Lifecycle.Owners.Claim(inst.ID, lifecycle.Object{Token: "other"})
		}
		engine.Apply(t.Context(), younger, nil, time.Hour)
		if n := e.CountRequests("POST", "") - sent; n > 0 {
			t.Errorf("%d requests", n)
		}
	})
}

// The state is that of before a replacement: its instances are found.
func TestApply_RecoversAfterRestoredState(t *testing.T) {
	run(t, simulator.Config{Hooks: quirks.New("forgotten-keys")}, func(t *testing.T, e *env) {
		old := e.create(spec(2))
		empty := e.apply(spec(0), old)
		current := e.apply(spec(2), empty.Missing)
		e.want(current, 2)
		time.Sleep(2 * time.Hour)
		result := e.apply(spec(2), e.read(old))
		e.want(result, 2)
		if now := ids(result.Members); !maps.Equal(now, ids(current.Members)) || len(result.Recovered) != 2 {
			t.Errorf("%v, want %v", now, ids(current.Members))
		}
	})
}

// A new fleet with a chosen seed takes nothing that someone may have, and then rents nothing at all. A name alone is no
// reason.
func TestApply_ChosenFleetTakesNothingOfOthers(t *testing.T) {
	type story struct {
		prepare func(e *env, engine *fleet.Engine)
		rented  int
		want    map[int]string // of a new fleet with three members
	}
	for name, test := range map[string]story{
		"a foreign name": {func(e *env, _ *fleet.Engine) { e.Rent("train-1") }, 4, map[int]string{}},
		"older than an hour": {func(e *env, _ *fleet.Engine) {
			e.create(chosenFleet(2))
			time.Sleep(61 * time.Minute)
		}, 2, map[int]string{0: "NotRecent", 1: "NotRecent", 2: "NotTried"}},
		"older, and not listed with a name": {func(e *env, _ *fleet.Engine) {
			e.create(chosenFleet(2))
			time.Sleep(61 * time.Minute)
			e.hideNames()
		}, 2, map[int]string{0: "NotRecent", 1: "NotRecent", 2: "NotTried"}},
		// create_before_destroy: the process has read the members of the old object from a state.
		"of another object": {func(e *env, engine *fleet.Engine) {
			other := chosenFleet(2)
			other.Owner.Object.Token = "other"
			e.want(engine.Apply(e.t.Context(), other, nil, time.Hour), 2)
		}, 2, map[int]string{0: "InUse", 1: "InUse", 2: "NotTried"}},
	} {
		subtest(t, name, simulator.Config{Hooks: quirks.New("forgotten-keys")}, func(t *testing.T, e *env) {
			engine := e.engine()
			test.prepare(e, engine)
			sent := e.CountRequests("POST", "")
			result := engine.Apply(t.Context(), chosenFleet(3), nil, time.Hour)
			e.Proxy.Set()
			if got := kinds(result); !maps.Equal(got, test.want) || e.CountRequests("POST", "") > sent+6 {
				t.Errorf("%v, want %v: %s", got, test.want, describe(result))
			}
			if all := e.Instances(); len(all) != test.rented || len(test.want) > 0 && len(result.Members) > 0 {
				t.Errorf("%d members, %d were rented", len(result.Members), len(all))
			}
		})
	}
}

// A young member of a killed creation is given up if another instance makes the new fleet fail: the next apply can take
// it.
func TestApply_ChosenFleetReleasesFoundMembers(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		seed := chosenFleet(2).Owner.Chosen
		other := e.rent(seed, 1, 1)
		time.Sleep(2 * time.Hour)
		killed, engine := e.rent(seed, 0, 1), e.engine()
		result := engine.Apply(t.Context(), chosenFleet(2), nil, time.Hour)
		if len(result.Failures) != 2 || engine.Lifecycle.Owners.Has(killed) {
			t.Errorf("the failed fleet still has the instance of the interrupted apply: %s", describe(result))
		}
		e.destroy(other)
		result = engine.Apply(t.Context(), chosenFleet(2), nil, time.Hour)
		if e.want(result, 2); len(result.Recovered) != 1 {
			t.Error(describe(result))
		}
	})
}

// What an interrupted apply rented and what has failed since is taken, and not destroyed: no plan has shown that. The
// next apply replaces it.
func TestApply_FoundFailedMember(t *testing.T) {
	for name, hidden := range map[string]bool{"by name": false, "by key": true} {
		subtest(t, name, simulator.Config{}, func(t *testing.T, e *env) {
			killed := e.create(spec(1))
			e.fail(killed...)
			withheld := e.LimitOffers(0)
			if hidden {
				e.hideNames()
			}
			two := allOf(2, 10*time.Hour)
			began := time.Now()
			result := e.engine().Apply(t.Context(), two, nil, 20*time.Hour)
			want := map[int]string{0: "NotPlanned", 1: "NotTried"}
			if !maps.Equal(kinds(result), want) || len(result.Recovered) != 1 || time.Since(began) > time.Hour ||
				!maps.Equal(ids(result.Members), ids(killed)) {
				t.Errorf("%d recovered after %s: %s", len(result.Recovered), time.Since(began), describe(result))
			}
			for _, offer := range withheld {
				e.AddOffer(offer, 0)
			}
			result = e.apply(spec(2), e.read(result.Members))
			e.want(result, 2)
			if len(result.Recovered) > 0 {
				t.Errorf("%d recovered", len(result.Recovered))
			}
		})
	}
}

// A killed update has rented an instance for a slot, with other arguments than now. The fleet takes it, and a plan
// shows that it is replaced. With its arguments, the fleet keeps it.
func TestApply_OutdatedLeftover(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(1))
		e.destroy(first[0].Instance.ID)
		missing := e.read(first)
		killed := e.apply(spec(1), missing)
		time.Sleep(2 * time.Hour)
		result := e.apply(rolling(1, 1), missing)
		plan := planText(fleet.Plan(rolling(1, 1), result.Members))
		if kinds(result)[0] != "NotPlanned" || plan != "strict: update 0" {
			t.Errorf("%s, the next plan is %q", describe(result), plan)
		}
		e.want(e.apply(spec(1), missing), 1)
		e.wantLeft(killed, 1, 2)
	})
}

// The generation of a missing member is kept if the recovery of its instance fails: the next apply recovers it, however
// old it is. An interruption ends the search.
func TestApply_KeepsGenerationAfterFailedRecovery(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(1))
		e.destroy(first[0].Instance.ID)
		missing := e.read(first)
		healed := e.apply(spec(1), missing) // killed: its result is not stored
		time.Sleep(2 * time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		rents := simtest.Creates()
		e.refuse(http.StatusServiceUnavailable, func(req *http.Request) bool {
			if rents(req) {
				cancel()
			}
			return rents(req)
		})
		result := e.engine().Apply(ctx, spec(1), missing, 30*time.Minute)
		if len(result.Missing) != 1 || result.Missing[0].Generation != 1 {
			t.Fatalf("%s, missing %+v", describe(result), result.Missing)
		}
		e.Proxy.Set()
		result = e.apply(spec(1), result.Missing)
		if !maps.Equal(ids(result.Members), ids(healed.Members)) {
			t.Error(describe(result))
		}
	})
}

// The search for instances of an interrupted apply ends with the timeout of the apply.
func TestApply_RecoveryEndsInTime(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.create(spec(1))
		e.refuse(http.StatusServiceUnavailable, simtest.Creates())
		began := time.Now()
		result := e.engine().Apply(t.Context(), spec(1), nil, 30*time.Minute)
		if took := time.Since(began); took > 45*time.Minute || len(result.Failures) != 1 {
			t.Errorf("after %s: %s", took, describe(result))
		}
	})
}

// If the outcome of a create request stays unknown, the next apply finds the server, and so does a destruction, even if
// the API does not return names. A chosen key does not prove whose it is: a destruction leaves it alone, and fails.
func TestApply_UnknownOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		spec fleet.Spec
		kind string // of a destruction
		left int    // servers after it
	}{
		"random": {newFleet(2), "", 0}, "chosen": {chosenFleet(2), "NotRecent", 1},
	} {
		for _, hidden := range []bool{false, true} {
			for _, destroys := range []bool{false, true} {
				name := fmt.Sprintf("%s, hidden %t, destroys %t", name, hidden, destroys)
				subtest(t, name, simulator.Config{}, func(t *testing.T, e *env) {
					e.lose(simtest.Creates("train-1"))
					train := test.spec
					result := e.apply(train, nil)
					if kinds(result)[1] != "OutcomeUnknown" || len(result.Members) != 1 || !result.Missing[0].Unknown {
						t.Fatal(describe(result))
					}
					e.Proxy.Set()
					if hidden {
						e.hideNames()
					}
					train = saved(train)
					train.Owner.Chosen = lifecycle.KeySeed{} // the prefix was removed meanwhile
					if destroys {
						result = e.destroyAll(train, result.Slots())
						if kinds(result)[1] != test.kind || len(e.Active()) != test.left {
							t.Errorf("%d are left: %s", len(e.Active()), describe(result))
						}
						return
					}
					result = e.apply(train, result.Slots())
					if e.want(result, 2); len(result.Recovered) != 1 {
						t.Errorf("%d recovered", len(result.Recovered))
					}
				})
			}
		}
	}
}

// The only new member is destroyed outside while it boots: the apply ends soon, and reports the instance.
func TestApply_DestroyedOutsideWhileBooting(t *testing.T) {
	runAny(t, simulator.Config{Boot: 10 * time.Minute}, func(t *testing.T, e *env, all bool) {
		time.AfterFunc(time.Minute, func() { e.destroy(e.Active()[0].ID) })
		one := newFleet(1)
		one.All = all
		began := time.Now()
		result := e.apply(one, nil)
		if took := time.Since(began); took > 3*time.Minute || kinds(result)[0] != "Missing" ||
			result.Failures[0].Member.Missing() {
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
		result := must(engine.Destroy(t.Context(), spec(0), members, time.Hour))
		if len(result.KeptForOther) != 1 || len(result.Failures) > 0 || len(e.Active()) != 1 {
			t.Errorf("kept %v, %d active: %s", result.KeptForOther, len(e.Active()), describe(result))
		}
	})
}

// After a retry of a fleet with allocation = "all" nothing would remember a slot whose creation had an unknown outcome,
// and its server would be billed during the wait for offers. So the apply ends.
func TestApply_AllDoesNotForgetUnknownSlots(t *testing.T) {
	for name, train := range map[string]fleet.Spec{"new": newFleet(3), "chosen": chosenFleet(3), "saved": spec(3)} {
		subtest(t, name, simulator.Config{}, func(t *testing.T, e *env) {
			e.LimitOffers(3)
			e.Proxy.Set(simtest.Creates("train-2").Do(simtest.LoseResponse), simtest.Creates("train-1").Do(
				func(w http.ResponseWriter, r *http.Request, api http.Handler) {
					time.Sleep(3 * time.Second) // the first request takes a while
					e.LimitOffers(0)
					simtest.Fail(http.StatusConflict)(w, r, api)
				}))
			train.All, train.Offers.Wait = true, time.Hour
			began := time.Now()
			result := e.engine().Apply(t.Context(), train, nil, 2*time.Hour)
			unknown := func(m fleet.Member) bool { return m.Unknown }
			if left := e.Active(); len(left) != 1 || !slices.ContainsFunc(result.Missing, unknown) {
				t.Errorf("%d are left: %s", len(left), describe(result))
			}
			if took := time.Since(began); took > 10*time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// The outcome of a creation with a chosen seed is unknown, and its server is destroyed meanwhile: its key has no other
// generation.
func TestApply_UnknownServerIsDestroyed(t *testing.T) {
	for name, destroys := range map[string]bool{"apply": false, "destroy": true} {
		subtest(t, name, simulator.Config{}, func(t *testing.T, e *env) {
			e.lose(simtest.Creates("train-1"))
			train := chosenFleet(2)
			result := e.apply(train, nil)
			e.Proxy.Set()
			for _, inst := range e.Active() {
				if inst.NameString() == "train-1" {
					e.destroy(inst.ID)
				}
			}
			train, sent := saved(train), e.CountRequests("POST", "")
			if destroys {
				result = e.destroyAll(train, result.Slots())
			} else {
				result = e.apply(train, result.Slots())
			}
			if len(result.Failures) > 0 || e.CountRequests("POST", "") > sent+16 {
				t.Errorf("%d requests: %s", e.CountRequests("POST", "")-sent, describe(result))
			}
		})
	}
}

// A growth had an unknown outcome, and the provider has a prefix now, with which another state has a fleet of the same
// name: the fleet takes its own server.
func TestApply_UnknownSlotIsItsOwn(t *testing.T) {
	for _, age := range []time.Duration{0, 2 * time.Hour} {
		subtest(t, fmt.Sprint(age), simulator.Config{}, func(t *testing.T, e *env) {
			mine := newFleet(1)
			first := e.create(mine)
			e.lose(simtest.Creates("train-1"))
			mine = resized(saved(mine), 2)
			grown := e.apply(mine, first)
			e.Proxy.Set()
			before := e.Active()
			theirs := e.apply(chosenFleet(2), nil).Members
			time.Sleep(age)
			mine.Owner.Chosen = chosenFleet(2).Owner.Chosen
			result := e.apply(mine, grown.Slots())
			own := ids(result.Members)[1]
			if len(before) != 2 || own == "" || own == ids(theirs)[1] || len(result.Failures) > 0 {
				t.Errorf("slot 1 has %s, the other fleet %s: %s", own, ids(theirs)[1], describe(result))
			}
		})
	}
}

// The list lacks the servers of a killed heal of all members: a destruction finds them, however many.
func TestDestroy_FindsAllOfAKilledHeal(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.enrich()
		first := e.create(spec(24))
		for _, m := range first {
			must(e.Client.DeleteInstance(t.Context(), m.Instance.ID))
		}
		missing := e.read(first)
		e.want(e.apply(spec(24), missing), 24) // killed
		e.Proxy.Set(emptyList)
		result := e.destroyAll(spec(24), missing)
		e.Proxy.Set()
		if left := len(e.Active()); left > 0 {
			t.Errorf("%d are left: %s", left, describe(result))
		}
	})
}

// The first generation under a chosen seed was destroyed, a killed creation rented the second one, and the API has
// forgotten the key of the first: the next creation finds the server by its name.
func TestApply_ChosenSeedWithForgottenKey(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.destroy(e.create(chosenFleet(1))[0].Instance.ID)
		killed := e.create(chosenFleet(1))
		forgotten := chosenFleet(1).Owner.Chosen.Slot(0).Key(1)
		e.Proxy.Set(simtest.Creates().Do(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
			if r.Header.Get("Idempotency-Key") == forgotten {
				r.Header.Set("Idempotency-Key", "another")
			}
			api.ServeHTTP(w, r)
		}))
		result := e.apply(chosenFleet(1), nil)
		if len(e.Active()) != 1 || ids(result.Members)[0] != ids(killed)[0] {
			t.Errorf("%d active: %s", len(e.Active()), describe(result))
		}
	})
}

// Several creations under a chosen seed had one slot, and a killed one had two: its second slot used the keys from the
// generation of the first one on, so that its first keys are unused. The next creation finds both.
func TestApply_ChosenFleetRecoversMoreSlots(t *testing.T) {
	run(t, simulator.Config{}, func(_ *testing.T, e *env) {
		for range 5 {
			e.destroy(e.create(chosenFleet(1))[0].Instance.ID)
		}
		e.create(chosenFleet(2)) // killed
		e.want(e.apply(chosenFleet(2), nil), 2)
	})
}

// The service spells names in its own way: the servers of a killed growth are found.
func TestApply_FindsNormalizedNames(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.edit(anyInstance, func(inst map[string]any) {
			if name, ok := inst["name"].(string); ok {
				inst["name"] = strings.ToLower(name)
			}
		})
		train := spec(2)
		train.Name = "Train"
		first := e.create(train)
		e.want(e.apply(resized(train, 5), first), 5) // killed
		if result := e.apply(train, first); len(result.Members) != 5 {
			t.Error(describe(result))
		}
	})
}

// The next creation takes all servers of a killed one with a chosen seed, even if it is smaller: a later growth would
// rent them again.
func TestApply_ChosenFleetRecovers(t *testing.T) {
	for _, size := range []int{3, 6} {
		run(t, simulator.Config{}, func(t *testing.T, e *env) {
			killed := e.create(chosenFleet(5))
			train := chosenFleet(size)
			result := e.apply(train, nil)
			e.wantLeft(result, max(size, 5), max(size, 5))
			if len(result.Recovered) != 5 || ids(result.Members)[0] != ids(killed)[0] {
				t.Errorf("%d recovered: %s", len(result.Recovered), describe(result))
			}
			e.want(e.apply(resized(saved(train), 6), result.Slots()), 6)
		})
	}
}
