package reconcile_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// One new member that costs more than its offer, above the total cap, must not cost the others.
func TestApply_OneMemberAboveTotal(t *testing.T) {
	run(t, simulator.Config{MarketScale: 5}, func(t *testing.T, e *env) {
		e.enrich()
		offers := e.offers()
		ten := spec(12)
		for _, o := range offers[:12] {
			ten.MaxTotalKopH += o.Price.OnDemandKopH + o.DiskKopH(10)
		}
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			resp, err := send()
			if isInstances(req) {
				edit(resp, func(inst map[string]any) {
					if inst["name"] == "train-3" {
						multiplyPrice(inst, 300)
					}
				})
			}
			return resp, err
		})
		result := e.apply(ten, nil)
		t.Log(describe(result))
		if len(result.Members) < 11 {
			t.Errorf("%d of 12 members are left, %d were destroyed", len(result.Members), len(result.Destroyed))
		}
	})
}

// The same if the price of one new member rises while it boots.
func TestApply_PriceOfOneMemberRises(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		offers := e.offers()
		six := spec(6)
		for _, o := range offers[:6] {
			six.MaxTotalKopH += o.Price.OnDemandKopH + o.DiskKopH(10)
		}
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			resp, err := send()
			if isInstances(req) && req.Method == http.MethodGet {
				edit(resp, func(inst map[string]any) {
					if inst["name"] == "train-3" {
						multiplyPrice(inst, 300)
					}
				})
			}
			return resp, err
		})
		result := e.apply(six, nil)
		t.Log(describe(result))
		if len(result.Members) < 5 {
			t.Errorf("%d of 6 members are left, %d were destroyed", len(result.Members), len(result.Destroyed))
		}
	})
}

// What runs above its cap after a start, and could not be stopped, is planned again.
func TestApply_NotStoppedAboveCap(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		two := interruptible(2)
		first := e.apply(two, nil)
		e.want(first, 2)
		m := first.Members[0]
		two.MaxPriceKopH = 2 * m.Instance.Price.RunningKopH
		two.Queries[0].MaxPriceKopH = &two.MaxPriceKopH
		if _, err := e.client.StopInstance(t.Context(), m.Instance.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		members, _ := e.read(first.Members)
		broken := true
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if strings.HasSuffix(req.URL.Path, "/stop") && broken {
				return apiError(http.StatusForbidden, "forbidden"), nil
			}
			resp, err := send()
			if isInstances(req) && !isCreate(req) {
				edit(resp, func(inst map[string]any) {
					if inst["id"] == m.Instance.ID && inst["status"] != "stopped" {
						multiplyPrice(inst, 500)
					}
				})
			}
			return resp, err
		})
		result := e.apply(two, members)
		broken = false
		t.Log(describe(result), "ready", reconcile.Ready(result.Members, rental.DesiredRunning))
		time.Sleep(time.Minute)
		members, _ = e.read(result.Members)
		if len(result.Failures) == 0 {
			t.Error("no failure")
		}
		if len(reconcile.Plan(two, members)) == 0 {
			t.Errorf("no change for %+v", members[0].Instance)
		}
	})
}

// The same for a recovered instance.
func TestApply_RecoveredNotStoppedAboveCap(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(1), nil)
		e.want(first, 1)
		capped := spec(1)
		capped.MaxPriceKopH = first.Members[0].Instance.Price.RunningKopH / 2
		capped.Queries[0].MaxPriceKopH = &capped.MaxPriceKopH
		broken := true
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if strings.HasSuffix(req.URL.Path, "/stop") && broken {
				return apiError(http.StatusForbidden, "forbidden"), nil
			}
			return send()
		})
		result := e.apply(capped, nil)
		broken = false
		t.Log(describe(result), "ready", reconcile.Ready(result.Members, rental.DesiredRunning))
		members, _ := e.read(result.Members)
		if len(members) == 1 && len(reconcile.Plan(capped, members)) == 0 {
			t.Errorf("no change for %+v", members[0].Instance)
		}
	})
}

// A fleet that is above its total cap can be stopped, also a member that is still starting.
func TestApply_StopsAboveTotal(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		two := spec(2)
		first := e.apply(two, nil)
		e.want(first, 2)
		id := first.Members[1].Instance.ID
		var until time.Time
		e.intercept(editing(func(inst map[string]any) {
			if inst["id"] == id && inst["status"] == "running" && time.Now().Before(until) {
				inst["status"] = "starting"
			}
		}))
		until = time.Now().Add(time.Minute)
		members, _ := e.read(first.Members)
		two.State = rental.DesiredStopped
		two.MaxTotalKopH = reconcile.RunningKopH(first.Members) - 1 // a price has risen
		result := e.apply(two, members)
		for _, inst := range e.active() {
			if inst.BillsGPU() {
				t.Errorf("%s is %s although desired_state is stopped: %s", inst.NameString(), inst.Status, describe(result))
			}
		}
	})
}

// What exceeds a cap and could not be destroyed is destroyed by the next apply, also if no offer is left.
func TestApply_RejectedWithoutOffer(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		two, result := e.notDiscarded()
		e.limit(0)
		members, _ := e.read(result.Members)
		result = e.apply(two, members)
		if n := len(e.active()); n > 0 {
			t.Errorf("%d rejected members still run above the cap: %s", n, describe(result))
		}
	})
}
