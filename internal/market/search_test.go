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

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// inMarket runs a test in a synctest bubble.
func inMarket(t *testing.T, api *rentaltest.Market, test func(t *testing.T, m *Market)) {
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

// order is an order under a key; a random key if it is empty.
func order(key string) lifecycle.Order {
	order := lifecycle.Order{
		InstanceCreate: rental.InstanceCreate{Template: "ubuntu", DiskGB: 60, Type: rental.OnDemand},
		Target:         lifecycle.Target{State: rental.DesiredRunning}, RecoverWithin: 1000 * time.Hour,
		Seed: lifecycle.RandomKey(),
	}
	if key != "" {
		order.Seed = lifecycle.ChosenKey(key)
	}
	return order
}

// demand is for instances of GPU models, in order of preference; any GPU without.
func demand(count int, gpus ...string) Demand {
	d := Demand{Count: count, Order: order("").InstanceCreate}
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
	rented, err = m.Search(demand).Rent(ctx, order(""), nil)
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
				e := failure.As(err)
				if err != nil && (e.Kind != failure.OfferRefused || e.Availability != failure.Available) {
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
				if e := failure.As(err); test.want == "" && e.Kind != failure.NoOffer {
					t.Errorf("failed with %#v, want NoOffer", err)
				}
			})
		})
	}
}

// What may be rented decides where the others are rented.
func TestRent_OutcomeUnknownKeepsCountry(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_a_ru_1": 100, "off_a_de_1": 200})
	api.Refused["off_a_ru_1"] = 503
	inMarket(t, api, func(t *testing.T, m *Market) {
		d := demand(2)
		d.SameCountry = true
		search := m.Search(d)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if _, err := search.Rent(ctx, order("key"), nil); failure.KindOf(err) != failure.OutcomeUnknown {
			t.Fatalf("got %v", err)
		}
		if other, err := search.Take(t.Context(), 1, 1, false); failure.KindOf(err) != failure.NoOffer {
			t.Errorf("got %v, %v", other, err)
		}
	})
}

// An offer is reserved while something is rented from it, and afterwards as long as lists may contain it.
func TestRent_EndsReservations(t *testing.T) {
	named := func(code int) func(*rentaltest.Market) {
		return func(api *rentaltest.Market) { api.Refused["off_1"] = code }
	}
	recovered := func(api *rentaltest.Market) {
		api.Add(lifecycle.ChosenKey("key").Key(1), rental.Instance{
			ID: "ins_1", Status: rental.StatusRunning, SSH: &rental.SSH{Host: "203.0.113.1", Port: 22},
			CreatedAt: time.Now().Add(-time.Hour),
		})
	}
	failed := func(api *rentaltest.Market) {
		api.After = func(inst *rental.Instance) error { inst.Status = rental.StatusFailed; return nil }
	}
	for name, test := range map[string]struct {
		change   func(*rentaltest.Market)
		reserved time.Duration
		want     failure.Kind
	}{
		"rented":                     {func(*rentaltest.Market) {}, goneFor, ""},
		"rented, and it has failed":  {failed, goneFor, failure.NeedsReplacement},
		"recovered under the key":    {recovered, 0, ""},
		"another one under the key":  {recovered, 0, failure.NotLost},
		"refused for the funds":      {named(402), 0, ""},
		"refused for its permission": {named(403), 0, ""},
		"refused for a conflict":     {named(409), refusedFor, failure.OfferRefused},
		"not available": {
			func(api *rentaltest.Market) { api.Before = func(rental.InstanceCreate) { delete(api.Prices, "off_1") } },
			goneFor, failure.NoOffer,
		},
		"an unknown outcome": {
			func(api *rentaltest.Market) {
				api.After = func(*rental.Instance) error { api.Before = func(rental.InstanceCreate) {}; return errors.New("cut") }
				api.Refused["off_1"] = 503
			}, goneFor, failure.OutcomeUnknown,
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
				var ended time.Time
				o := order("key")
				if test.want == failure.NotLost {
					o.RecoverWithin = time.Minute
				}
				o.OnRented = func(lifecycle.Rented) { ended = time.Now() }
				_, err = search.Rent(ctx, o, &taken[0])
				if failure.KindOf(err) != test.want {
					t.Errorf("got %v", err)
				}
				if ended.IsZero() {
					ended = time.Now()
				}
				end := m.reserved["off_1"].end
				if left := end.Sub(ended); left < test.reserved-10*time.Second || left > test.reserved || end.IsZero() {
					t.Errorf("reserved for %s, want %s", left, test.reserved)
				}
			})
		})
	}
}

// A destruction ends the reservation of its offer, and the reservations that a limit of the account may have refused,
// but not that of an unsuitable offer.
func TestDestroyed_EndsReservations(t *testing.T) {
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
			if _, reserved := m.reserved["off_1"]; reserved == test.free {
				t.Errorf("after %d and the destruction of an instance from %s: reserved %t", test.status, test.destroyed,
					reserved)
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
		if _, _, err = rent(t.Context(), m, demand(1, "h100", "a100")); failure.KindOf(err) != failure.NoOffer {
			t.Errorf("second: %v", err)
		}
	})
}

