package fleet_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// newFleet describes a fleet that no state contains.
func newFleet(size int) fleet.Spec {
	s := spec(size)
	s.Object.Token, s.Exists = "new", false
	return s
}

// kinds returns the kinds of the failures by slot.
func kinds(result fleet.Result) map[int]failure.Kind {
	found := map[int]failure.Kind{}
	for _, f := range result.Failures {
		found[f.Slot] = failure.KindOf(f.Err)
	}
	return found
}

// wantNothing fails unless an apply has ended with failures of some kinds, and neither rented nor took an instance.
func (e *env) wantNothing(result fleet.Result, rented int, want map[int]failure.Kind) {
	e.t.Helper()
	got := kinds(result)
	for slot, kind := range want {
		if got[slot] != kind {
			e.t.Errorf("slot %d: kind %q, want %q", slot, got[slot], kind)
		}
	}
	if len(got) != len(want) || len(result.Members) > 0 || len(e.all()) != rented {
		e.t.Errorf("%d failures, %d members, %d instances were rented: %s", len(got), len(result.Members), len(e.all()),
			describe(result))
	}
}

// The API does not keep the key of a destroyed server. A new fleet finds the live server of the next generation by its
// name, and rents no second one.
func TestApply_NewFleetAfterForgottenKey(t *testing.T) {
	run(t, simulator.Config{Quirks: []string{"forgotten-keys"}}, func(t *testing.T, e *env) {
		first := e.apply(spec(2), nil)
		e.want(first, 2)
		if _, err := e.client.DeleteInstance(t.Context(), first.Members[0].Instance.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		healed := e.apply(spec(2), e.read(first.Members))
		e.want(healed, 2)
		result := e.apply(newFleet(3), nil)
		e.wantNothing(result, 3, map[int]failure.Kind{0: failure.NotByKey, 1: failure.NotTried, 2: failure.NotTried})
		if found := failure.As(result.Failures[0].Err).Instance.ID; found != healed.Members[0].Instance.ID {
			t.Errorf("the error is about %q", found)
		}
	})
}

// An instance with a member's name that someone else has rented is no member.
func TestApply_NewFleetWithForeignName(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.createOther("train-1")
		result := e.apply(newFleet(2), nil)
		e.wantNothing(result, 1, map[int]failure.Kind{0: failure.NotTried, 1: failure.NotByKey})
	})
}

// A new fleet rents nothing if it cannot list the account.
func TestApply_NewFleetWithoutList(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		forbidden := true
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if forbidden && req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/instances") {
				return apiError(http.StatusForbidden, "forbidden"), nil
			}
			return send()
		})
		result := e.apply(newFleet(2), nil)
		forbidden = false
		e.wantNothing(result, 0, map[int]failure.Kind{0: "", 1: ""})
	})
}

// create_before_destroy: the process has read the members of the old object from a state. The new object takes none of
// them, however young they are, and rents nothing.
func TestApply_CreateBeforeDestroy(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		engine := e.engine()
		old := engine.Apply(t.Context(), spec(2), nil, time.Hour)
		e.want(old, 2)
		result := engine.Apply(t.Context(), newFleet(3), nil, time.Hour)
		e.wantNothing(result, 2, map[int]failure.Kind{0: failure.InUse, 1: failure.InUse, 2: failure.NotTried})
		result = engine.Apply(t.Context(), spec(0), old.Members, time.Hour)
		if len(result.Failures) > 0 || len(e.active()) > 0 {
			t.Errorf("the old object does not destroy its members: %s", describe(result))
		}
		e.want(engine.Apply(t.Context(), newFleet(3), nil, time.Hour), 3)
	})
}

