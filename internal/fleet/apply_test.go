package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/market"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

var apiKey = "sim_" + strings.Repeat("a", 40)

// env is a simulator with fake time, and a client of it.
type env struct {
	t         *testing.T
	simulator *simulator.Simulator
	client    *rental.Client
	latency   time.Duration
	oldList   []rental.Instance // what a list contains although it is destroyed
}

// run runs a test in a synctest bubble: the simulator's real clock is the fake clock of the bubble.
func run(t *testing.T, config simulator.Config, test func(t *testing.T, e *env)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config.APIKey, config.Market = apiKey, simulator.MarketStill
		s, err := simulator.New(config)
		if err != nil {
			t.Fatal(err)
		}
		e := &env{t: t, simulator: s, latency: 50 * time.Millisecond}
		e.client, err = rental.New(rental.Config{
			BaseURL: "http://127.0.0.1/api/v1", APIKey: apiKey, Transport: e, MaxRetries: 10,
		})
		if err != nil {
			t.Fatal(err)
		}
		test(t, e)
		time.Sleep(2 * time.Hour) // until no goroutine is left
	})
}

// RoundTrip implements http.RoundTripper.
func (e *env) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(e.latency)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.RemoteAddr, req.RequestURI, req.Host = "127.0.0.1:1", req.URL.RequestURI(), req.URL.Host
	if req.Body == nil {
		req.Body = http.NoBody
	}
	return e.serve(req)
}

// serve returns an error if the simulator cuts the connection.
func (e *env) serve(req *http.Request) (resp *http.Response, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			if problem != http.ErrAbortHandler {
				panic(problem)
			}
			err = io.ErrUnexpectedEOF
		}
	}()
	response := httptest.NewRecorder()
	e.simulator.Handler().ServeHTTP(response, req)
	if req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/instances") && len(e.oldList) > 0 {
		var page map[string]any
		if err := json.Unmarshal(response.Body.Bytes(), &page); err != nil {
			return nil, err
		}
		items, _ := page["data"].([]any)
		for _, inst := range e.oldList {
			items = append(items, inst)
		}
		page["data"] = items
		response.Body.Reset()
		if err := json.NewEncoder(response.Body).Encode(page); err != nil {
			return nil, err
		}
	}
	return response.Result(), nil
}

// engine returns the engine of a new run. Limits are those of the provider configuration; none by default.
func (e *env) engine(limits ...spending.Limits) *fleet.Engine {
	poll := 5 * time.Second
	limits = append(limits, spending.Limits{RequireFunds: spending.FundsOff})
	cache, account := rental.NewCache(e.client), spending.NewAccount(limits[0], e.client)
	manager := lifecycle.New(lifecycle.Config{
		Client: e.client, Template: cache.Templates.Find, PollInterval: poll, Account: account, Owners: new(lifecycle.Owners),
	})
	return &fleet.Engine{
		Cache: cache, Lifecycle: manager, Market: market.New(cache, manager, poll), RecoverWithin: time.Hour,
	}
}

// spec describes a fleet that the state contains.
func spec(size int) fleet.Spec {
	query := market.Query{MaxAttempts: 5}
	query.Type = rental.OnDemand
	return fleet.Spec{
		Object: lifecycle.Object{Token: "fleet", Fleet: "train"}, Exists: true,
		Name: "train", Size: size, MinReady: size, State: rental.DesiredRunning, OnOutbid: lifecycle.OutbidRestart,
		Order:   rental.InstanceCreate{Template: "pytorch", DiskGB: 20, Type: rental.OnDemand},
		Queries: []market.Query{query},
	}
}

func (e *env) apply(spec fleet.Spec, members []fleet.Member) fleet.Result {
	e.t.Helper()
	return e.engine().Apply(e.t.Context(), spec, members, 30*time.Minute)
}

// enrich lifts the limits of the account.
func (e *env) enrich() {
	e.t.Helper()
	account := simulator.AccountPatch{MaxInstances: new(int64(1000)), BalanceKop: new(int64(1e12))}
	if err := e.simulator.SetAccount(account); err != nil {
		e.t.Fatal(err)
	}
}

// count returns the number of requests with a method.
func (e *env) count(method string) (n int) {
	for _, request := range e.simulator.Requests() {
		if request.Method == method {
			n++
		}
	}
	return n
}

