package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/fleet"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// hook is a transport that changes requests and responses of the simulator.
type hook func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error)

type hooked struct {
	e *env
	h hook
}

func (h hooked) RoundTrip(req *http.Request) (*http.Response, error) {
	return h.h(req, func() (*http.Response, error) { return h.e.RoundTrip(req) })
}

func (e *env) intercept(h hook) {
	e.t.Helper()
	client, err := rental.New(rental.Config{
		BaseURL: "http://127.0.0.1/api/v1", APIKey: apiKey, Transport: hooked{e, h}, MaxRetries: 10,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.client = client
}

// must returns the value of a call that cannot fail in a test.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// edit changes each instance in a response, single or in a list.
func edit(resp *http.Response, change func(inst map[string]any)) *http.Response {
	if resp == nil || resp.StatusCode/100 != 2 {
		return resp
	}
	body := must(io.ReadAll(resp.Body))
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&object) == nil {
		if data, ok := object["data"].([]any); ok {
			for _, item := range data {
				change(item.(map[string]any))
			}
		} else {
			change(object)
		}
		body = must(json.Marshal(object))
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp
}

func isInstances(req *http.Request) bool { return strings.Contains(req.URL.Path, "/instances") }
func isCreate(req *http.Request) bool {
	return req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/instances")
}

// editing returns a hook that changes each instance in all responses.
func editing(change func(inst map[string]any)) hook {
	return func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		resp, err := send()
		if isInstances(req) {
			edit(resp, change)
		}
		return resp, err
	}
}

// stuckAt returns a hook with which a member never gets ready.
func stuckAt(name string) hook {
	return editing(func(inst map[string]any) {
		if inst["name"] == name && inst["status"] == "running" {
			inst["status"] = "starting"
		}
	})
}

// stuckInDestroying returns a hook with which an instance is never destroyed.
func stuckInDestroying(id string) hook {
	return editing(func(inst map[string]any) {
		if inst["id"] == id && inst["status"] == "destroyed" {
			inst["status"] = "destroying"
		}
	})
}

// multiplyPrice changes the running price of an instance in a response.
func multiplyPrice(inst map[string]any, percent int64) {
	price := inst["price"].(map[string]any)
	price["running_kop_h"] = must(price["running_kop_h"].(json.Number).Int64()) * percent / 100
}

func apiError(status int, code string) *http.Response {
	body := `{"error":{"code":"` + code + `","message":"x"}}`
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

func interruptible(size int) fleet.Spec {
	s := spec(size)
	s.Order.Type, s.Queries[0].Type = rental.Interruptible, rental.Interruptible
	return s
}

// With All, a member that does not get ready before the timeout: everything is rolled back, and the result must not
// look like a success.
func TestApply_AllTimeoutIsAFailure(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.intercept(stuckAt("train-1"))
		all := spec(3)
		all.All = true
		result := e.apply(all, nil)
		if len(result.Failures) == 0 || len(result.Members) > 0 {
			t.Errorf("%d failures, %d members left; %d rolled back", len(result.Failures), len(result.Members),
				len(result.RolledBack))
		}
		for _, f := range result.Failures {
			if f.Member.Lost() {
				t.Errorf("slot %d: %v, without its instance", f.Slot, f.Err)
			}
		}
	})
}

// An interruption while the offers are read is reported as such.
func TestApply_InterruptedWhileReadingOffers(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		ctx, cancel := context.WithCancel(t.Context())
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if strings.HasSuffix(req.URL.Path, "/offers") {
				cancel()
				return nil, ctx.Err()
			}
			return send()
		})
		result := e.engine().Apply(ctx, spec(1), nil, time.Hour)
		if len(result.Failures) != 1 || failure.KindOf(result.Failures[0].Err) != failure.Interrupted {
			t.Error(describe(result))
		}
	})
}

// With All, the first boot that fails decides the outcome: no other wait may run into the timeout.
func TestApply_AllBootFailureEndsWaits(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		e.setOffer(e.offers()[0].ID, simulator.OfferPatch{FailBoots: new(true)})
		e.intercept(stuckAt("train-1"))
		all := spec(3)
		all.All = true
		began := time.Now()
		result := e.apply(all, nil)
		if took := time.Since(began); took > 5*time.Minute {
			t.Errorf("it took %s: %s", took, describe(result))
		}
	})
}

