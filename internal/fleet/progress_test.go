package fleet_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// bodyOf reads the body of a request and restores it.
func bodyOf(req *http.Request) string {
	body := must(io.ReadAll(req.Body))
	req.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}

// One offer whose host answers 503 for ever must not prevent that the other members are rented.
func TestApply_UnavailableOffer(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		bad := e.offers()[0].ID
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if isCreate(req) && strings.Contains(bodyOf(req), `"`+bad+`"`) {
				return apiError(http.StatusServiceUnavailable, "provider_unavailable"), nil
			}
			return send()
		})
		began := time.Now()
		result := e.apply(spec(4), nil)
		t.Logf("%s: %s", time.Since(began), describe(result))
		if len(result.Members) < 3 {
			t.Errorf("%d members, want 3 of 4", len(result.Members))
		}
	})
}

// The same for a heal: a member that hangs in destroying blocks the creation of others.
func TestApply_StuckReplacement(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(3), nil)
		e.want(first, 3)
		stuck := first.Members[0].Instance.ID
		e.setInstance(stuck, simulator.InstancePatch{Status: new(string(rental.StatusFailed))})
		members := e.read(first.Members)
		e.intercept(stuckInDestroying(stuck))
		result := e.apply(spec(5), members)
		t.Log(describe(result))
		if n := fleet.Ready(result.Members, rental.DesiredRunning); n < 4 {
			t.Errorf("%d ready members, want 4 of 5", n)
		}
	})
}

// A surplus member that hangs in destroying must not prevent the heal of others.
func TestApply_StuckDestruction(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(4), nil)
		e.want(first, 4)
		stuck := first.Members[3].Instance.ID
		e.setInstance(first.Members[0].Instance.ID, simulator.InstancePatch{Status: new(string(rental.StatusFailed))})
		members := e.read(first.Members)
		e.intercept(stuckInDestroying(stuck))
		result := e.apply(spec(3), members)
		t.Log(describe(result))
		for _, m := range result.Members {
			if m.Slot == 0 && m.Instance.Status == rental.StatusFailed {
				t.Error("the failed member was not replaced, because another one hangs in destroying")
			}
		}
	})
}

// With All, a first member that is discarded decides the outcome: nothing more is rented.
func TestApply_AllStopsRenting(t *testing.T) {
	run(t, simulator.Config{MarketScale: 5}, func(t *testing.T, e *env) {
		e.enrich()
		var once atomic.Bool
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			resp, err := send()
			if isCreate(req) && !once.Swap(true) {
				edit(resp, func(inst map[string]any) { multiplyPrice(inst, 1000) })
			}
			return resp, err
		})
		all := spec(60)
		all.All = true
		all.MaxPriceKopH = e.offers()[79].Price.OnDemandKopH
		all.Queries[0].MaxPriceKopH = &all.MaxPriceKopH
		result := e.apply(all, nil)
		t.Logf("%.200s", describe(result))
		if n := len(e.all()); n > 20 {
			t.Errorf("%d instances were rented and destroyed although the first one had decided the outcome", n)
		}
	})
}

// With All, outbid members are not destroyed after the first replacement has decided the outcome.
func TestApply_AllStopsReplacing(t *testing.T) {
	run(t, simulator.Config{MarketScale: 5}, func(t *testing.T, e *env) {
		train := interruptible(10)
		train.OnOutbid, train.All = lifecycle.OutbidReplace, true
		e.enrich()
		first := e.apply(train, nil)
		e.want(first, 10)
		for _, m := range first.Members {
			e.setOffer(m.Offer.ID, simulator.OfferPatch{InterruptibleKopH: new(2 * m.Instance.Price.RunningKopH)})
		}
		members := e.read(first.Members)
		var once atomic.Bool
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			resp, err := send()
			if isCreate(req) && !once.Swap(true) {
				edit(resp, func(inst map[string]any) { inst["disk_gb"] = 10 }) // not as requested
			}
			return resp, err
		})
		result := e.apply(train, members)
		t.Log(describe(result))
		if len(result.Members) < 9 {
			t.Errorf("%d of 10 members were destroyed after the first one had failed", 10-len(result.Members))
		}
	})
}

// A rolling update stops at the first failure, also within a group.
func TestApply_RollingGroupStops(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(6), nil)
		e.want(first, 6)
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			resp, err := send()
			if isCreate(req) {
				edit(resp, func(inst map[string]any) { inst["disk_gb"] = 10 }) // not as requested
			}
			return resp, err
		})
		updated := spec(6)
		updated.MaxUnavailable, updated.Order.DiskGB = 5, 40
		result := e.apply(updated, first.Members)
		t.Log(describe(result))
		if len(result.Members) < 5 {
			t.Errorf("%d of 6 members are left; the first replacement was not as requested", len(result.Members))
		}
	})
}

