package fleet_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
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
			t.Errorf("%d of 12 members are left", len(result.Members))
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
		members := e.read(first.Members)
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
		t.Log(describe(result), "ready", fleet.Ready(result.Members, rental.DesiredRunning))
		time.Sleep(time.Minute)
		members = e.read(result.Members)
		if len(result.Failures) == 0 {
			t.Error("no failure")
		}
		if len(fleet.Plan(two, members)) == 0 {
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
		members := e.read(first.Members)
		two.State = rental.DesiredStopped
		two.MaxTotalKopH = fleet.RunningKopH(first.Members) - 1 // a price has risen
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
		members := e.read(result.Members)
		result = e.apply(two, members)
		if n := len(e.active()); n > 0 {
			t.Errorf("%d rejected members still run above the cap: %s", n, describe(result))
		}
	})
}

// The create response ends after the id, so the price is unknown. The member is outbid while it boots. The new bid
// stays within both caps.
func TestApply_RestartAfterCutResponse(t *testing.T) {
	run(t, simulator.Config{Boot: time.Minute}, func(t *testing.T, e *env) {
		one := interruptible(1)
		offer := e.onlyInterruptible(1)[0]
		price := *offer.Price.InterruptibleKopH
		one.MaxPriceKopH, one.MaxTotalKopH = 2*price, 3*price
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			resp, err := send()
			if err == nil && isCreate(req) && resp.StatusCode == http.StatusCreated {
				_, rest, _ := strings.Cut(string(must(io.ReadAll(resp.Body))), `"id":"`)
				id, _, _ := strings.Cut(rest, `"`)
				replaceBody(resp, `{"id":"`+id+`","status":"creating"`)
				e.setOffer(offer.ID, simulator.OfferPatch{InterruptibleKopH: new(10 * price)})
			}
			return resp, err
		})
		t.Log(describe(e.apply(one, nil)))
		for _, inst := range e.active() {
			if inst.BillsGPU() && inst.Price.RunningKopH > one.MaxTotalKopH {
				t.Errorf("%s runs at %d, cap %d, total cap %d", inst.ID, inst.Price.RunningKopH, one.MaxPriceKopH,
					one.MaxTotalKopH)
			}
		}
	})
}

// A create request with an unknown outcome counts towards the total cap.
func TestApply_TotalWithUnknownOutcome(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		four := spec(4)
		for _, o := range e.offers()[:4] {
			four.MaxTotalKopH += o.Price.OnDemandKopH + o.DiskKopH(10)
		}
		four.MaxTotalKopH--
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			first := isCreate(req) && strings.Contains(bodyOf(req), `"train-0"`)
			resp, err := send()
			if err == nil && first && resp.StatusCode < http.StatusMultipleChoices {
				replaceBody(resp, `{}`)
			}
			return resp, err
		})
		t.Log(describe(e.apply(four, nil)))
		if total := e.totalKopH(); total > four.MaxTotalKopH {
			t.Errorf("the instances cost %d, total cap %d", total, four.MaxTotalKopH)
		}
	})
}

// A member that an interrupted apply left booting is not stopped because the user lowers the cap.
func TestApply_LoweredCapNotReady(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(2), nil)
		e.want(first, 2)
		members := e.read(first.Members)
		members[1].NotReady = true
		lowered := spec(2)
		lowered.MaxPriceKopH = members[0].Instance.Price.RunningKopH / 2
		lowered.Queries[0].MaxPriceKopH = &lowered.MaxPriceKopH
		t.Log(describe(e.apply(lowered, members)))
		time.Sleep(time.Minute)
		for _, inst := range e.active() {
			if inst.Status != rental.StatusRunning {
				t.Errorf("%s is %s", inst.NameString(), inst.Status)
			}
		}
	})
}