func (e *env) tooMany() (n int) {
	for _, request := range e.simulator.Requests() {
		if request.Status == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}

func describe(result fleet.Result) string {
	var text []string
	for _, m := range result.Members {
		text = append(text, fmt.Sprintf("%d:%s", m.Slot, m.Instance.Status))
	}
	for _, f := range result.Failures {
		text = append(text, fmt.Sprintf("slot %d: %s", f.Slot, f.Err))
	}
	return strings.Join(text, " ")
}

// limit leaves so many offers available.
func (e *env) limit(left int) (withheld []string) {
	e.t.Helper()
	for _, offer := range e.offers() {
		if left--; left < 0 {
			e.setOffer(offer.ID, simulator.OfferPatch{Available: new(false)})
			withheld = append(withheld, offer.ID)
		}
	}
	return withheld
}

func (e *env) setOffer(id string, patch simulator.OfferPatch) {
	e.t.Helper()
	if err := e.simulator.SetOffer(id, patch); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) setInstance(id string, patch simulator.InstancePatch) {
	e.t.Helper()
	if err := e.simulator.SetInstance(id, patch); err != nil {
		e.t.Fatal(err)
	}
}

func (e *env) quirk(name string) {
	e.t.Helper()
	if err := e.simulator.SetQuirks(name); err != nil {
		e.t.Fatal(err)
	}
}

// active returns the active instances.
func (e *env) active() (active []rental.Instance) {
	e.t.Helper()
	for inst, err := range e.client.ListInstances(e.t.Context(), rental.ListInstancesQuery{}) {
		if err != nil {
			e.t.Fatal(err)
		}
		if !inst.Destroyed() {
			active = append(active, inst)
		}
	}
	return active
}

// ids returns the ids of members by slot.
func ids(members []fleet.Member) map[int]string {
	found := map[int]string{}
	for _, m := range members {
		found[m.Slot] = m.Instance.ID
	}
	return found
}

// want fails unless the result has so many members, all ready, and no failures.
func (e *env) want(result fleet.Result, members int) {
	e.t.Helper()
	ready := fleet.Ready(result.Members, rental.DesiredRunning)
	if len(result.Members) != members || ready != members || len(result.Failures) > 0 {
		e.t.Fatalf("want %d ready members: %s", members, describe(result))
	}
	if left := len(e.active()); left != members {
		e.t.Fatalf("the account has %d instances, want %d", left, members)
	}
}

func TestApply_CreatesManyMembers(t *testing.T) {
	run(t, simulator.Config{MarketScale: 20}, func(t *testing.T, e *env) {
		e.enrich()
		began := time.Now()
		e.want(e.apply(spec(200), nil), 200)
		took := time.Since(began)
		// 120 requests a minute, in windows: 80 of 200 wait for the second one. Then the boot.
		floor := time.Minute + 8*time.Second*6/5
		t.Logf("%s, floor %s, %d POST, %d GET", took, floor, e.count("POST"), e.count("GET"))
		if e.tooMany() > 0 || took > floor*115/100 {
			t.Errorf("%s, want at most 1.15 × %s; %d responses 429", took, floor, e.tooMany())
		}
	})
}

// All or nothing: with capacity for 7 of 8, nothing is kept.
func TestApply_AllOrNothing(t *testing.T) {
	all := spec(8)
	all.All = true
	t.Run("too few offers", func(t *testing.T) {
		run(t, simulator.Config{}, func(t *testing.T, e *env) {
			e.limit(7)
			result := e.apply(all, nil)
			if len(result.Failures) == 0 || len(result.Members) > 0 || len(e.active()) > 0 {
				t.Fatal(describe(result))
			}
			if all := e.all(); len(all) > 0 {
				t.Errorf("%d instances were rented", len(all))
			}
		})
	})
	t.Run("account limit", func(t *testing.T) {
		run(t, simulator.Config{}, func(t *testing.T, e *env) {
			if err := e.simulator.SetAccount(simulator.AccountPatch{MaxInstances: new(int64(7))}); err != nil {
				t.Fatal(err)
			}
			result := e.apply(all, nil)
			if len(result.Failures) == 0 || len(result.Members) > 0 || len(e.active()) > 0 || len(result.RolledBack) != 7 {
				t.Fatal(describe(result), len(result.RolledBack))
			}
		})
	})
	t.Run("a boot fails", func(t *testing.T) {
		run(t, simulator.Config{}, func(t *testing.T, e *env) {
			e.setOffer(e.offers()[0].ID, simulator.OfferPatch{FailBoots: new(true)})
			result := e.apply(all, nil)
			if len(result.Failures) != 1 || len(result.Members) > 0 || len(e.active()) > 0 {
				t.Fatal(describe(result))
			}
		})
	})
	t.Run("existing members stay", func(t *testing.T) {
		run(t, simulator.Config{}, func(t *testing.T, e *env) {
			before := e.apply(spec(3), nil)
			e.limit(4)
			result := e.apply(all, before.Members)
			if len(result.Failures) == 0 || !maps.Equal(ids(before.Members), ids(result.Members)) || len(e.active()) != 3 {
				t.Fatal(describe(result))
			}
		})
	})
}

// With All, nothing is rented while an existing member cannot start: it would be destroyed again at once.
func TestApply_AllStartsFirst(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		three := spec(3)
		three.All, three.Order.Type, three.Queries[0].Type = true, rental.Interruptible, rental.Interruptible
		first := e.apply(three, nil)
		e.want(first, 3)
		price := first.Members[0].Instance.Price.RunningKopH
		e.setOffer(first.Members[0].Offer.ID, simulator.OfferPatch{InterruptibleKopH: new(2 * price)})
		if _, err := e.client.DeleteInstance(t.Context(), first.Members[2].Instance.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // fake time, until the instance is destroyed
		members := e.read(first.Members)
		three.MaxPriceKopH = price
		result := e.apply(three, members)
		if len(result.Failures) != 2 || failure.KindOf(result.Failures[1].Err) != failure.NotTried {
			t.Error(describe(result))
		}
		if all := e.all(); len(all) != 3 || len(result.Members) != 2 {
			t.Errorf("%d instances were rented, %d members are left", len(all), len(result.Members))
		}
	})
}

