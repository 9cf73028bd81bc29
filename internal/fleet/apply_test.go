package fleet_test

import (
	"context"
	"math/bits"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestApply_CreatesManyMembers(t *testing.T) {
	run(t, simulator.Config{MarketScale: 20}, func(t *testing.T, e *env) {
		e.enrich()
		began := time.Now()
		e.create(spec(200))
		// 120 requests a minute, in windows: 80 of 200 wait for the second one. The third read of each at the latest, after
		// up to 22 seconds, began after the boot of up to 9.6.
		if took, atMost := time.Since(began), time.Minute+23*time.Second; took > atMost {
			t.Errorf("%s, want at most %s", took, atMost)
		}
		for _, request := range e.Requests() {
			if request.Status == http.StatusTooManyRequests {
				t.Fatal("a response is 429")
			}
		}
	})
}

// A fleet that was destroyed can be created again under the same chosen seed: the keys of its instances are used. The
// first member finds the first unused key, with a number of requests that grows with the logarithm of their number. The
// others need two requests.
func TestApply_CreatesAgain(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		for generation := 1; generation <= 20; generation++ {
			e.ClearRequests()
			members := e.create(chosenFleet(8))
			if sent := e.CountRequests("POST", ""); sent > 2*8+2*bits.Len(uint(generation)) {
				t.Errorf("generation %d: %d create requests for 8 members", generation, sent)
			}
			e.destroyAll(spec(0), members)
		}
	})
}

// A rolling update replaces at most MaxUnavailable members at a time, even with the offers that it frees.
func TestApply_RollingUpdate(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(5))
		e.LimitOffers(2)
		e.SetRateLimit(0, 0)
		least, done := 5, make(chan struct{})
		go func() {
			defer close(done)
			for range 600 {
				up := slices.DeleteFunc(e.Active(), func(i rental.Instance) bool { return i.Status != rental.StatusRunning })
				least = min(least, len(up))
				time.Sleep(time.Second)
			}
		}()
		second := e.apply(rolling(5, 2), first)
		<-done
		e.want(second, 5)
		if least != 3 {
			t.Errorf("%d members ran at the least, want 3", least)
		}
		for _, m := range second.Members {
			if m.Instance.DiskGB != 40 || m.Generation != 2 {
				t.Errorf("slot %d: %d GB, generation %d", m.Slot, m.Instance.DiskGB, m.Generation)
			}
		}
	})
}

// A rolling update stops at the first failure, also within a group, and while it waits for an offer.
func TestApply_RollingUpdateStops(t *testing.T) {
	subtest(t, "not as requested", simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(6))
		e.edit(simtest.Creates(), smallerDisk)
		result := e.apply(rolling(6, 5), first)
		e.wantLeft(result, 5, 7)
		if len(result.Missing) != 1 || kinds(result)[0] != "NotAsOrdered" || kinds(result)[5] != "NotTried" {
			t.Errorf("missing %+v: %s", result.Missing, describe(result))
		}
	})
	subtest(t, "while the next one waits", simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(3))
		e.failBoots(e.Offers()[0].ID)
		e.taken(first...)
		e.AddOffer(e.LimitOffers(1)[0], 10*time.Minute)
		waiting := rolling(3, 2)
		waiting.Offers.Wait = time.Hour
		if result := e.apply(waiting, first); ids(result.Members)[1] != first[1].Instance.ID {
			t.Errorf("slot 1 was replaced after slot 0 had failed: %s", describe(result))
		}
	})
	t.Run("without offers", func(t *testing.T) {
		runAny(t, simulator.Config{}, func(t *testing.T, e *env, all bool) {
			first := e.create(spec(3))
			e.refuse(http.StatusForbidden, simtest.Request("GET", "/offers"))
			larger := rolling(4, 1)
			larger.All = all
			result := e.apply(larger, e.read(first))
			got := kinds(result)
			if e.wantLeft(result, 3, 3); len(got) != 4 || got[0] != "NotTried" || got[2] != "NotTried" {
				t.Error(describe(result))
			}
		})
	})
}

