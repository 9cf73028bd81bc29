package fleet_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A member whose create response was lost may be another run's: if its price rises while it boots, it is stopped.
func TestApply_ReplayedStoppedAboveCap(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		one := spec(1)
		one.MaxPriceKopH = e.offers()[0].Price.OnDemandKopH
		one.Queries[0].MaxPriceKopH = &one.MaxPriceKopH
		var lost atomic.Bool
		raise := editing(func(inst map[string]any) {
			if inst["status"] == "running" {
				multiplyPrice(inst, 1000)
			}
		})
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			resp, err := raise(req, send)
			if isCreate(req) && !lost.Swap(true) {
				return apiError(http.StatusInternalServerError, "internal"), nil
			}
			return resp, err
		})
		result := e.apply(one, nil)
		if len(result.Failures) != 1 || len(result.Members) != 1 || len(e.active()) != 1 {
			t.Errorf("%d instances are left: %s", len(e.active()), describe(result))
		}
	})
}

// A member that runs but was never observed ready is not ready after an error of a read.
func TestApply_NotReadyAfterReadError(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		var mu sync.Mutex
		seen, revoked := 0, false
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			mu.Lock()
			bad := revoked
			mu.Unlock()
			if isInstances(req) && req.Method == http.MethodGet && bad {
				return apiError(http.StatusForbidden, "forbidden"), nil
			}
			resp, err := send()
			if isInstances(req) {
				edit(resp, func(inst map[string]any) {
					inst["ssh"] = nil
					if inst["status"] == "running" {
						mu.Lock()
						if seen++; seen > 6 {
							revoked = true
						}
						mu.Unlock()
					}
				})
			}
			return resp, err
		})
		result := e.apply(spec(2), nil)
		t.Log(describe(result), "ready", fleet.Ready(result.Members, rental.DesiredRunning))
		if len(result.Failures) == 0 || fleet.Ready(result.Members, rental.DesiredRunning) == 2 {
			t.Errorf("no failure, or members without an SSH address count as ready")
		}
		if len(fleet.Plan(spec(2), result.Members)) == 0 {
			t.Errorf("the next plan does not wait for them")
		}
	})
}

// A new member that the API does not find yet stays a member, also in an apply, and its destruction is repeated until
// it is found.
func TestRefresh_NewMemberNotFoundYet(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(2), nil)
		e.want(first, 2)
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			switch resp, err := send(); {
			case req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/instances/"):
				return apiError(http.StatusNotFound, "not_found"), nil
			case req.Method == http.MethodGet && isInstances(req):
				resp.Body = io.NopCloser(strings.NewReader(`{"data":[],"next_cursor":null}`))
				return resp, err
			default:
				return resp, err
			}
		})
		if now := e.read(first.Members); len(fleet.Plan(spec(2), now)) > 0 {
			t.Errorf("the plan is %+v", fleet.Plan(spec(2), now))
		}
		first.Members[0].Instance.Status = rental.StatusStarting
		result := e.engine().Apply(t.Context(), spec(2), first.Members, 20*time.Second)
		if len(result.Members) != 2 || len(result.Lost) > 0 {
			t.Error(describe(result))
		}
		time.Sleep(2 * time.Minute)
		if now := e.read(first.Members); !now[0].Lost() || !now[1].Lost() {
			t.Errorf("after two minutes, the members are %+v", now)
		}
	})
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		old := e.apply(spec(1), nil)
		time.Sleep(time.Hour)
		grown := e.apply(spec(2), old.Members)
		e.want(grown, 2)
		refused := false
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if req.Method == http.MethodDelete && !refused {
				refused = true
				return apiError(http.StatusNotFound, "not_found"), nil
			}
			return send()
		})
		if result := e.apply(spec(1), grown.Members); len(result.Failures) > 0 || len(e.active()) != 1 {
			t.Errorf("%s, %d instances exist", describe(result), len(e.active()))
		}
	})
}

// The result names each member that was to be destroyed and that the API does not find, also one that is replaced: it
// may exist in another account.
func TestApply_NamesMembersThatWereNotFound(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(2), nil)
		e.want(first, 2)
		time.Sleep(time.Hour)
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if req.Method == http.MethodDelete {
				return apiError(http.StatusNotFound, "not_found"), nil
			}
			return send()
		})
		first.Members[0].Instance.Status = rental.StatusFailed
		result := e.apply(spec(1), first.Members)
		if len(result.NotFound) != 2 || result.NotFound[0].Instance.ID != first.Members[1].Instance.ID ||
			result.NotFound[1].Instance.ID != first.Members[0].Instance.ID {
			t.Errorf("not found: %+v", result.NotFound)
		}
	})
}

// A new fleet takes the instances of its slots only if they are young. Otherwise another state may have them: it rents
// nothing, and changes and destroys nothing.
func TestApply_NewFleetTakesOnlyLostInstances(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(2), nil)
		e.want(first, 2)
		copied := spec(2)
		copied.Object.Token, copied.Exists = "copy", false
		time.Sleep(59 * time.Minute)
		if result := e.apply(copied, nil); len(result.Recovered) != 2 || len(result.Failures) > 0 {
			t.Error("within the hour: " + describe(result))
		}
		time.Sleep(2 * time.Minute)
		before := e.count("POST")
		copied.Size = 3
		result := e.apply(copied, nil)
		for _, f := range result.Failures[:2] {
			if !failure.MayBelongToOther(f.Err) {
				t.Errorf("slot %d: %v", f.Slot, f.Err)
			}
		}
		if len(result.Members) > 0 || len(result.Failures) != 3 || len(e.active()) != 2 || e.count("POST") > before+2 {
			t.Errorf("after the hour: %s, %d requests", describe(result), e.count("POST")-before)
		}
	})
}

// The destruction of a fleet leaves an instance alone that another object of the process has.
func TestApply_DestructionKeepsInstancesOfAnotherObject(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		members, m := e.apply(spec(2), nil).Members, e.engine()
		m.Lifecycle.Owners.Claim(members[0].Instance.ID, lifecycle.Object{Token: "other"})
		result := m.Apply(t.Context(), spec(0), members, time.Hour)
		if len(result.KeptForOther) != 1 || len(result.Failures) > 0 || len(e.active()) != 1 {
			t.Errorf("kept %v, %d active: %s", result.KeptForOther, len(e.active()), describe(result))
		}
	})
}

// A fleet in the state takes an older server only for a slot that it has had: a copy of the configuration in another
// state, grown from size 0, takes nothing.
func TestApply_NewSlotsTakeNoOldInstance(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(newFleet(3), nil)
		e.want(first, 3)
		time.Sleep(5 * time.Hour)
		other := spec(3)
		other.Object.Token = "other"
		result := e.apply(other, nil)
		for slot, kind := range kinds(result) {
			if kind != failure.NotLost {
				t.Errorf("slot %d: %s", slot, describe(result))
			}
		}
		if len(result.Failures) != 3 || len(result.Members) > 0 || len(e.active()) != 3 {
			t.Errorf("%d instances exist: %s", len(e.active()), describe(result))
		}
	})
}