// all returns all instances that ever existed.
func (e *env) all() (all []rental.Instance) {
	e.t.Helper()
	query := rental.ListInstancesQuery{Status: rental.ListAll}
	for inst, err := range e.client.ListInstances(e.t.Context(), query) {
		if err != nil {
			e.t.Fatal(err)
		}
		all = append(all, inst)
	}
	return all
}

// offers returns the available offers, the cheapest one first.
func (e *env) offers() (offers []rental.Offer) {
	e.t.Helper()
	for offer, err := range e.client.ListOffers(e.t.Context(), rental.OfferQuery{}) {
		if err != nil {
			e.t.Fatal(err)
		}
		offers = append(offers, offer)
	}
	return offers
}

// A failed and a lost member are replaced, an outbid one is started again. The others are not touched.
func TestApply_Heals(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		five := spec(5)
		five.Order.Type = rental.Interruptible
		five.Queries[0].Type = rental.Interruptible
		first := e.apply(five, nil)
		e.want(first, 5)
		before := ids(first.Members)
		failed := rental.StatusFailed
		e.setInstance(before[1], simulator.InstancePatch{Status: new(string(failed))})
		if _, err := e.client.DeleteInstance(t.Context(), before[2]); err != nil {
			t.Fatal(err)
		}
		bid := first.Members[3].Instance.Price.RunningKopH * 2
		e.setOffer(first.Members[3].Offer.ID, simulator.OfferPatch{InterruptibleKopH: &bid})
		time.Sleep(time.Minute) // until the instance is destroyed
		members, _, err := e.engine().Refresh(t.Context(), first.Members)
		if err != nil || len(members) != 5 || !members[2].Lost() || members[3].Instance.Status != rental.StatusOutbid {
			t.Fatal(err, members)
		}
		second := e.apply(five, members)
		e.want(second, 5)
		after := ids(second.Members)
		for slot, changed := range map[int]bool{0: false, 1: true, 2: true, 3: false, 4: false} {
			if changed != (before[slot] != after[slot]) {
				t.Errorf("slot %d: %s, then %s", slot, before[slot], after[slot])
			}
		}
		if second.Members[1].Generation != 2 || second.Members[2].Generation != 2 {
			t.Errorf("generations %d and %d", second.Members[1].Generation, second.Members[2].Generation)
		}
		if changes := fleet.Plan(five, second.Members); len(changes) > 0 {
			t.Errorf("another plan has changes: %v", changes)
		}
	})
}