// A member of a rolling group that is being destroyed when another one fails still gets its replacement.
func TestApply_RollingGroupReplacesWhatItDestroys(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(4))
		slow, began := first[1].Instance.ID, time.Time{}
		e.failBoots(e.Offers()[0].ID)
		e.refuse(http.StatusConflict, func(req *http.Request) bool {
			if !deletes(req) || !strings.HasSuffix(req.URL.Path, slow) {
				return false
			}
			if began.IsZero() {
				began = time.Now()
			}
			return time.Since(began) < 2*time.Minute
		})
		result := e.apply(rolling(4, 2), first)
		if len(result.Members) != 4 || len(result.Missing) > 0 || result.Members[1].Request.DiskGB != 40 ||
			result.Members[2].Request.DiskGB == 40 {
			t.Errorf("%s, missing %+v", describe(result), result.Missing)
		}
	})
}

// What is wrong with one slot costs no other one.
func TestApply_SlotsAreIndependent(t *testing.T) {
	neverDestroyed := func(e *env, status int, m fleet.Member) {
		e.refuse(status, simtest.Request("DELETE", "/instances/"+m.Instance.ID))
	}
	for name, test := range map[string]struct {
		size    int // of a fleet that had four members, of which the first one has failed
		prepare func(e *env, members []fleet.Member)
		ready   int
	}{
		"an offer whose host is not available": {6, func(e *env, _ []fleet.Member) {
			e.refuse(http.StatusServiceUnavailable, simtest.Creates(e.Offers()[0].ID))
		}, 5},
		"a member that is replaced hangs":   {5, func(e *env, m []fleet.Member) { neverDestroyed(e, 409, m[0]) }, 4},
		"a member that cannot be destroyed": {5, func(e *env, m []fleet.Member) { neverDestroyed(e, 403, m[0]) }, 4},
		"a surplus member hangs":            {3, func(e *env, m []fleet.Member) { neverDestroyed(e, 409, m[3]) }, 4},
		"a price above the cap": {6, func(e *env, _ []fleet.Member) {
			e.edit(anyInstance, func(inst map[string]any) {
				if inst["name"] == "train-5" {
					multiplyPrice(inst, 2000)
				}
			})
		}, 5},
	} {
		subtest(t, name, simulator.Config{}, func(t *testing.T, e *env) {
			members := e.create(spec(4))
			e.fail(members[0])
			test.prepare(e, members)
			s := spec(test.size)
			s.Target.MaxPriceKopH = 4 * priceOf(e.Offers()[:4]...)
			result := e.apply(s, e.read(members))
			ready := fleet.Ready(result.Members, rental.DesiredRunning)
			if ready != test.ready || len(result.Failures) != 1 {
				t.Errorf("%d are ready, want %d: %s", ready, test.ready, describe(result))
			}
		})
	}
}

// A refusal that may concern all slots costs one of the members that are to be replaced, and not the others.
func TestApply_RefusalsCostOneMember(t *testing.T) {
	for name, prepare := range map[string]func(e *env){
		"no funds": func(e *env) { e.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(0))}) },
		"refused":  func(e *env) { e.refuse(http.StatusConflict, simtest.Creates()) },
	} {
		t.Run(name, func(t *testing.T) {
			runAny(t, simulator.Config{MarketScale: 5}, func(t *testing.T, e *env, all bool) {
				train := interruptible(12)
				train.Target.OnOutbid, train.All = lifecycle.OutbidReplace, all
				e.enrich()
				first := e.create(train)
				e.outbid(2, first...)
				members := e.read(first)
				members[3].Protected = !all
				prepare(e)
				result := e.apply(train, members)
				if len(result.Failures) != 12 || len(result.Members) < 11 || len(result.Missing)+len(result.Members) != 12 {
					t.Errorf("%d members stay, %d are missing: %s", len(result.Members), len(result.Missing), describe(result))
				}
			})
		})
	}
}