// The create response has a higher price than all later responses, so that there is room for another member. A new bid
// of the first one must not exceed the total cap then.
func TestApply_RestartAboveTotal(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		two := e.onlyInterruptible(2)
		e.setOffer(two[1].ID, simulator.OfferPatch{Available: new(false)})
		e.setOffer(two[1].ID, simulator.OfferPatch{Available: new(true), After: 3 * time.Minute})
		price, other := *two[0].Price.InterruptibleKopH, *two[1].Price.InterruptibleKopH
		train := interruptible(2)
		train.WaitForOffer, train.MaxTotalKopH = time.Hour, price+other+100
		began := time.Now()
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			resp, err := send()
			if !isInstances(req) {
				return resp, err
			}
			edit(resp, func(inst map[string]any) {
				if inst["name"] == "train-0" && isCreate(req) {
					multiplyPrice(inst, 180)
				}
				slow := time.Since(began) < 10*time.Minute
				if inst["name"] == "train-0" && slow && inst["status"] == "running" {
					inst["status"] = "starting"
				}
			})
			return resp, err
		})
		time.AfterFunc(9*time.Minute, func() {
			e.setOffer(two[0].ID, simulator.OfferPatch{InterruptibleKopH: new(price * 16 / 10)})
		})
		t.Log(describe(e.engine().Apply(t.Context(), train, nil, 2*time.Hour)))
		if total := e.totalKopH(); total > train.MaxTotalKopH {
			t.Errorf("the instances cost %d, total cap %d", total, train.MaxTotalKopH)
		}
	})
}

// An outbid member whose offer is unknown is started again within the limits.
func TestApply_RestartUnknownOffer(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		two := interruptible(2)
		two.MaxTotalKopH = 1_000_000
		first := e.apply(two, nil)
		e.want(first, 2)
		m := first.Members[0]
		e.setOffer(m.Offer.ID, simulator.OfferPatch{InterruptibleKopH: new(m.Instance.Price.RunningKopH * 3 / 2)})
		members := e.read(first.Members)
		members[0].Offer = fleet.Offer{} // recovered or imported
		e.want(e.apply(two, members), 2)
	})
}

// A new member that is outbid while it boots is started again within the limits.
func TestApply_RestartWhileBooting(t *testing.T) {
	for name, total := range map[string]int64{"no total": 0, "total": 1_000_000} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{Quirks: []string{"outbid-soon-after-start"}}, func(t *testing.T, e *env) {
				two := interruptible(2)
				two.MaxTotalKopH = total
				e.want(e.apply(two, nil), 2)
			})
		})
	}
}

// A wait for offers ends when no offer can fit: the members that stay use the whole total cap.
func TestApply_WaitWithoutBudget(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(2), nil)
		e.want(first, 2)
		three := spec(3)
		three.MaxTotalKopH, three.WaitForOffer = fleet.RunningKopH(first.Members), 2*time.Hour
		began := time.Now()
		result := e.engine().Apply(t.Context(), three, first.Members, 3*time.Hour)
		t.Log(time.Since(began), describe(result))
		if time.Since(began) > 30*time.Minute {
			t.Error("waited")
		}
	})
}

// A stopped fleet whose price is exactly max_total_kop_h starts again at unchanged prices.
func TestApply_StartAtTotal(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		stopped := interruptible(2)
		stopped.State = rental.DesiredStopped
		first := e.apply(stopped, nil)
		members := e.read(first.Members)
		two := interruptible(2)
		two.MaxTotalKopH = fleet.RunningKopH(members)
		e.want(e.apply(two, members), 2)
	})
}

// With a total cap, cheaper arguments make room for the members that a larger size adds.
func TestApply_GrowWithCheaperArguments(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		train := spec(3)
		train.Order.DiskGB, train.Queries[0].MinDiskGB = 1000, new(float64(1000))
		first := e.apply(train, nil)
		e.want(first, 3)
		larger := spec(4)
		larger.MaxUnavailable, larger.MaxTotalKopH = 1, fleet.RunningKopH(first.Members)
		e.want(e.apply(larger, first.Members), 4)
	})
}

// onlyInterruptible withholds all offers except for the first ones that have an interruptible price.
func (e *env) onlyInterruptible(n int) (kept []rental.Offer) {
	for _, o := range e.offers() {
		if o.Price.InterruptibleKopH != nil && len(kept) < n {
			kept = append(kept, o)
			continue
		}
		e.setOffer(o.ID, simulator.OfferPatch{Available: new(false)})
	}
	return kept
}

// totalKopH returns the sum of the prices of the instances that are billed for their GPU.
func (e *env) totalKopH() (total int64) {
	for _, inst := range e.active() {
		if inst.BillsGPU() {
			total += inst.Price.RunningKopH
		}
	}
	return total
}

func replaceBody(resp *http.Response, body string) {
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
}