// A fleet that was destroyed can be created again: the keys of its instances are used. The first member finds the first
// unused key, with a number of requests that grows with the logarithm of their number. The others need two requests.
func TestApply_CreatesAgain(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		for generation := 1; generation <= 20; generation++ {
			e.simulator.ClearRequests()
			result := e.apply(spec(8), nil)
			e.want(result, 8)
			if result.Members[2].Generation != generation {
				t.Errorf("generation %d, want %d", result.Members[2].Generation, generation)
			}
			if sent := e.count("POST"); sent > 2*8+2*bits.Len(uint(generation)) {
				t.Errorf("generation %d: %d create requests for 8 members", generation, sent)
			}
			e.engine().Apply(t.Context(), spec(0), result.Members, time.Hour)
		}
	})
}

// read reads members as a refresh does.
func (e *env) read(members []fleet.Member) []fleet.Member {
	e.t.Helper()
	members, _, err := e.engine().Refresh(e.t.Context(), members)
	if err != nil {
		e.t.Fatal(err)
	}
	return members
}

// createOther creates an instance that does not belong to the fleet.
func (e *env) createOther(name string) rental.Instance {
	e.t.Helper()
	order := spec(5).Order
	order.Name, order.OfferID = name, e.offers()[0].ID
	other, _, err := e.client.CreateInstance(e.t.Context(), "other", order)
	if err != nil {
		e.t.Fatal(err)
	}
	return other
}

// A smaller size and a destruction leave the instances alone that the state does not contain, whatever their names.
func TestApply_LeavesUnknownInstances(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(3), nil)
		e.want(e.apply(spec(5), first.Members), 5) // its state is lost
		e.createOther("train-7")
		result := e.apply(spec(2), e.read(first.Members))
		if len(result.Failures) > 0 || len(result.Members) != 2 || len(e.active()) != 5 {
			t.Fatal(describe(result), len(e.active()))
		}
		result = e.engine().Apply(t.Context(), spec(0), result.Members, time.Hour)
		if len(result.Failures) > 0 || len(e.active()) != 3 {
			t.Error(describe(result), len(e.active()))
		}
	})
}

// A run that was killed after it rented members is continued, also if the state has none of them.
func TestApply_RecoversMembers(t *testing.T) {
	for name, all := range map[string]bool{"any": false, "all": true} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{}, func(t *testing.T, e *env) {
				first := e.apply(spec(3), nil)
				e.want(first, 3)
				e.limit(2)
				five := spec(5)
				five.All = all
				second := e.apply(five, nil)
				e.want(second, 5)
				if len(second.Recovered) != 3 {
					t.Errorf("%d members were recovered", len(second.Recovered))
				}
				before, after := ids(first.Members), ids(second.Members)
				for slot, id := range before {
					if after[slot] != id {
						t.Errorf("slot %d: %s, then %s", slot, id, after[slot])
					}
				}
			})
		})
	}
}

// The sum of the running prices stays below the total cap.
func TestApply_TotalCap(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		var prices []int64
		for _, offer := range e.offers() {
			prices = append(prices, offer.Price.OnDemandKopH+offer.DiskKopH(10)) // 10 of 20 GB are included
		}
		five := spec(5)
		five.MaxTotalKopH = prices[0] + prices[1] + prices[2]
		result := e.apply(five, nil)
		if len(result.Members) != 3 || fleet.RunningKopH(result.Members) > five.MaxTotalKopH {
			t.Fatal(describe(result))
		}
		for _, f := range result.Failures {
			if !failure.As(f.Err).Offers.OverBudget {
				t.Error(f.Slot, f.Err)
			}
		}
		five.MaxTotalKopH = prices[0] + prices[1] + prices[2] + prices[3] + prices[4]
		e.want(e.apply(five, result.Members), 5)
	})
}