// A named offer is requested although its state is unknown, unless its price must be known.
func TestRent_NamedOffer(t *testing.T) {
	for name, test := range map[string]struct {
		offer    string
		maxPrice int64
		counted  bool // in a limit of the account
		listed   int  // status of the reads
		want     failure.Kind
	}{
		"available":                     {"off_1", 100, false, 0, ""},
		"not available":                 {"off_2", 0, false, 0, failure.OfferRefused},
		"above the cap":                 {"off_1", 99, false, 0, failure.AboveLimit},
		"not readable, no price needed": {"off_1", 0, false, 503, ""},
		"not readable, with a cap":      {"off_1", 100, false, 503, failure.OffersUnreadable},
		"not readable, price counted":   {"off_1", 0, true, 503, failure.OffersUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			api.ReadStatus = test.listed
			inMarket(t, api, func(t *testing.T, m *Market) {
				d := Demand{
					OfferID: test.offer, Count: 1, Order: order("").InstanceCreate, MaxPriceKopH: test.maxPrice,
					PriceNeeded: test.counted,
				}
				if offer, _, err := rent(t.Context(), m, d); failure.KindOf(err) != test.want || err == nil && offer != "off_1" {
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
			if e := failure.As(<-errs); e.Kind == failure.NoOffer {
				if failed++; e.Offers.Waited != time.Hour || e.Offers.Matching > 0 || !e.Offers.Listed {
					t.Errorf("got %+v", e.Offers)
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
	if n := api.Counts["POST /instances"]; n > 23 {
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
			if took := time.Since(began); failure.KindOf(err) != failure.OfferRefused || took > time.Minute {
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
			e := failure.As(err)
			if e.Kind != failure.Interrupted || e.Offers.Waited != 10*time.Minute || !e.Offers.Listed {
				t.Errorf("got %#v after %s", err, time.Since(began))
			}
		})
		if api.Counts["POST /instances"] > 0 {
			t.Errorf("requests: %v", api.Counts)
		}
	})
	t.Run("spending limit", func(t *testing.T) {
		api := rentaltest.NewMarket(map[string]int64{})
		limit := &failure.Error{Kind: failure.AboveLimit, Limit: failure.MaxBurn, LimitKopH: 1}
		inMarket(t, api, func(t *testing.T, m *Market) {
			time.AfterFunc(5*time.Minute, func() { api.Set("off_h100_1", 100) })
			o := order("")
			o.Target.Hold = func(context.Context, string, int64) (spending.Hold, error) { return nil, limit }
			if _, err := m.Search(waiting(time.Hour, "h100")).Rent(t.Context(), o, nil); !errors.Is(err, limit) {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("invalid query", func(t *testing.T) {
		api := rentaltest.NewMarket(map[string]int64{})
		api.ReadStatus = http.StatusUnprocessableEntity
		inMarket(t, api, func(t *testing.T, m *Market) {
			_, _, err := rent(t.Context(), m, waiting(time.Hour, "h100"))
			if failure.KindOf(err) != failure.OffersUnreadable {
				t.Errorf("got %v", err)
			}
		})
	})
}

// An outage of the service does not end the wait. A wait that ends during an outage reports that the offers could not
// be read, whatever ended it.
func TestWait_Outage(t *testing.T) {
	for name, test := range map[string]struct {
		outage, timeout time.Duration
		want            failure.Kind
	}{
		"it ends":                {30 * time.Minute, 2 * time.Hour, ""},
		"the wait ends first":    {3 * time.Hour, 2 * time.Hour, failure.NoOffer},
		"the context ends first": {3 * time.Hour, 30 * time.Minute, failure.Interrupted},
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
				e := failure.As(err)
				if e.Kind != test.want || err != nil && (failure.KindOf(e.Last) != failure.OffersUnreadable || e.Offers.Listed) {
					t.Errorf("got %#v", err)
				}
			})
		})
	}
}

// With a configured key, the instance of an earlier run is recovered before the wait begins.
func TestWait_RecoversFirst(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{})
	inMarket(t, api, func(t *testing.T, m *Market) {
		began := time.Now()
		api.Add(lifecycle.ChosenKey("key").Key(1), rental.Instance{
			ID: "ins_1", Status: rental.StatusRunning, SSH: &rental.SSH{Host: "203.0.113.1", Port: 22},
			CreatedAt: time.Now().Add(-time.Hour),
		})
		rented, err := m.Search(waiting(time.Hour, "h100")).Rent(t.Context(), order("key"), nil)
		if err != nil || rented.ID != "ins_1" || !rented.Recovered || time.Since(began) > time.Minute {
			t.Errorf("got %+v, %v", rented, err)
		}
	})
}

// Offers that cannot be read are not the same as none. A wait for offers goes on.
func TestRent_UnreadableOffers(t *testing.T) {
	inMarket(t, rentaltest.NewMarket(map[string]int64{"off_1": -1, "off_2": -1}), func(t *testing.T, m *Market) {
		_, _, err := rent(t.Context(), m, demand(1))
		want := "2 offers that cannot be read. The first one (off_1): the price of -1 kopecks"
		if failure.KindOf(err) != failure.OffersUnreadable || !strings.Contains(err.Error(), want) {
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