// A stopped instance that an earlier run rented is not started above MaxPriceKopH.
func TestApply_RecoveredStoppedAboveCap(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(1), nil)
		e.want(first, 1)
		inst := first.Members[0].Instance
		if _, err := e.client.StopInstance(t.Context(), inst.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		capped := spec(1)
		capped.MaxPriceKopH = inst.Price.RunningKopH / 2
		capped.Queries[0].MaxPriceKopH = &capped.MaxPriceKopH
		capped.MaxTotalKopH = 10 * inst.Price.RunningKopH
		result := e.apply(capped, nil) // the state of the first run is lost
		if len(result.Recovered) != 1 {
			t.Error(describe(result))
		}
		for _, now := range e.active() {
			if now.BillsGPU() && now.Price.RunningKopH > capped.MaxPriceKopH+now.Price.StoppedKopH {
				t.Errorf("it runs at %d, cap %d: %s", now.Price.RunningKopH, capped.MaxPriceKopH, describe(result))
			}
		}
	})
}

// A stopped interruptible member starts at its old price, also if the market price is lower now.
func TestApply_StartStoppedAfterPriceFell(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		three := interruptible(3)
		three.MaxTotalKopH = 1_000_000
		first := e.apply(three, nil)
		e.want(first, 3)
		m := first.Members[1]
		if _, err := e.client.StopInstance(t.Context(), m.Instance.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		e.setOffer(m.Offer.ID, simulator.OfferPatch{InterruptibleKopH: new(m.Instance.Price.RunningKopH / 2)})
		members := e.read(first.Members)
		e.want(e.apply(three, members), 3)
	})
}

// The create response has the price of the offer, and the reads after it the locked price, which is higher.
func TestApply_TotalCapAfterCreate(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		offers := e.offers()
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			resp, err := send()
			if isInstances(req) && req.Method == http.MethodGet {
				edit(resp, func(inst map[string]any) { multiplyPrice(inst, 120) })
			}
			return resp, err
		})
		three := spec(3)
		for _, offer := range offers[:3] {
			three.MaxTotalKopH += offer.Price.OnDemandKopH + offer.DiskKopH(10)
		}
		result := e.apply(three, nil)
		if total := fleet.RunningKopH(result.Members); total > three.MaxTotalKopH {
			t.Errorf("the members cost %d, cap %d: %s", total, three.MaxTotalKopH, describe(result))
		}
	})
}

// After a killed run, the members that it rented decide the common country and GPU.
func TestApply_SameAfterKilledRun(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		groups := map[string][]rental.Offer{}
		for _, offer := range e.offers() {
			if offer.Country != nil {
				groups[*offer.Country] = append(groups[*offer.Country], offer)
			}
		}
		sizes := slices.SortedFunc(maps.Keys(groups), func(a, b string) int { return len(groups[b]) - len(groups[a]) })
		most, second := sizes[0], sizes[1]
		keep := map[string]int{most: 5, second: 5}
		for _, offer := range e.offers() {
			if offer.Country == nil || keep[*offer.Country] == 0 {
				e.setOffer(offer.ID, simulator.OfferPatch{Available: new(false)})
				continue
			}
			keep[*offer.Country]--
		}
		two := spec(2)
		two.SameCountry = true
		first := e.apply(two, nil) // killed: its state is lost
		e.want(first, 2)
		five := spec(5)
		five.SameCountry = true
		result := e.apply(five, nil)
		countries := map[string]int{}
		for _, m := range result.Members {
			countries[*m.Instance.Country]++
		}
		if len(countries) != 1 || len(result.Members) < 2 {
			t.Errorf("countries %v: %s", countries, describe(result))
		}
	})
}

// The price of a planned member counts once, also if its first offer is refused or after a wait for offers.
func TestApply_BurnCountsOnce(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		offers := e.offers()
		withheld := e.limit(1)
		e.setOffer(withheld[0], simulator.OfferPatch{Available: new(true), After: 3 * time.Minute})
		two := spec(2)
		two.WaitForOffer = time.Hour
		var total int64
		for _, offer := range offers[:2] {
			total += offer.Price.OnDemandKopH + offer.DiskKopH(10)
		}
		limits := spending.Limits{RequireFunds: spending.FundsOff, MaxBurnKopH: total + 10}
		e.want(e.engine(limits).Apply(t.Context(), two, nil, 2*time.Hour), 2)
	})
}

