package market

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A refusal of one offer does not mean that all are refused. Several ones in succession do. Offers that others take
// meanwhile do not end a creation, however many they are.
func TestRent_TriesTheNextOffer(t *testing.T) {
	refused := func(n, status int) func(*env) {
		return func(e *env) { e.Proxy.Set(refuses(e.offers[:n]...).Do(simtest.Fail(status))) }
	}
	taken := func(n int) func(*env) {
		return func(e *env) {
			e.Proxy.Set(simtest.Creates().Do(simtest.Before(func(*http.Request) { e.set(false, e.offers[:n]...) })))
		}
	}
	limit := func(e *env) { e.SetAccount(simulator.AccountPatch{MaxInstances: new(int64(0))}) }
	for name, test := range map[string]struct {
		change   func(*env)
		maxPrice int64 // every offer costs 100 more than the one before
		offer    int
		want     string
		requests int // that reach the service
	}{
		"a conflict":                    {refused(1, 409), 0, 2, "", 1},
		"its disk, 422":                 {refused(1, 422), 0, 2, "", 1},
		"four are refused":              {refused(4, 409), 0, 5, "", 1},
		"all are refused":               {limit, 0, 0, "OfferRefused", maxRefusals},
		"one is taken":                  {taken(1), 0, 2, "", 2},
		"seven are taken":               {taken(7), 0, 8, "", 8},
		"all are taken":                 {taken(8), 0, 0, "NoOffer", 8},
		"the next one is above the cap": {taken(1), 150, 0, "NoOffer", 1},
	} {
		subtest(t, name, 8, func(t *testing.T, e *env) {
			for i, offer := range e.offers {
				e.price(offer, int64(100+100*i))
			}
			test.change(e)
			d := demand(1, 0)
			d.MaxPriceKopH = test.maxPrice
			offer, _, err := e.rent(t.Context(), d)
			if offer != test.offer || errorName(err) != test.want {
				t.Errorf("rented offer %d, %v", offer, err)
			}
			refused, ok := errors.AsType[lifecycle.OfferRefused](err)
			if ok && refused.Afterwards != lifecycle.Available {
				t.Errorf("got %#v", err)
			}
			if n := e.CountRequests("POST", "/instances"); n != test.requests {
				t.Errorf("%d create requests, want %d", n, test.requests)
			}
		})
	}
}

// An offer that can no longer be rented as interruptible does not end a creation.
func TestRent_NotInterruptible(t *testing.T) {
	run(t, 2, func(t *testing.T, e *env) {
		onDemand := simtest.Rewrite(func(offer map[string]any) {
			offer["price"].(map[string]any)["interruptible_kop_h"] = nil
		})
		e.Proxy.Set(
			refuses(e.offers[0]).Do(simtest.Fail(409)), simtest.Request("GET", "/offers/"+e.offers[0].ID).Do(onDemand),
		)
		e.price(e.offers[0], 100)
		e.price(e.offers[1], 200)
		d, o := demand(1, 0), order("")
		d.Request.Type, o.Request.Type = rental.Interruptible, rental.Interruptible
		if rented, err := e.market.Search(d).Rent(t.Context(), o); err != nil || rented.Candidate.Offer.ID != e.offers[1].ID {
			t.Errorf("got %+v, %v", rented, err)
		}
	})
}

// A fallback is tried when the first query has no offer, at once or with the next listing.
func TestRent_FallsBack(t *testing.T) {
	for _, wait := range []time.Duration{0, time.Hour} {
		run(t, 1, func(t *testing.T, e *env) {
			d, began := demand(1, wait, "b200", e.offers[0].GPU.Slug), time.Now()
			if wait > 0 {
				e.set(false, e.offers[0])
				e.AddOffer(e.offers[0].ID, wait/2)
			}
			_, rented, err := e.rent(t.Context(), d)
			if err != nil || rented.Candidate.Query != 1 {
				t.Errorf("got %+v, %v", rented.Candidate, err)
			}
			if passed := rented.CreatedAt.Sub(began); passed > wait/2+ListAge+10*time.Second {
				t.Errorf("rented after %s", passed)
			}
		})
	}
}

