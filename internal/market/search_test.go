package market

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// inMarket runs a test in a synctest bubble.
func inMarket(t *testing.T, api http.RoundTripper, test func(t *testing.T, m *Market)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client := rentaltest.Client(t, api)
		manager := lifecycle.New(lifecycle.Config{
			Client: client, PollInterval: 5 * time.Second, Owners: new(lifecycle.Owners),
			Account:  spending.NewAccount(spending.Limits{}, client),
			Template: func(context.Context, string) (t rental.Template, found bool, err error) { return t, true, nil },
		})
		test(t, New(rental.NewCache(client), manager, 5*time.Second))
		time.Sleep(time.Hour) // until no goroutine is left
	})
}

// setBurnLimit sets a limit of kopecks per hour.
func (m *Market) setBurnLimit(kopH int64) {
	m.lifecycle.Account = spending.NewAccount(spending.Limits{MaxBurnKopH: kopH}, m.lifecycle.Client)
}

// errorName is the type of an error without its package.
func errorName(err error) string {
	if err == nil {
		return ""
	}
	name := fmt.Sprintf("%T", err)
	return name[strings.LastIndex(name, ".")+1:]
}

// order is an order under a key; a random key if it is empty.
func order(key string) lifecycle.Order {
	order := lifecycle.Order{
		Request:       rental.InstanceCreate{Template: "ubuntu", DiskGB: 60, Type: rental.OnDemand},
		RecoverWithin: 1000 * time.Hour, Seed: lifecycle.RandomKey(),
	}
	if key != "" {
		order.Seed = lifecycle.ChosenKey(key)
	}
	return order
}

// demand is for instances of GPU models, in order of preference; any GPU without.
func demand(count int, gpus ...string) Demand {
	d := Demand{Count: count, Request: order("").Request}
	for _, gpu := range gpus {
		query := rental.OfferQuery{GPU: []string{gpu}, Type: rental.OnDemand}
		d.Queries = append(d.Queries, query)
	}
	if len(gpus) == 0 {
		d.Queries = []rental.OfferQuery{{Type: rental.OnDemand}}
	}
	return d
}

// waiting is demand for one instance that waits.
func waiting(wait time.Duration, gpus ...string) Demand {
	d := demand(1, gpus...)
	d.Wait = wait
	return d
}

func rent(ctx context.Context, m *Market, demand Demand) (offerID string, rented lifecycle.Rented, err error) {
	rented, err = m.Search(demand).Rent(ctx, order(""))
	if rented.Candidate != nil {
		offerID = rented.Candidate.Offer.ID
	}
	return offerID, rented, err
}

// A refusal of one offer does not mean that all are refused. Several ones in succession do.
func TestRent_Refusals(t *testing.T) {
	for name, test := range map[string]struct {
		refused  int // of six offers
		status   int
		want     string // the rented offer
		requests int
	}{
		"none":               {0, 409, "off_1", 1},
		"a conflict":         {1, 409, "off_2", 2},
		"its disk, 422":      {1, 422, "off_2", 2},
		"all but one":        {4, 409, "off_5", 5},
		"more than the most": {6, 409, "", maxRefusals},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{})
			for n := range 6 {
				id := fmt.Sprint("off_", n+1)
				if api.Prices[id] = 100; n < test.refused {
					api.Refused[id] = test.status
				}
			}
			inMarket(t, api, func(t *testing.T, m *Market) {
				offer, _, err := rent(t.Context(), m, demand(1))
				if offer != test.want || (err == nil) != (test.want != "") {
					t.Errorf("rented %s, %v", offer, err)
				}
				refused, ok := errors.AsType[lifecycle.OfferRefused](err)
				if err != nil && (!ok || refused.Afterwards != lifecycle.Available) {
					t.Errorf("got %#v", err)
				}
			})
			if n := api.Counts["POST /instances"]; n != test.requests {
				t.Errorf("%d create requests, want %d", n, test.requests)
			}
		})
	}
}

