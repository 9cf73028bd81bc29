package reconcile_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Create requests of a fleet of which one slot was used often before.
func TestApply_RequestsWithUsedKeys(t *testing.T) {
	run(t, simulator.Config{MarketScale: 20}, func(t *testing.T, e *env) {
		e.enrich()
		for range 4 {
			result := e.apply(spec(1), nil)
			e.want(result, 1)
			e.manager().DestroyAll(t.Context(), spec(1), result.Members, time.Hour)
		}
		e.simulator.ClearRequests()
		result := e.apply(spec(60), nil)
		posts, gets := e.count("POST"), e.count("GET")
		if len(result.Failures) > 0 {
			t.Fatal(describe(result))
		}
		t.Logf("%d POST, %d GET", posts, gets)
		if posts+gets > 60*3/2+15 {
			t.Errorf("%d POST, %d GET for 60 members", posts, gets)
		}
	})
}

// With All, an instance of an earlier run stays, also if the API omits created_at.
func TestApply_AllKeepsRecoveredWithoutTime(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(3), nil)
		e.want(first, 3)
		time.Sleep(time.Hour)
		e.limit(0)
		e.intercept(editing(func(inst map[string]any) { delete(inst, "created_at") }))
		all := spec(4)
		all.All = true
		members, _ := e.read(first.Members[:2]) // the state of slot 2 was not saved
		result := e.apply(all, members)
		if len(e.active()) != 3 {
			t.Errorf("%d of 3 instances are left: %s; %d rolled back", len(e.active()), describe(result), len(result.RolledBack))
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
		t.Log(describe(result), "ready", reconcile.Ready(result.Members, rental.DesiredRunning))
		if len(result.Failures) > 0 && reconcile.Ready(result.Members, rental.DesiredRunning) == 2 {
			t.Errorf("no member has an SSH address, and both count as ready")
		}
		if len(reconcile.Plan(spec(2), result.Members)) == 0 {
			t.Errorf("the next plan does not wait for them")
		}
	})
}

// Another instance with the name of a high slot does not move a new member to that slot.
func TestApply_ForeignNameAboveSize(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(3), nil)
		e.want(first, 3)
		if _, err := e.client.DeleteInstance(t.Context(), first.Members[2].Instance.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		e.createOther("train-7")
		members, _ := e.read(first.Members)
		result := e.apply(spec(3), members)
		after := ids(result.Members)
		if after[2] == "" || after[7] != "" {
			t.Errorf("the slots are %v; two instances are named train-7: %s", after, describe(result))
		}
	})
}