// A young member of a killed run is given up if another instance makes the new fleet fail: the next apply can take it.
func TestApply_NewFleetReleasesFoundMembers(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		killed := e.apply(spec(1), nil)
		e.want(killed, 1)
		other, engine := e.createOther("train-1"), e.engine()
		result := engine.Apply(t.Context(), newFleet(2), nil, time.Hour)
		e.wantNothing(result, 2, map[int]failure.Kind{0: failure.NotTried, 1: failure.NotByKey})
		if engine.Lifecycle.Owners.Has(killed.Members[0].Instance.ID) {
			t.Error("the failed fleet still has the instance of the killed run")
		}
		if _, err := e.client.DeleteInstance(t.Context(), other.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if result = e.apply(newFleet(2), nil); len(result.Recovered) != 1 {
			t.Error(describe(result))
		}
		e.want(result, 2)
	})
}

// The API replays the first answer for a key, with the status creating, whatever became of the server.
func TestApply_FirstAnswerReplays(t *testing.T) {
	config := simulator.Config{Quirks: []string{"first-answer-replays"}}
	t.Run("destroyed", func(t *testing.T) {
		run(t, config, func(t *testing.T, e *env) {
			first := e.apply(spec(2), nil)
			e.engine().Apply(t.Context(), spec(0), first.Members, time.Hour)
			result := e.apply(newFleet(2), nil)
			e.want(result, 2)
			if result.Members[0].Generation != 2 || result.Members[1].Generation != 2 {
				t.Errorf("generations %d and %d", result.Members[0].Generation, result.Members[1].Generation)
			}
		})
	})
	t.Run("running", func(t *testing.T) {
		run(t, config, func(t *testing.T, e *env) {
			first := e.apply(spec(2), nil)
			result := e.apply(newFleet(2), nil)
			e.want(result, 2)
			if len(result.Recovered) != 2 || ids(first.Members)[0] != ids(result.Members)[0] {
				t.Errorf("%d recovered", len(result.Recovered))
			}
		})
	})
}

// What a killed run rented and what has failed since is taken, and not destroyed: no plan has shown that. The next
// apply replaces it.
func TestApply_FoundFailedMember(t *testing.T) {
	for name, hidden := range map[string]bool{"by name": false, "by key": true} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{}, func(t *testing.T, e *env) {
				killed := e.apply(spec(1), nil)
				e.want(killed, 1)
				id := killed.Members[0].Instance.ID
				e.setInstance(id, simulator.InstancePatch{Status: new(string(rental.StatusFailed))})
				withheld := e.limit(0)
				e.intercept(editing(func(inst map[string]any) {
					if hidden {
						delete(inst, "name")
					}
				}))
				two := newFleet(2)
				two.All, two.WaitForOffer = true, 10*time.Hour
				began := time.Now()
				result := e.engine().Apply(t.Context(), two, nil, 20*time.Hour)
				if took := time.Since(began); took > time.Hour {
					t.Errorf("it took %s", took)
				}
				want := map[int]failure.Kind{0: failure.NotPlanned, 1: failure.NotTried}
				if !maps.Equal(kinds(result), want) || ids(result.Members)[0] != id || len(result.Recovered) != 1 {
					t.Errorf("%d recovered: %s", len(result.Recovered), describe(result))
				}
				for _, offer := range withheld {
					e.setOffer(offer, simulator.OfferPatch{Available: new(true)})
				}
				time.Sleep(time.Minute)
				result = e.apply(spec(2), result.Members)
				e.want(result, 2)
				if len(result.Recovered) > 0 {
					t.Errorf("%d recovered", len(result.Recovered))
				}
			})
		})
	}
}

// If the outcome of a create request stays unknown, the error has the key, and the next apply finds the server.
func TestApply_UnknownOutcomeHasKey(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		broken := true
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			lose := broken && isCreate(req) && strings.Contains(bodyOf(req), `"train-1"`)
			resp, err := send()
			if lose {
				return apiError(http.StatusInternalServerError, "internal"), nil
			}
			return resp, err
		})
		result := e.apply(newFleet(2), nil)
		broken = false
		if len(result.Failures) != 1 || len(result.Members) != 1 {
			t.Fatal(describe(result))
		}
		unknown := failure.As(result.Failures[0].Err)
		if unknown.Kind != failure.OutcomeUnknown || unknown.Key != lifecycle.SlotKey("train", 1).Key(1) {
			t.Errorf("%s, key %q", describe(result), unknown.Key)
		}
		result = e.apply(spec(2), result.Members)
		e.want(result, 2)
		if len(result.Recovered) != 1 || len(e.all()) != 2 {
			t.Errorf("%d recovered, %d rented", len(result.Recovered), len(e.all()))
		}
	})
}