// Offers that others take meanwhile do not end a creation, however many they are.
func TestRent_TriesTheNextOffer(t *testing.T) {
	for name, test := range map[string]struct {
		taken    int // of eight offers, which cost 100, 200 and so on
		maxPrice int64
		want     string
	}{
		"the first one is taken meanwhile": {1, 0, "off_2"},
		"all but one are":                  {7, 0, "off_8"},
		"all are":                          {8, 0, ""},
		"the next one is above the cap":    {1, 150, ""},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{})
			for n := range int64(8) {
				api.Prices[fmt.Sprint("off_", n+1)] = 100 * (n + 1)
			}
			api.Before = func(rental.InstanceCreate) {
				for n := range test.taken {
					delete(api.Prices, fmt.Sprint("off_", n+1))
				}
			}
			inMarket(t, api, func(t *testing.T, m *Market) {
				d := demand(1)
				d.MaxPriceKopH = test.maxPrice
				offer, _, err := rent(t.Context(), m, d)
				if offer != test.want {
					t.Errorf("rented from %q, want %q (%v)", offer, test.want, err)
				}
				if test.want == "" && errorName(err) != "NoOffer" {
					t.Errorf("failed with %#v, want NoOffer", err)
				}
			})
		})
	}
}

// An offer that can no longer be rented as interruptible does not end a creation.
func TestRent_NotInterruptible(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100, "off_2": 200})
	api.Refused["off_1"] = http.StatusConflict
	api.Before = func(rental.InstanceCreate) { api.OnDemand["off_1"] = true }
	inMarket(t, api, func(t *testing.T, m *Market) {
		d, o := demand(1), order("")
		d.Request.Type, o.Request.Type = rental.Interruptible, rental.Interruptible
		if rented, err := m.Search(d).Rent(t.Context(), o); err != nil || rented.Candidate.Offer.ID != "off_2" {
			t.Errorf("got %+v, %v", rented, err)
		}
	})
}

// What is or may be rented decides where the others are rented.
func TestRent_KeepsCountry(t *testing.T) {
	for status, want := range map[int]string{0: "", 503: "OutcomeUnknown"} {
		api := rentaltest.NewMarket(map[string]int64{"off_a_ru_1": 100, "off_a_de_1": 200})
		api.Refused["off_a_ru_1"] = status
		inMarket(t, api, func(t *testing.T, m *Market) {
			d := demand(2)
			d.SameCountry = true
			search := m.Search(d)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			if _, err := search.Rent(ctx, order("key")); errorName(err) != want {
				t.Fatalf("got %v", err)
			}
			if other, err := search.Take(t.Context(), 1, 1, false); errorName(err) != "NoOffer" {
				t.Errorf("got %v, %v", other, err)
			}
		})
	}
}

// An offer is claimed while something is rented from it, and afterwards as long as lists may contain it.
func TestRent_EndsClaims(t *testing.T) {
	refused := func(code int) func(*rentaltest.Market) {
		return func(api *rentaltest.Market) { api.Refused["off_1"] = code }
	}
	recovered := func(api *rentaltest.Market) {
		api.Add(lifecycle.ChosenKey("key").Key(1), rental.Instance{
			ID: "ins_1", Status: rental.StatusRunning, SSH: &rental.SSH{Host: "203.0.113.1", Port: 22},
			CreatedAt: time.Now().Add(-time.Hour),
		})
	}
	for name, test := range map[string]struct {
		change  func(*rentaltest.Market)
		claimed time.Duration
		want    string
	}{
		"rented":                     {func(*rentaltest.Market) {}, claimTTL, ""},
		"recovered under the key":    {recovered, 0, ""},
		"another one under the key":  {recovered, 0, "NotRecent"},
		"refused for the funds":      {refused(402), 0, "Error"},
		"refused for its permission": {refused(403), 0, "Error"},
		"refused for a conflict":     {refused(409), refusedTTL, "OfferRefused"},
		"not available": {
			func(api *rentaltest.Market) { api.Before = func(rental.InstanceCreate) { delete(api.Prices, "off_1") } },
			claimTTL, "NoOffer",
		},
		"an unknown outcome": {
			func(api *rentaltest.Market) {
				api.After = func(*rental.Instance) error { api.Before = func(rental.InstanceCreate) {}; return errors.New("cut") }
				api.Refused["off_1"] = 503
			}, claimTTL, "OutcomeUnknown",
		},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			inMarket(t, api, func(t *testing.T, m *Market) {
				test.change(api)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				search := m.Search(demand(1))
				taken, err := search.Take(ctx, 1, 1, false)
				if err != nil {
					t.Fatal(err)
				}
				o := order("key")
				if test.want == "NotRecent" {
					o.RecoverWithin = time.Minute
				}
				_, err = search.Rent(ctx, o, taken...)
				if errorName(err) != test.want {
					t.Errorf("got %v", err)
				}
				if n := api.Counts["POST /instances"]; test.want == "NoOffer" && n != 1 {
					t.Errorf("%d create requests: the key was requested again", n)
				}
				end := m.taken["off_1"].end
				if left := time.Until(end); left < test.claimed-10*time.Second || left > test.claimed || end.IsZero() {
					t.Errorf("claimed for %s, want %s", left, test.claimed)
				}
			})
		})
	}
}