// The restart of an outbid member stays within the burn limit, also if the market price exceeds its old bid.
func TestApply_RestartWithinBurnLimit(t *testing.T) {
	for name, headroom := range map[string]int64{"within": 0, "above": -1} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{}, func(t *testing.T, e *env) {
				two := interruptible(2)
				first := e.apply(two, nil)
				e.want(first, 2)
				outbid, other := first.Members[0], first.Members[1]
				bid := 10 * outbid.Instance.Price.RunningKopH
				e.setOffer(outbid.Offer.ID, simulator.OfferPatch{InterruptibleKopH: &bid})
				limit := other.Instance.Price.RunningKopH + bid + outbid.Instance.Price.StoppedKopH + headroom
				limits := spending.Limits{RequireFunds: spending.FundsOff, MaxBurnKopH: limit}
				result := e.engine(limits).Apply(t.Context(), two, e.read(first.Members), time.Hour)
				if started := len(result.Failures) == 0; started != (headroom == 0) {
					t.Errorf("started %t: %s", started, describe(result))
				}
				burn := int64(0)
				for _, inst := range e.active() {
					burn += inst.BurnKopH()
				}
				if burn > limit {
					t.Errorf("the account burns %d, and max_burn_kop_h is %d: %s", burn, limit, describe(result))
				}
			})
		})
	}
}

// MaxUnavailable includes members that are not ready yet.
func TestApply_RollingWithNotReady(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(4), nil)
		e.want(first, 4)
		members := slices.Clone(first.Members)
		members[3].NotReady = true // an interrupted apply
		updated := spec(4)
		updated.MaxUnavailable, updated.Order.DiskGB = 1, 40
		var deleted []string
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if req.Method == http.MethodDelete {
				deleted = append(deleted, req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:])
			}
			return send()
		})
		e.want(e.apply(updated, members), 4)
		if deleted[0] != members[3].Instance.ID {
			t.Errorf("the first member that was destroyed is not the one that is down")
		}
	})
}

// A rolling update does not go on after a failure, also within a group that waits for an offer.
func TestApply_RollingFailureWhileWaiting(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(3), nil)
		e.want(first, 3)
		offers := e.offers()
		e.setOffer(offers[0].ID, simulator.OfferPatch{FailBoots: new(true)})
		for _, m := range first.Members { // what the update frees is taken by others
			e.setOffer(m.Offer.ID, simulator.OfferPatch{Available: new(false)})
		}
		for i, id := range e.limit(1) {
			if i == 0 {
				e.setOffer(id, simulator.OfferPatch{Available: new(true), After: 10 * time.Minute})
			}
		}
		updated := spec(3)
		updated.MaxUnavailable, updated.Order.DiskGB, updated.WaitForOffer = 2, 40, time.Hour
		result := e.engine().Apply(t.Context(), updated, first.Members, 2*time.Hour)
		after := ids(result.Members)
		if after[1] != first.Members[1].Instance.ID {
			t.Errorf("slot 1 was replaced after slot 0 had failed: %s", describe(result))
		}
	})
}

// MinReady and All mean ready members, also with OutbidKeep.
func TestApply_KeepOutbidIsNotReady(t *testing.T) {
	for name, all := range map[string]bool{"any": false, "all": true} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{Quirks: []string{"outbid-soon-after-start"}}, func(t *testing.T, e *env) {
				three := interruptible(3)
				three.OnOutbid, three.All = lifecycle.OutbidKeep, all
				result := e.apply(three, nil)
				ready := fleet.Ready(result.Members, rental.DesiredRunning)
				if len(result.Failures) == 0 && ready < three.MinReady {
					t.Errorf("success with %d of %d ready: %s", ready, three.MinReady, describe(result))
				}
			})
		})
	}
}

// Members that reached stopped after an interruption count as ready.
func TestApply_ReadyAfterInterruptedStop(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(2), nil)
		e.want(first, 2)
		stopped := spec(2)
		stopped.State = rental.DesiredStopped
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		result := e.engine().Apply(ctx, stopped, first.Members, time.Hour)
		time.Sleep(time.Minute)
		members := e.read(result.Members)
		changes, ready := fleet.Plan(stopped, members), fleet.Ready(members, rental.DesiredStopped)
		if len(changes) > 0 || ready != 2 {
			t.Errorf("%d changes, and %d of 2 are ready", len(changes), ready)
		}
	})
}