// With All, a server whose create response was lost stays, because another run may have rented it. Applying again
// recovers it.
func TestApply_AllKeepsUnknown(t *testing.T) {
	for _, lost := range []int32{1, 100} {
		run(t, simulator.Config{}, func(t *testing.T, e *env) {
			fails, left := e.offers()[3].ID, atomic.Int32{}
			e.setOffer(fails, simulator.OfferPatch{FailBoots: new(true)})
			e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
				lose := isCreate(req) && strings.Contains(bodyOf(req), `-2"`) && left.Add(1) <= lost
				resp, err := send()
				if lose {
					return apiError(http.StatusInternalServerError, "internal"), nil
				}
				return resp, err
			})
			all := spec(4)
			all.All = true
			result := e.apply(all, nil)
			if len(result.Failures) == 0 || len(e.active()) != 1 {
				t.Errorf("%d instances are left: %s", len(e.active()), describe(result))
			}
			e.setOffer(fails, simulator.OfferPatch{FailBoots: new(false)})
			left.Store(lost)
			if e.want(e.apply(all, result.Members), 4); len(e.active()) != 4 {
				t.Errorf("%d instances exist", len(e.active()))
			}
		})
	}
}

// What a killed run rented is found before a wait for offers, also if the API returns no names.
func TestApply_KilledRunBeforeWait(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.limit(3)
		e.intercept(editing(func(inst map[string]any) { delete(inst, "name") }))
		first := e.apply(spec(3), nil)
		e.want(first, 3)
		three := spec(3)
		three.WaitForOffer = 5 * time.Hour
		began := time.Now()
		result := e.engine().Apply(t.Context(), three, nil, 6*time.Hour)
		e.want(result, 3)
		if took := time.Since(began); took > 10*time.Minute {
			t.Errorf("it took %s until the members of the killed run were found", took)
		}
	})
}

// Ctrl-C and timeouts in a rolling update leave every server in the result, and the next apply finishes.
func TestApply_InterruptedRolling(t *testing.T) {
	for after := 0; after < 30000; after += 1900 {
		run(t, simulator.Config{}, func(t *testing.T, e *env) {
			first := e.apply(spec(3), nil)
			e.want(first, 3)
			updated := spec(3)
			updated.MaxUnavailable, updated.Order.DiskGB = 1, 40
			ctx := t.Context()
			cctx, cancel := context.WithTimeout(ctx, time.Duration(after)*time.Millisecond)
			defer cancel()
			result := e.engine().Apply(cctx, updated, first.Members, time.Hour)
			known := ids(result.Members)
			time.Sleep(time.Minute)
			for _, inst := range e.active() {
				found := false
				for _, id := range known {
					found = found || id == inst.ID
				}
				if !found {
					t.Errorf("%d: %s is an orphan: %s", after, inst.NameString(), describe(result))
				}
			}
			members := e.read(append(result.Members, result.Lost...))
			e.want(e.apply(updated, members), 3)
			if all := len(e.all()); all > 7 {
				t.Errorf("%d: %d instances were rented", after, all)
			}
		})
	}
}

// The next apply completes an interrupted stop, and an interrupted start.
func TestApply_InterruptedStop(t *testing.T) {
	for after := 0; after < 12000; after += 900 {
		run(t, simulator.Config{}, func(t *testing.T, e *env) {
			three := interruptible(3)
			three.MaxTotalKopH = 1_000_000
			first := e.apply(three, nil)
			e.want(first, 3)
			stopped := three
			stopped.State = rental.DesiredStopped
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(after)*time.Millisecond)
			defer cancel()
			result := e.engine().Apply(ctx, stopped, first.Members, time.Hour)
			if len(result.Members) != 3 {
				t.Fatal(describe(result))
			}
			members := e.read(result.Members)
			result = e.apply(stopped, members)
			if fleet.Ready(result.Members, rental.DesiredStopped) != 3 || len(result.Failures) > 0 {
				t.Fatal(after, describe(result))
			}
			ctx, cancel = context.WithTimeout(t.Context(), time.Duration(after)*time.Millisecond)
			defer cancel()
			result = e.engine().Apply(ctx, three, result.Members, time.Hour)
			members = e.read(result.Members)
			e.want(e.apply(three, members), 3)
		})
	}
}