// A destruction ends the claim of its offer, and the claims that a limit of the account may have refused, but not that
// of an unsuitable offer.
func TestDestroyed_EndsClaims(t *testing.T) {
	for _, test := range []struct {
		status    int
		destroyed string
		free      bool
	}{
		{201, "off_1", true},
		{201, "off_2", false},
		{409, "off_2", true},
		{422, "off_2", false},
	} {
		api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
		inMarket(t, api, func(t *testing.T, m *Market) {
			if test.status != 201 {
				api.Refused = map[string]int{"off_1": test.status}
			}
			if _, _, err := rent(t.Context(), m, demand(1)); (err == nil) != (test.status == 201) {
				t.Fatal(err)
			}
			m.Destroyed(test.destroyed)
			if _, claimed := m.taken["off_1"]; claimed == test.free {
				t.Errorf("after %d and the destruction of an instance from %s: claimed %t", test.status, test.destroyed, claimed)
			}
		})
	}
}

// Instances with the same query get different offers, and read the list of offers once.
func TestRent_InstancesOfARunGetDifferentOffers(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100, "off_2": 200, "off_3": 300})
	inMarket(t, api, func(t *testing.T, m *Market) {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, _, err := rent(t.Context(), m, demand(1)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	if len(api.Rented) != 3 || api.Counts["GET /offers"] != 1 || api.Counts["POST /instances"] != 3 {
		t.Errorf("rented %v with the requests %v", api.Rented, api.Counts)
	}
}

// Without a wait, a fallback is tried when the first query has no offer.
func TestRent_FallsBack(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_a100_1": 100})
	inMarket(t, api, func(t *testing.T, m *Market) {
		_, rented, err := rent(t.Context(), m, demand(1, "h100", "a100"))
		if err != nil || rented.Candidate.Query != 1 {
			t.Errorf("got %+v, %v", rented.Candidate, err)
		}
		if _, _, err = rent(t.Context(), m, demand(1, "h100", "a100")); errorName(err) != "NoOffer" {
			t.Errorf("second: %v", err)
		}
	})
}

// A fixed offer is requested although its state is unknown, unless its price must be known.
func TestRent_FixedOffer(t *testing.T) {
	for name, test := range map[string]struct {
		offer    string
		maxPrice int64
		maxBurn  int64
		listed   int // status of the reads
		want     string
	}{
		"available":                     {"off_1", 100, 0, 0, ""},
		"not available":                 {"off_2", 0, 0, 0, "OfferUnavailable"},
		"above the cap":                 {"off_1", 99, 0, 0, "OfferAboveCap"},
		"not readable, no price needed": {"off_1", 0, 0, 503, ""},
		"not readable, with a cap":      {"off_1", 100, 0, 503, "OffersUnreadable"},
		"not readable, price counted":   {"off_1", 0, 100, 503, "OffersUnreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			api.ReadStatus = test.listed
			inMarket(t, api, func(t *testing.T, m *Market) {
				m.setBurnLimit(test.maxBurn)
				d := Demand{OfferID: test.offer, Count: 1, Request: order("").Request, MaxPriceKopH: test.maxPrice}
				if offer, _, err := rent(t.Context(), m, d); errorName(err) != test.want || err == nil && offer != "off_1" {
					t.Errorf("rented %s, %v", offer, err)
				}
			})
		})
	}
}

// Ten instances wait and four offers appear one after the other: each offer is rented once. All share one listing in
// half a minute.
func TestWait_RentsEachOfferOnce(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{})
	inMarket(t, api, func(t *testing.T, m *Market) {
		began := time.Now()
		errs := make(chan error, 10)
		for range cap(errs) {
			go func() {
				_, _, err := rent(t.Context(), m, waiting(time.Hour, "h100"))
				errs <- err
			}()
		}
		for i := range 4 {
			time.Sleep(10 * time.Minute)
			api.Set(fmt.Sprint("off_h100_", i), 100)
		}
		failed := 0
		for range cap(errs) {
			if e, ok := errors.AsType[NoOffer](<-errs); ok {
				if failed++; e.Waited != time.Hour || e.Counts.Matching > 0 {
					t.Errorf("got %+v", e)
				}
			}
		}
		if passed := time.Since(began); failed != 6 || passed != time.Hour {
			t.Errorf("%d errors after %s", failed, passed)
		}
	})
	if !slices.Equal(api.Rented, []string{"off_h100_0", "off_h100_1", "off_h100_2", "off_h100_3"}) {
		t.Errorf("rented %v", api.Rented)
	}
	if n := api.Counts["GET /offers"]; n > 130 || api.Counts["POST /instances"] != 4 {
		t.Errorf("requests: %v", api.Counts)
	}
}