// A smaller size destroys the highest slots, or the most expensive members.
func TestApply_Shrinks(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(5), nil)
		second := e.apply(spec(3), first.Members)
		e.want(second, 3)
		if ids := ids(second.Members); ids[0] == "" || ids[1] == "" || ids[2] == "" {
			t.Error(ids)
		}
		cheap := spec(1)
		cheap.ShrinkByPrice = true
		third := e.apply(cheap, second.Members)
		e.want(third, 1)
		for _, m := range second.Members {
			if m.Instance.Price.RunningKopH < third.Members[0].Instance.Price.RunningKopH {
				t.Errorf("%d is cheaper than %d", m.Instance.Price.RunningKopH, third.Members[0].Instance.Price.RunningKopH)
			}
		}
		e.want(e.apply(spec(0), third.Members), 0)
	})
}

// A rolling update replaces at most MaxUnavailable members at a time.
func TestApply_RollingUpdate(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(5), nil)
		e.want(first, 5)
		updated := spec(5)
		updated.MaxUnavailable, updated.Order.DiskGB = 2, 40
		least := 5
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 600 {
				running := 0
				for _, inst := range e.active() {
					if inst.Status == rental.StatusRunning {
						running++
					}
				}
				least = min(least, running)
				time.Sleep(time.Second)
			}
		}()
		e.simulator.SetRateLimit(0, 0)
		second := e.apply(updated, first.Members)
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

// With WaitForOffer, an apply continues when offers become available. All waits for all of them.
func TestApply_WaitsForOffers(t *testing.T) {
	for name, all := range map[string]bool{"any": false, "all": true} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{}, func(t *testing.T, e *env) {
				for _, id := range e.limit(2)[:2] {
					e.setOffer(id, simulator.OfferPatch{Available: new(true), After: 10 * time.Minute})
				}
				four := spec(4)
				four.All, four.WaitForOffer = all, time.Hour
				began := time.Now()
				result := e.engine().Apply(t.Context(), four, nil, 2*time.Hour)
				e.want(result, 4)
				if took := time.Since(began); took > 12*time.Minute {
					t.Error(took)
				}
				first := result.Members[0].Instance.CreatedAt
				for _, m := range result.Members {
					if m.Instance.CreatedAt.Before(first) {
						first = m.Instance.CreatedAt
					}
				}
				if early := first.Sub(began) < time.Minute; early == all {
					t.Errorf("the first instance was rented after %s", first.Sub(began))
				}
			})
		})
	}
}

// The members that a burn limit allows share one reading of the account.
func TestApply_BurnLimitRequests(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		ten := spec(10)
		ten.WaitForOffer = time.Hour
		limits := spending.Limits{RequireFunds: spending.FundsOff, MaxBurnKopH: 1_000_000}
		result := e.engine(limits).Apply(t.Context(), ten, nil, 2*time.Hour)
		sent := e.count("GET")
		e.want(result, 10)
		if sent > 15 {
			t.Errorf("%d GET requests for 10 members", sent)
		}
	})
}

// All members have the same country, also those that join later.
func TestApply_SameCountry(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		train := spec(3)
		train.SameCountry, train.SameGPU = true, true
		first := e.apply(train, nil)
		e.want(first, 3)
		train.Size = 4
		second := e.apply(train, first.Members)
		e.want(second, 4)
		for _, m := range second.Members {
			one, other := m.Instance, second.Members[0].Instance
			if *one.Country != *other.Country || one.GPU.Slug != other.GPU.Slug {
				t.Errorf("slot %d: %s in %s, slot 0: %s in %s", m.Slot, one.GPU.Slug, *one.Country, other.GPU.Slug, *other.Country)
			}
		}
	})
}

// An interruption keeps what was rented, and ends soon.
func TestApply_Interrupted(t *testing.T) {
	run(t, simulator.Config{Boot: 10 * time.Minute}, func(t *testing.T, e *env) {
		ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
		defer cancel()
		all := spec(40)
		all.All = true
		began := time.Now()
		result := e.engine().Apply(ctx, all, nil, time.Hour)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it ended after %s", took)
		}
		if active := len(e.active()); !result.Interrupted || len(result.Members) == 0 || len(result.Members) != active {
			t.Errorf("%d members, %d active: %s", len(result.Members), active, describe(result))
		}
	})
}