// One existing member without a country must not hide the country of the others.
func TestApply_SameCountryOmitted(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		train := spec(2)
		train.SameCountry = true
		first := e.apply(train, nil)
		e.want(first, 2)
		members := slices.Clone(first.Members)
		members[0].Offer, members[0].Instance.Country = fleet.Offer{}, nil // recovered, and the API omits the country
		train.Size = 3
		e.want(e.apply(train, members), 3)
	})
}

// Without private state (the provider was killed), the offer of a member has no location.
func TestApply_SameWithoutPrivateState(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		train := spec(2)
		train.SameGPU = true
		first := e.apply(train, nil)
		e.want(first, 2)
		members := slices.Clone(first.Members)
		for i := range members {
			members[i].Offer = fleet.Offer{ID: members[i].Offer.ID}
		}
		train.Size = 3
		e.want(e.apply(train, members), 3)
	})
}

// A few offers that were taken a moment ago, in a list that is a minute old, do not end the apply while others are
// free.
func TestApply_ManyStaleOffers(t *testing.T) {
	run(t, simulator.Config{MarketScale: 20}, func(t *testing.T, e *env) {
		e.enrich()
		thirty := spec(30)
		offers := e.offers()
		began := time.Now()
		for _, offer := range offers[:4] { // taken, but every response is from before that, for a minute
			e.setOffer(offer.ID, simulator.OfferPatch{Available: new(false)})
		}
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			old := time.Since(began) < time.Minute
			path := strings.TrimSuffix(req.URL.Path, "/")
			resp, err := send()
			switch {
			case err != nil || !old || req.Method != http.MethodGet:
			case strings.HasSuffix(path, "/offers"):
				body := must(io.ReadAll(resp.Body))
				var page struct {
					Data []json.RawMessage `json:"data"`
					Next *string           `json:"next_cursor"`
				}
				if err := json.Unmarshal(body, &page); err != nil {
					return nil, err
				}
				var data []json.RawMessage
				for _, offer := range offers[:4] {
					raw := must(json.Marshal(offer))
					data = append(data, raw)
				}
				page.Data = append(data, page.Data...)
				body = must(json.Marshal(page))
				resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
				resp.Header.Del("Content-Length")
			case strings.Contains(path, "/offers/"):
				edit(resp, func(offer map[string]any) { offer["available"] = true })
			}
			return resp, err
		})
		result := e.apply(thirty, nil)
		if len(result.Members) != 30 {
			t.Errorf("%d of 30 members: %s", len(result.Members), describe(result))
		}
	})
}

// A price that rises by a kopeck, within every cap, does not exclude the offer.
func TestApply_PriceRisesALittle(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		offers := e.offers()[:3]
		e.limit(3)
		var moved atomic.Bool
		e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			if isCreate(req) && !moved.Swap(true) {
				e.setOffer(offers[1].ID, simulator.OfferPatch{OnDemandKopH: new(offers[1].Price.OnDemandKopH + 1)})
			}
			return send()
		})
		e.want(e.apply(spec(3), nil), 3)
	})
}

// A killed update has rented an instance for a slot, with other arguments than now. The fleet takes it, and a plan
// shows that it is replaced.
func TestApply_OutdatedLeftover(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.apply(spec(2), nil)
		e.want(first, 2)
		if _, err := e.client.DeleteInstance(t.Context(), first.Members[1].Instance.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		members, _, err := e.engine().Refresh(t.Context(), first.Members)
		if err != nil {
			t.Fatal(err)
		}
		killed := e.apply(spec(2), members)
		e.want(killed, 2)
		other := spec(2)
		other.Order.DiskGB = 40
		members[0].Order.DiskGB = 40
		result := e.apply(other, members)
		if len(result.Failures) != 1 || failure.KindOf(result.Failures[0].Err) != failure.NotPlanned ||
			len(e.active()) != 2 || ids(result.Members)[1] != ids(killed.Members)[1] {
			t.Errorf("%s, %d instances exist", describe(result), len(e.active()))
		}
		if changes := fleet.Changes(fleet.Plan(other, result.Members)); len(changes) != 1 ||
			changes[0].Action != fleet.Update {
			t.Errorf("the next plan: %v", changes)
		}
		other.Order.DiskGB = spec(2).Order.DiskGB // as in the message
		members[0].Order.DiskGB = other.Order.DiskGB
		if result = e.apply(other, members); ids(result.Members)[1] != ids(killed.Members)[1] {
			t.Error(describe(result))
		}
	})
}