// The only new member is destroyed outside while it boots: the apply ends soon, and reports the instance.
func TestApply_DestroyedOutsideWhileBooting(t *testing.T) {
	for name, all := range map[string]bool{"any": false, "all": true} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{Boot: 10 * time.Minute}, func(t *testing.T, e *env) {
				time.AfterFunc(time.Minute, func() {
					for _, inst := range e.active() {
						must(e.client.DeleteInstance(t.Context(), inst.ID))
					}
				})
				one := newFleet(1)
				one.All = all
				began := time.Now()
				result := e.apply(one, nil)
				if took := time.Since(began); took > 3*time.Minute {
					t.Errorf("it took %s", took)
				}
				if len(result.Members) > 0 || len(e.all()) != 1 || kinds(result)[0] != failure.Gone ||
					result.Failures[0].Member.Lost() {
					t.Errorf("%d members, %d rented: %s", len(result.Members), len(e.all()), describe(result))
				}
			})
		})
	}
}

// An offer that answers 422 does not keep a slot from the others. Many in succession end the search.
func TestApply_RefusedOffers(t *testing.T) {
	t.Run("some", func(t *testing.T) {
		run(t, simulator.Config{Quirks: []string{"refused-disks"}}, func(t *testing.T, e *env) {
			e.want(e.apply(spec(4), nil), 4)
		})
	})
	t.Run("all", func(t *testing.T) {
		run(t, simulator.Config{}, func(t *testing.T, e *env) {
			e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
				if isCreate(req) && !strings.Contains(bodyOf(req), `"none"`) {
					return apiError(http.StatusUnprocessableEntity, "validation_error"), nil
				}
				return send()
			})
			result := e.apply(spec(4), nil)
			got := kinds(result)
			if len(got) != 4 || got[0] != failure.OfferRefused {
				t.Error(describe(result))
			}
			for _, f := range result.Failures {
				if !rental.IsValidation(f.Err) {
					t.Errorf("without the refusal: %s", describe(result))
				}
			}
			if offers := e.count(http.MethodPost); offers > 12 {
				t.Errorf("%d requests to rent", offers)
			}
		})
	})
}

// Refusals of all offers cost the first replaced member at most: the others stay.
func TestApply_RefusedReplacements(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		created := e.apply(spec(12), nil).Members
		for i := range created {
			e.setInstance(created[i].Instance.ID, simulator.InstancePatch{Status: new(string(rental.StatusFailed))})
		}
		members, _, err := e.engine().Refresh(t.Context(), created)
		if err != nil {
			t.Fatal(err)
		}
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if isCreate(req) && !strings.Contains(bodyOf(req), `"none"`) {
				return apiError(http.StatusConflict, "conflict"), nil
			}
			return send()
		})
		result := e.apply(spec(12), members)
		if len(result.Failures) != 12 || len(result.Members) < 11 {
			t.Errorf("%d members stay: %s", len(result.Members), describe(result))
		}
	})
}

// An offer that is listed and always refused does not keep a wait from the one that appears later.
func TestApply_PhantomOfferWhileWaiting(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		withheld := e.limit(0)
		e.quirk("phantom-offers")
		e.setOffer(withheld[3], simulator.OfferPatch{Available: new(true), After: 10 * time.Minute})
		one := spec(1)
		one.WaitForOffer = time.Hour
		began := time.Now()
		e.want(e.engine().Apply(t.Context(), one, nil, 2*time.Hour), 1)
		if took := time.Since(began); took > 11*time.Minute+30*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