// A member that the plan did not show as destroyed stays: it is not replaced, and a smaller size destroys another one.
func TestApply_Protected(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(4), nil)
		e.want(first, 4)
		for _, slot := range []int{0, 2} {
			failed := simulator.InstancePatch{Status: new(string(rental.StatusFailed))}
			e.setInstance(first.Members[slot].Instance.ID, failed)
		}
		members := e.read(first.Members)
		for i := range members {
			members[i].Protected = i != 1 && i != 2
		}
		result := e.apply(spec(3), members)
		before, now := ids(members), ids(result.Members)
		if len(now) != 3 || now[0] != before[0] || now[2] == before[2] || now[3] != before[3] {
			t.Errorf("%v, before %v", now, before)
		}
		if len(result.Failures) != 1 || failure.KindOf(result.Failures[0].Err) != failure.NotPlanned {
			t.Error(describe(result))
		}
	})
}

// With All, the waits that the failure of another member ends are not reported as timeouts.
func TestApply_CancelledWaitIsNoTimeout(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.want(e.apply(spec(2), nil), 2) // by a run that is killed then
		e.intercept(editing(func(inst map[string]any) {
			if inst["name"] == "train-0" && inst["status"] == "running" {
				inst["status"] = "starting"
			}
			delete(inst, "name") // the keys find them when there are too few offers
		}))
		e.limit(0)
		all := spec(3)
		all.All = true
		result := e.apply(all, nil)
		if len(result.Failures) != 2 || failure.KindOf(result.Failures[0].Err) != failure.NotTried {
			t.Error(describe(result))
		}
	})
}

// The reason why a slot is empty is the last one: the offers could be read again, and there were none.
func TestApply_OffersReadableAgain(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.limit(0)
		began := time.Now()
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if strings.HasSuffix(req.URL.Path, "/offers") && time.Since(began) < 30*time.Minute {
				return apiError(http.StatusInternalServerError, "internal"), nil
			}
			return send()
		})
		one := spec(1)
		one.WaitForOffer = 3 * time.Hour
		result := e.engine().Apply(t.Context(), one, nil, 4*time.Hour)
		if len(result.Failures) != 1 || failure.KindOf(result.Failures[0].Err) != failure.NoOffer {
			t.Error(describe(result))
		}
	})
}

// The rollback of a large fleet has enough time, although the API limits the requests per minute.
func TestApply_RollBackLarge(t *testing.T) {
	run(t, simulator.Config{MarketScale: 40}, func(t *testing.T, e *env) {
		e.enrich()
		const size = 2000
		if err := e.simulator.SetAccount(simulator.AccountPatch{MaxInstances: new(int64(size))}); err != nil {
			t.Fatal(err)
		}
		var created atomic.Int64
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if isCreate(req) && created.Add(1) == size {
				return apiError(http.StatusPaymentRequired, "insufficient_funds"), nil
			}
			return send()
		})
		all := spec(size)
		all.All = true
		result := e.engine().Apply(t.Context(), all, nil, time.Hour)
		if len(result.Members) > 0 || len(result.RolledBack) != size-1 {
			t.Errorf("%d members are left, %d were destroyed", len(result.Members), len(result.RolledBack))
		}
	})
}

// A rolling update uses the offers that it frees.
func TestApply_RollingUsesFreedOffers(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(3), nil)
		e.want(first, 3)
		e.limit(1)
		members := e.read(first.Members)
		updated := spec(3)
		updated.Order.DiskGB, updated.MaxUnavailable = 40, 1
		e.want(e.apply(updated, members), 3)
	})
}

// A list of offers that the plan has read some seconds before does not end an apply.
func TestApply_OldListOfOffers(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		withheld := e.limit(0)
		engine := e.engine()
		must(engine.Market.Estimate(t.Context(), spec(1).Demand(1, nil)))
		e.setOffer(withheld[0], simulator.OfferPatch{Available: new(true)})
		time.Sleep(25 * time.Second)
		e.want(engine.Apply(t.Context(), spec(1), nil, time.Hour), 1)
	})
}

// Members that a rolling update did not reach are reported, with the reason.
func TestApply_UpdateNotReached(t *testing.T) {
	for name, all := range map[string]bool{"any": false, "all": true} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{}, func(t *testing.T, e *env) {
				first := e.apply(spec(3), nil)
				e.want(first, 3)
				members := e.read(first.Members)
				e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
					if strings.HasSuffix(req.URL.Path, "/offers") {
						return apiError(http.StatusForbidden, "forbidden"), nil
					}
					return send()
				})
				updated := spec(4)
				updated.Order.DiskGB, updated.MaxUnavailable, updated.All = 40, 1, all
				result := e.apply(updated, members)
				if len(result.Failures) != 4 {
					t.Errorf("%d of 4 slots are reported: %s", len(result.Failures), describe(result))
				}
				for _, f := range result.Failures {
					if f.Slot < 3 && failure.KindOf(f.Err) != failure.NotTried {
						t.Errorf("slot %d: %v, want not tried", f.Slot, f.Err)
					}
				}
			})
		})
	}
}