// notDiscarded applies a fleet whose members exceed their cap and could not be destroyed. Later requests to destroy
// succeed.
func (e *env) notDiscarded() (two fleet.Spec, result fleet.Result) {
	e.t.Helper()
	broken := true
	e.intercept(func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		if req.Method == http.MethodDelete && broken {
			return apiError(http.StatusForbidden, "forbidden"), nil
		}
		resp, err := send()
		if isInstances(req) {
			edit(resp, func(inst map[string]any) { multiplyPrice(inst, 300) })
		}
		return resp, err
	})
	two = spec(2)
	two.MaxPriceKopH = e.offers()[1].Price.OnDemandKopH
	two.Queries[0].MaxPriceKopH = &two.MaxPriceKopH
	result = e.apply(two, nil)
	broken = false
	time.Sleep(time.Minute)
	return two, result
}

// What could not be destroyed although it exceeds a cap is planned again.
func TestApply_NotDiscardedIsPlanned(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		two, result := e.notDiscarded()
		members := e.read(result.Members)
		if len(members) != 2 || len(fleet.Plan(two, members)) == 0 {
			t.Errorf("members run above the cap, and the plan has no changes: %s", describe(result))
		}
	})
}

// A 402 for the first replacement must not cost the other members, which are not destroyed yet.
func TestApply_NoFundsWhileReplacing(t *testing.T) {
	for name, all := range map[string]bool{"any": false, "all": true} {
		t.Run(name, func(t *testing.T) {
			run(t, simulator.Config{MarketScale: 5}, func(t *testing.T, e *env) {
				train := interruptible(20)
				train.OnOutbid, train.All = lifecycle.OutbidReplace, all
				e.enrich()
				first := e.apply(train, nil)
				e.want(first, 20)
				for _, m := range first.Members {
					e.setOffer(m.Offer.ID, simulator.OfferPatch{InterruptibleKopH: new(2 * m.Instance.Price.RunningKopH)})
				}
				members := e.read(first.Members)
				if err := e.simulator.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(0))}); err != nil {
					t.Fatal(err)
				}
				result := e.apply(train, members)
				if len(result.Members) < 15 {
					t.Errorf("%d of 20 outbid members were destroyed although the account has no money for others: %.300s",
						20-len(result.Members), describe(result))
				}
			})
		})
	}
}

// The plan after a change of the arguments and of the desired state is done in one apply.
func TestApply_StartAndUpdate(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		stopped := spec(2)
		stopped.State = rental.DesiredStopped
		first := e.apply(stopped, nil)
		updated := spec(2)
		updated.MaxUnavailable, updated.Order.DiskGB = 1, 40
		result := e.apply(updated, first.Members)
		e.want(result, 2)
		if changes := fleet.Plan(updated, result.Members); len(changes) > 0 {
			t.Errorf("another plan: %s", planText(changes))
		}
	})
}

// An interrupted rollback keeps in the result what still exists.
func TestApply_InterruptedRollback(t *testing.T) {
	for after := 0; after < 12000; after += 250 {
		run(t, simulator.Config{}, func(t *testing.T, e *env) {
			e.setOffer(e.offers()[0].ID, simulator.OfferPatch{FailBoots: new(true)})
			all := spec(4)
			all.All = true
			ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second+time.Duration(after)*time.Millisecond)
			defer cancel()
			result := e.engine().Apply(ctx, all, nil, time.Hour)
			time.Sleep(time.Minute)
			known := map[string]bool{}
			for _, m := range result.Members {
				known[m.Instance.ID] = true
			}
			for _, inst := range e.active() {
				if !known[inst.ID] {
					t.Errorf("%d: %s is an orphan: %s", after, inst.NameString(), describe(result))
				}
			}
		})
	}
}

// planText describes changes.
func planText(phases []fleet.Phase) string {
	actions := []string{"", "destroy", "stop", "start", "wait", "replace", "create", "update"}
	var text []string
	for _, c := range fleet.Changes(phases) {
		text = append(text, fmt.Sprintf("%d:%s(%s)", c.Slot, actions[c.Action], c.Instance.Status))
	}
	return strings.Join(text, " ")
}