// An offer that appears is rented with the next listing, and the first query that has one wins.
func TestWait_PrefersTheFirstQuery(t *testing.T) {
	for name, test := range map[string]struct {
		offers []string
		want   int
	}{
		"both":     {[]string{"off_a100_1", "off_h100_1"}, 0},
		"fallback": {[]string{"off_a100_1"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{})
			inMarket(t, api, func(t *testing.T, m *Market) {
				began := time.Now()
				time.AfterFunc(5*time.Minute, func() {
					for _, id := range test.offers {
						api.Set(id, 100)
					}
				})
				_, rented, err := rent(t.Context(), m, waiting(time.Hour, "h100", "a100"))
				if err != nil || rented.Candidate.Query != test.want {
					t.Errorf("got %+v, %v", rented.Candidate, err)
				}
				if passed := rented.CreatedAt.Sub(began); passed > 5*time.Minute+ListAge+10*time.Second {
					t.Errorf("rented after %s", passed)
				}
			})
		})
	}
}

// An offer above the cap is not rented while the price is too high. An offer that another customer takes first, and one
// that is listed and always refused, do not keep the wait from the next one.
func TestWait_ContinuesAfterRefusals(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_h100_0": 50})
	api.Refused["off_h100_0"] = http.StatusConflict
	api.Before = func(order rental.InstanceCreate) {
		if order.OfferID == "off_h100_1" {
			delete(api.Prices, order.OfferID)
		}
	}
	inMarket(t, api, func(t *testing.T, m *Market) {
		time.AfterFunc(2*time.Minute, func() { api.Set("off_h100_1", 100) })  // taken by another customer
		time.AfterFunc(4*time.Minute, func() { api.Set("off_h100_2", 500) })  // above the cap
		time.AfterFunc(20*time.Minute, func() { api.Set("off_h100_2", 100) }) // the good one
		d := waiting(time.Hour, "h100")
		d.MaxPriceKopH = 200
		began := time.Now()
		offer, rented, err := rent(t.Context(), m, d)
		passed := rented.CreatedAt.Sub(began)
		if err != nil || offer != "off_h100_2" || passed < 20*time.Minute || passed > 20*time.Minute+ListAge+10*time.Second {
			t.Errorf("got %s after %s, %v", offer, passed, err)
		}
	})
	if n := api.Counts["POST /instances"]; n > 12 {
		t.Errorf("%d create requests", n)
	}
}