// Ten instances wait and four offers appear one after the other: each offer is rented once. All share one listing in
// half a minute.
func TestWait_RentsEachOfferOnce(t *testing.T) {
	run(t, 4, func(t *testing.T, e *env) {
		e.set(false, e.offers...)
		lists, began := e.CountRequests("GET", "/offers"), time.Now()
		errs := make(chan error, 10)
		for range cap(errs) {
			go func() {
				_, _, err := e.rent(t.Context(), demand(1, time.Hour))
				errs <- err
			}()
		}
		for i, offer := range e.offers {
			e.AddOffer(offer.ID, time.Duration(1+i)*10*time.Minute)
		}
		failed := 0
		for range cap(errs) {
			if err, ok := errors.AsType[NoOffer](<-errs); ok {
				if failed++; err.Waited != time.Hour || err.Counts.Matching > 0 {
					t.Errorf("got %+v", err)
				}
			}
		}
		if passed := time.Since(began); failed != 6 || passed != time.Hour {
			t.Errorf("%d errors after %s", failed, passed)
		}
		lists = e.CountRequests("GET", "/offers") - lists
		if posts := e.CountRequests("POST", "/instances"); lists > 130 || posts != 4 {
			t.Errorf("%d requests for offers, %d for instances", lists, posts)
		}
	})
}

// An offer above the cap is not rented while the price is too high. An offer that another customer takes first, and one
// that is listed and always refused, do not keep the wait from the next one.
func TestWait_ContinuesAfterRefusals(t *testing.T) {
	run(t, 3, func(t *testing.T, e *env) {
		refused, taken, expensive := e.offers[0], e.offers[1], e.offers[2]
		e.set(false, taken, expensive)
		e.Proxy.Set(
			refuses(refused).Do(simtest.Fail(409)),
			refuses(taken).Do(simtest.Before(func(*http.Request) { e.set(false, taken) })),
		)
		d := demand(1, time.Hour)
		d.MaxPriceKopH = expensive.Price.OnDemandKopH
		e.price(expensive, d.MaxPriceKopH+1)
		e.AddOffer(taken.ID, 2*time.Minute)
		e.AddOffer(expensive.ID, 4*time.Minute)
		time.AfterFunc(20*time.Minute, func() { e.price(expensive, d.MaxPriceKopH) })
		began := time.Now()
		offer, rented, err := e.rent(t.Context(), d)
		passed := rented.CreatedAt.Sub(began)
		if err != nil || offer != 3 || passed < 20*time.Minute || passed > 20*time.Minute+ListAge+10*time.Second {
			t.Errorf("rented offer %d after %s, %v", offer, passed, err)
		}
		if n := e.CountRequests("POST", "/instances"); n > 12 {
			t.Errorf("%d create requests", n)
		}
	})
}

// Offers that others rent one after the other, and that a cache still shows as available, do not end a wait. Several
// refusals in a short time do: most likely a limit of the account is reached.
func TestWait_RefusedOffers(t *testing.T) {
	run(t, 2*maxRefusals+1, func(t *testing.T, e *env) {
		e.set(false, e.offers...)
		last := len(e.offers) - 1
		e.Proxy.Set(refuses(e.offers[:last]...).Do(simtest.Fail(409)))
		for i, offer := range e.offers {
			e.AddOffer(offer.ID, time.Duration(5*i+5)*time.Minute)
			time.AfterFunc(time.Duration(5*i+7)*time.Minute, func() { e.set(false, offer) })
		}
		if offer, _, err := e.rent(t.Context(), demand(1, time.Hour)); err != nil || offer != last+1 {
			t.Errorf("rented %d, %v", offer, err)
		}
	})
}