// With a wait for offers, an apply continues when offers become available. All waits for all of them.
func TestApply_WaitsForOffers(t *testing.T) {
	runAny(t, simulator.Config{}, func(t *testing.T, e *env, all bool) {
		withheld := e.LimitOffers(2)
		for _, id := range withheld[:2] {
			e.AddOffer(id, 10*time.Minute)
		}
		four := allOf(4, time.Hour)
		four.All = all
		began := time.Now()
		members := e.create(four)
		if took := time.Since(began); took > 12*time.Minute {
			t.Error(took)
		}
		early := func(m fleet.Member) bool { return m.Instance.CreatedAt.Sub(began) < time.Minute }
		if slices.ContainsFunc(members, early) == all {
			t.Errorf("all %t: %s", all, describe(fleet.Result{Members: members}))
		}
		e.taken(members...)
		for _, id := range withheld[2:6] {
			e.AddOffer(id, 10*time.Minute)
		}
		update := rolling(4, 1)
		update.All, update.Offers.Wait = all, time.Hour
		e.want(e.apply(update, members), 4)
	})
}

// All members have the same country and GPU, including those that join what an interrupted apply has rented.
func TestApply_SameCountryAndGPU(t *testing.T) {
	run(t, simulator.Config{MarketScale: 5}, func(t *testing.T, e *env) {
		train := spec(4)
		train.Offers.SameCountry, train.Offers.SameGPU = true, true
		killed := e.create(train)
		first := killed[0].Offer.Location
		for _, offer := range e.Offers() {
			if market.LocationOf(offer) != first {
				e.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: new(int64(1))})
			}
		}
		e.destroy(killed[2].Instance.ID)
		e.destroy(killed[3].Instance.ID)
		result := e.apply(train, nil)
		e.want(result, 4)
		for _, m := range result.Members[2:] {
			if *m.Instance.Country != first.Country || m.Instance.GPU.Slug != first.GPU {
				t.Errorf("slot %d: %s in %s, want %v", m.Slot, m.Instance.GPU.Slug, *m.Instance.Country, first)
			}
		}
	})
}

// An interruption keeps what was rented, and ends soon. What was not changed is as it was.
func TestApply_Interrupted(t *testing.T) {
	run(t, simulator.Config{Boot: 10 * time.Minute}, func(t *testing.T, e *env) {
		ctx := within(t, 120*time.Millisecond)
		began := time.Now()
		result := e.engine().Apply(ctx, allOf(40, 0), nil, time.Hour)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it ended after %s", took)
		}
		if active := len(e.Active()); !result.Interrupted || len(result.Members) == 0 || len(result.Members) != active {
			t.Errorf("%d members, %d active: %s", len(result.Members), active, describe(result))
		}
	})
	for name, prepare := range map[string]func(e *env, first []fleet.Member, cancel func()){
		"timeout during the wait for an offer": func(e *env, first []fleet.Member, _ func()) {
			e.LimitOffers(0)
			e.taken(first...)
		},
		"while it reads the account": func(e *env, _ []fleet.Member, cancel func()) {
			e.refuse(http.StatusInternalServerError, simtest.Request("GET", "/balance"))
			time.AfterFunc(2*time.Second, cancel)
		},
	} {
		run(t, simulator.Config{}, func(t *testing.T, e *env) {
			first := e.create(spec(1))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			prepare(e, first, cancel)
			update := rolling(1, 1)
			update.Offers.Wait = 2 * time.Hour
			result := e.engine(burnLimit(1e6)).Apply(ctx, update, first, 30*time.Minute)
			failed := result.Failures[0]
			if kind(failed.Err) != "Interrupted" || failed.Member.NotReady || failed.Member.Missing() {
				t.Errorf("%s: %+v: %v", name, failed.Member, failed.Err)
			}
		})
	}
}

// A member that the plan did not show as destroyed stays: it is not replaced, and a smaller size destroys another one.
func TestApply_Protected(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(4))
		e.fail(first[0], first[2])
		members := e.read(first)
		for i := range members {
			members[i].Protected = i != 1 && i != 2
		}
		result := e.apply(spec(3), members)
		before, now := ids(members), ids(result.Members)
		if len(now) != 3 || now[0] != before[0] || now[2] == before[2] || now[3] != before[3] {
			t.Errorf("%v, before %v", now, before)
		}
		if len(result.Failures) != 1 || kinds(result)[0] != "NotPlanned" {
			t.Error(describe(result))
		}
	})
}