// Offers that others rent one after the other, and that a cache still shows as available, do not end a wait. Several
// refusals in a short time do: most likely a limit of the account is reached.
func TestWait_RefusedOffers(t *testing.T) {
	t.Run("rented by others", func(t *testing.T) {
		api := rentaltest.NewMarket(map[string]int64{})
		inMarket(t, api, func(t *testing.T, m *Market) {
			for i := range 2 * maxRefusals {
				id := fmt.Sprint("off_h100_", i)
				api.Refused[id] = http.StatusConflict
				time.AfterFunc(time.Duration(5*i+5)*time.Minute, func() { api.Set(id, 100) })
				time.AfterFunc(time.Duration(5*i+7)*time.Minute, func() { api.Set(id, 0) })
			}
			time.AfterFunc(55*time.Minute, func() { api.Set("off_h100_a", 100) })
			if offer, _, err := rent(t.Context(), m, waiting(time.Hour, "h100")); err != nil || offer != "off_h100_a" {
				t.Errorf("rented %s, %v", offer, err)
			}
		})
	})
	t.Run("limit of the account", func(t *testing.T) {
		api := rentaltest.NewMarket(map[string]int64{})
		for n := range maxRefusals {
			id := fmt.Sprint("off_h100_", n)
			api.Prices[id], api.Refused[id] = 100, http.StatusConflict
		}
		inMarket(t, api, func(t *testing.T, m *Market) {
			began := time.Now()
			_, _, err := rent(t.Context(), m, waiting(time.Hour, "h100"))
			if took := time.Since(began); errorName(err) != "OfferRefused" || took > time.Minute {
				t.Errorf("ended after %s: %v", took, err)
			}
		})
	})
}

// The end of the run ends the wait at once, with nothing rented. So does an error that a later listing cannot change.
func TestWait_Ends(t *testing.T) {
	t.Run("interrupted", func(t *testing.T) {
		api := rentaltest.NewMarket(map[string]int64{})
		inMarket(t, api, func(t *testing.T, m *Market) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			began := time.Now()
			_, _, err := rent(ctx, m, waiting(time.Hour, "h100"))
			if took := time.Since(began); errorName(err) != "Interrupted" || took != 10*time.Minute {
				t.Errorf("got %#v after %s", err, took)
			}
		})
		if api.Counts["POST /instances"] > 0 {
			t.Errorf("requests: %v", api.Counts)
		}
	})
	t.Run("spending limit", func(t *testing.T) {
		api := rentaltest.NewMarket(map[string]int64{})
		inMarket(t, api, func(t *testing.T, m *Market) {
			m.setBurnLimit(99)
			time.AfterFunc(5*time.Minute, func() { api.Set("off_h100_1", 100) })
			began := time.Now()
			_, _, err := rent(t.Context(), m, waiting(time.Hour, "h100"))
			if took := time.Since(began); errorName(err) != "AboveBurnLimit" || took > 6*time.Minute {
				t.Errorf("got %v after %s", err, took)
			}
		})
	})
	t.Run("together with others, which are billed", func(t *testing.T) {
		inMarket(t, rentaltest.NewMarket(nil), func(t *testing.T, m *Market) {
			d, began := waiting(time.Hour), time.Now()
			d.All = true
			if _, _, err := rent(t.Context(), m, d); errorName(err) != "NoOffer" || time.Since(began) > time.Minute {
				t.Errorf("got %v after %s", err, time.Since(began))
			}
		})
	})
	t.Run("invalid query", func(t *testing.T) {
		api := rentaltest.NewMarket(map[string]int64{})
		api.ReadStatus = http.StatusUnprocessableEntity
		inMarket(t, api, func(t *testing.T, m *Market) {
			_, _, err := rent(t.Context(), m, waiting(time.Hour, "h100"))
			if errorName(err) != "OffersUnreadable" {
				t.Errorf("got %v", err)
			}
		})
	})
}