// The end of the run ends the wait at once, and so does an error that a later listing cannot change. An outage of the
// service does not.
func TestWait_Ends(t *testing.T) {
	fails := func(status int) func(*env) {
		return func(e *env) { e.Proxy.Set(simtest.AnyRequest.Do(simtest.Fail(status))) }
	}
	outage := func(e *env) {
		fails(503)(e)
		time.AfterFunc(30*time.Minute, func() { e.Proxy.Set() })
	}
	outageThenOffers := func(e *env) {
		outage(e)
		e.set(true, e.offers...)
	}
	limit := func(e *env) {
		e.SetAccount(simulator.AccountPatch{MaxInstances: new(int64(0))})
		e.set(true, e.offers...)
	}
	burnLimit := func(e *env) {
		e.limitBurn(e.offers[0].Price.OnDemandKopH - 1)
		e.AddOffer(e.offers[0].ID, 5*time.Minute)
	}
	for name, test := range map[string]struct {
		change    func(*env)
		interrupt time.Duration
		together  bool // with others, which are billed
		want      string
		took      time.Duration
	}{
		"interrupted":                    {func(*env) {}, 10 * time.Minute, false, "Interrupted", 10 * time.Minute},
		"the burn limit":                 {burnLimit, time.Hour, false, "AboveBurnLimit", 6 * time.Minute},
		"a limit of the account":         {limit, time.Hour, false, "OfferRefused", time.Minute},
		"together with others":           {func(*env) {}, time.Hour, true, "NoOffer", time.Minute},
		"an invalid query":               {fails(422), time.Hour, false, "OffersUnreadable", time.Minute},
		"an outage that ends":            {outageThenOffers, 2 * time.Hour, false, "", 35 * time.Minute},
		"no offers after an outage":      {outage, 2 * time.Hour, false, "NoOffer", time.Hour},
		"an outage that does not end":    {fails(503), 3 * time.Hour, false, "OffersUnreadable", 2 * time.Hour},
		"an interruption of this outage": {fails(503), 30 * time.Minute, false, "Interrupted", 30 * time.Minute},
	} {
		subtest(t, name, maxRefusals, func(t *testing.T, e *env) {
			e.set(false, e.offers...)
			test.change(e)
			ctx := within(t, test.interrupt)
			d, began := demand(1, time.Hour), time.Now()
			d.All = test.together
			_, _, err := e.rent(ctx, d)
			if took := time.Since(began); errorName(err) != test.want || took > test.took {
				t.Errorf("got %v after %s", err, took)
			}
		})
	}
}

// An interrupted wait claims no offer, even if the last list has one that was released a moment ago.
func TestWait_InterruptedClaimsNothing(t *testing.T) {
	run(t, 1, func(t *testing.T, e *env) {
		other := e.market.Search(demand(1, 0))
		taken, err := other.Take(t.Context(), 1, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		ctx := within(t, 12*time.Second)
		time.AfterFunc(12*time.Second-1, func() { other.Release(taken...) })
		_, _, err = e.rent(ctx, demand(1, time.Hour))
		synctest.Wait()
		if end, _ := e.claimEnd(e.offers[0].ID); errorName(err) != "Interrupted" || end.IsZero() {
			t.Errorf("%v, the claim ends at %s", err, end)
		}
	})
}

// With a configured key, the instance of an earlier run is found before the wait begins, or if the burn limit, which
// contains its price, allows no other one.
func TestRent_FindsByKey(t *testing.T) {
	for name, test := range map[string]struct{ available, limited bool }{
		"no offer": {false, false}, "above the burn limit": {true, true},
	} {
		subtest(t, name, 2, func(t *testing.T, e *env) {
			before, _, err := e.Client.CreateInstance(t.Context(), lifecycle.ChosenKey("key").Key(1), e.request(1))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if e.set(test.available, e.offers[0]); test.limited {
				e.limitBurn(before.Price.RunningKopH)
			}
			began := time.Now()
			rented, err := e.market.Search(demand(1, time.Hour)).Rent(t.Context(), order("key"))
			if err != nil || rented.ID != before.ID || !rented.Recovered || time.Since(began) > time.Minute {
				t.Errorf("got %+v, %v", rented, err)
			}
			if end, claimed := e.claimEnd(e.offers[0].ID); claimed && (end.IsZero() || time.Now().Before(end)) {
				t.Errorf("the claim ends at %s", end)
			}
		})
	}
}