// A member that is kept outbid is not ready.
func TestApply_KeptOutbid(t *testing.T) {
	for _, all := range []bool{false, true} {
		run(t, simulator.Config{Hooks: quirks.New("outbid-soon-after-start")}, func(t *testing.T, e *env) {
			three := interruptible(3)
			three.Target.OnOutbid, three.All = lifecycle.OutbidKeep, all
			result := e.apply(three, nil)
			kept := func(f fleet.Failure) bool { return kind(f.Err) == "KeptOutbid" }
			if !slices.ContainsFunc(result.Failures, kept) || fleet.Ready(result.Members, rental.DesiredRunning) > 0 {
				t.Errorf("all or nothing %t: %s", all, describe(result))
			}
		})
	}
}

// A new member that the API does not find yet stays a member, and its destruction is repeated. After a minute it is
// missing.
func TestRefresh_NewMemberNotFoundYet(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(2))
		refresh := func() []fleet.Member {
			members, _, err := e.engine().Refresh(t.Context(), first)
			return must(members, err)
		}
		e.Proxy.Set(simtest.Request("GET", "/instances/[^/]+").Do(simtest.Fail(http.StatusNotFound)),
			emptyList)
		if now := refresh(); len(fleet.Plan(spec(2), now)) > 0 {
			t.Errorf("the plan is %s", planText(fleet.Plan(spec(2), now)))
		}
		time.Sleep(2 * time.Minute)
		if now := refresh(); !now[0].Missing() || !now[1].Missing() {
			t.Errorf("after two minutes, the members are %+v", now)
		}
	})
	run(t, simulator.Config{}, func(_ *testing.T, e *env) {
		first := e.create(spec(2))
		e.refuse(http.StatusNotFound, deletes.Once())
		e.want(e.apply(spec(1), first), 1)
	})
}

// An error of a read is no proof that a member does not exist.
func TestRefresh_Error(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(1))
		e.refuse(http.StatusForbidden, simtest.AnyRequest)
		if members, notFound, err := e.engine().Refresh(t.Context(), first); !rental.IsForbidden(err) {
			t.Errorf("%+v, not found %v, %v", members, notFound, err)
		}
	})
}

// The result names each member that was to be destroyed and that the API does not find, also one that is replaced: it
// may exist in another account.
func TestApply_NamesMembersThatWereNotFound(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(2))
		time.Sleep(time.Hour)
		e.refuse(http.StatusNotFound, deletes)
		first[0].Instance.Status = rental.StatusFailed
		result := e.apply(spec(1), first)
		if len(result.NotFound) != 2 || result.NotFound[0].Slot != 1 || result.NotFound[1].Slot != 0 {
			t.Errorf("not found: %+v", result.NotFound)
		}
	})
}

// What is not destroyed stays a member, and the failure shows whether the API has accepted the request.
func TestApply_NotDestroyed(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(2))
		e.refuse(http.StatusForbidden, simtest.Request("DELETE", "/instances/"+first[0].Instance.ID))
		ctx := within(t, time.Second)
		result := e.engine().Apply(ctx, spec(0), first, time.Hour)
		if len(result.Members) != 2 || len(result.Failures) != 2 {
			t.Fatal(describe(result))
		}
		for slot, f := range result.Failures {
			if got, ok := f.Err.(fleet.NotDestroyed); !ok || got.Accepted != (slot == 1) {
				t.Errorf("slot %d: accepted %t, %v", slot, got.Accepted, f.Err)
			}
		}
	})
	run(t, simulator.Config{}, func(t *testing.T, e *env) { // the failure of another slot ends the destruction
		first := e.create(spec(1))
		e.fail(first...)
		members := e.read(first)
		e.failBoots(e.Offers()[1].ID)
		e.refuse(http.StatusConflict, simtest.Request("DELETE", "/instances/"+first[0].Instance.ID))
		if result := e.apply(allOf(2, 0), members); kinds(result)[0] != "NotDestroyed" || len(result.RolledBack) != 1 {
			t.Error(describe(result))
		}
	})
}