// An interrupted wait claims no offer, even if the last list has one that was released a moment ago.
func TestWait_InterruptedClaimsNothing(t *testing.T) {
	inMarket(t, rentaltest.NewMarket(map[string]int64{"off_1": 100}), func(t *testing.T, m *Market) {
		other := m.Search(demand(1))
		taken, err := other.Take(t.Context(), 1, 1, false)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		time.AfterFunc(12*time.Second-1, func() { other.Release(taken...) })
		_, _, err = rent(ctx, m, waiting(time.Hour))
		synctest.Wait()
		if claim := m.taken["off_1"]; errorName(err) != "Interrupted" || claim.end.IsZero() {
			t.Errorf("%v, the claim is %+v", err, claim)
		}
	})
}

// An outage of the service does not end the wait. A wait that ends during an outage reports that the offers could not
// be read, unless it is interrupted.
func TestWait_Outage(t *testing.T) {
	for name, test := range map[string]struct {
		outage, timeout time.Duration
		want            string
	}{
		"it ends":                {30 * time.Minute, 2 * time.Hour, ""},
		"the wait ends first":    {3 * time.Hour, 2 * time.Hour, "OffersUnreadable"},
		"the context ends first": {3 * time.Hour, 30 * time.Minute, "Interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_h100_1": 100})
			inMarket(t, api, func(t *testing.T, m *Market) {
				began := time.Now()
				api.Outage = func() bool { return time.Since(began) > time.Second && time.Since(began) < test.outage }
				ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
				defer cancel()
				if _, err := m.Estimate(ctx, waiting(0, "other")); err != nil {
					t.Fatalf("before the outage: %v", err)
				}
				time.Sleep(2 * time.Second)
				_, _, err := rent(ctx, m, waiting(time.Hour, "h100"))
				if errorName(err) != test.want {
					t.Errorf("got %#v", err)
				}
			})
		})
	}
}

// With a configured key, the instance of an earlier run is found before the wait begins, or if the burn limit, which
// contains its price, allows no other one.
func TestRent_FindsByKey(t *testing.T) {
	for name, test := range map[string]struct {
		prices  map[string]int64
		maxBurn int64
	}{
		"no offer":             {nil, 0},
		"above the burn limit": {map[string]int64{"off_h100_1": 100}, 150},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(test.prices)
			inMarket(t, api, func(t *testing.T, m *Market) {
				m.setBurnLimit(test.maxBurn)
				began := time.Now()
				api.Add(lifecycle.ChosenKey("key").Key(1), rental.Instance{
					ID: "ins_1", Status: rental.StatusRunning, CreatedAt: time.Now().Add(-time.Hour),
					Price: rental.InstancePrice{RunningKopH: 100},
				})
				rented, err := m.Search(waiting(time.Hour, "h100")).Rent(t.Context(), order("key"))
				if err != nil || rented.ID != "ins_1" || !rented.Recovered || time.Since(began) > time.Minute {
					t.Errorf("got %+v, %v", rented, err)
				}
				if claim, found := m.taken["off_h100_1"]; found && !claim.ended(time.Now()) || len(api.Rented) > 0 {
					t.Errorf("the claim is %+v, rented %v", claim, api.Rented)
				}
			})
		})
	}
}

// Offers that cannot be read are not the same as none. A wait for offers goes on.
func TestRent_UnreadableOffers(t *testing.T) {
	inMarket(t, rentaltest.NewMarket(map[string]int64{"off_1": -1, "off_2": -1}), func(t *testing.T, m *Market) {
		_, _, err := rent(t.Context(), m, demand(1))
		want := "2 offers that cannot be read. The first one (off_1): the price of -1 kopecks"
		if errorName(err) != "OffersUnreadable" || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	api := rentaltest.NewMarket(map[string]int64{"off_1": -1})
	inMarket(t, api, func(t *testing.T, m *Market) {
		time.AfterFunc(10*time.Minute, func() { api.Set("off_2", 100) })
		if id, _, err := rent(t.Context(), m, waiting(time.Hour)); err != nil || id != "off_2" {
			t.Errorf("rented %q, %v", id, err)
		}
	})
}
