package placement

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// waiting returns a request that waits for an offer of the GPU models, in order of preference.
func waiting(wait time.Duration, gpus ...string) Request {
	request := query(5, 0)
	request.WaitForOffer, request.Queries = wait, nil
	for _, gpu := range gpus {
		request.Queries = append(request.Queries, Query{rental.OfferQuery{GPU: []string{gpu}, Type: rental.OnDemand}, 5})
	}
	return request
}

// set changes the price of an offer; 0 removes the offer.
func (f *fakeAPI) set(offerID string, kopH int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.prices, offerID); kopH > 0 {
		f.prices[offerID] = kopH
	}
}

// creations starts creations one second apart. The result has the errors by number.
func creations(ctx context.Context, p *Placer, n int, request Request) (wait func() (errs map[int]error)) {
	var all sync.WaitGroup
	var mu sync.Mutex
	errs := map[int]error{}
	for i := range n {
		time.Sleep(time.Second)
		all.Go(func() {
			if _, err := p.Create(ctx, request); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs[i] = err
			}
		})
	}
	return func() map[int]error { all.Wait(); return errs }
}

// Ten instances wait and four offers appear one after the other: each offer is rented once. All instances share one
// listing per minute.
func TestAwaitOffer_RentsEachOfferOnce(t *testing.T) {
	api := newFakeAPI(map[string]int64{})
	inRun(t, api, func(t *testing.T, p *Placer) {
		began := time.Now()
		wait := creations(t.Context(), p, 10, waiting(time.Hour, "h100"))
		for i := range 4 {
			time.Sleep(10 * time.Minute)
			api.set(fmt.Sprint("off_h100_", i), 100)
		}
		errs := wait()
		if len(errs) != 6 {
			t.Errorf("errors %v", errs)
		}
		for i, err := range errs {
			if e, ok := errors.AsType[*Error](err); !ok || e.Kind != NoOffer || e.Waited != time.Hour || e.Matching > 0 {
				t.Errorf("creation %d: %#v", i, err)
			}
		}
		if passed := time.Since(began); passed < time.Hour || passed > time.Hour+time.Minute {
			t.Errorf("ended after %s", passed)
		}
	})
	if !slices.Equal(api.order, []string{"off_h100_0", "off_h100_1", "off_h100_2", "off_h100_3"}) {
		t.Errorf("rented %v", api.order)
	}
	if n := api.counts["GET /offers"]; n > 62 || api.counts["POST /instances"] != 4 {
		t.Errorf("requests: %v", api.counts)
	}
}

// An offer that appears is rented with the next listing, and the first query that has one wins.
func TestAwaitOffer_PrefersTheFirstQuery(t *testing.T) {
	for name, test := range map[string]struct {
		offers []string
		want   int
	}{
		"both":     {[]string{"off_a100_1", "off_h100_1"}, 0},
		"fallback": {[]string{"off_a100_1"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(map[string]int64{})
			inRun(t, api, func(t *testing.T, p *Placer) {
				began := time.Now()
				time.AfterFunc(5*time.Minute, func() {
					for _, id := range test.offers {
						api.set(id, 100)
					}
				})
				placed, err := p.Create(t.Context(), waiting(time.Hour, "h100", "a100"))
				if err != nil || placed.MatchedQuery == nil || *placed.MatchedQuery != test.want {
					t.Errorf("got query %v, %v", placed.MatchedQuery, err)
				}
				if passed := time.Since(began); passed > 6*time.Minute+10*time.Second {
					t.Errorf("rented after %s", passed)
				}
			})
		})
	}
}

// Without a wait, a fallback is tried when the first query has no offer.
func TestCreate_FallsBack(t *testing.T) {
	api := newFakeAPI(map[string]int64{"off_a100_1": 100})
	inRun(t, api, func(t *testing.T, p *Placer) {
		placed, err := p.Create(t.Context(), waiting(0, "h100", "a100"))
		if err != nil || placed.MatchedQuery == nil || *placed.MatchedQuery != 1 {
			t.Errorf("got query %v, %v", placed.MatchedQuery, err)
		}
		_, err = p.Create(t.Context(), waiting(0, "h100", "a100"))
		if KindOf(err) != NoOffer {
			t.Errorf("second: %v", err)
		}
	})
}

// An offer above the cap is not rented while the price is too high, and an offer that another customer takes first
// does not end the wait.
func TestAwaitOffer_ContinuesAfterALostOffer(t *testing.T) {
	api := newFakeAPI(map[string]int64{})
	api.before = func(order rental.InstanceCreate) {
		if order.OfferID == "off_h100_1" {
			delete(api.prices, order.OfferID)
		}
	}
	inRun(t, api, func(t *testing.T, p *Placer) {
		for at, change := range map[time.Duration]func(){
			2 * time.Minute:  func() { api.set("off_h100_1", 100) }, // taken by another customer
			4 * time.Minute:  func() { api.set("off_h100_2", 500) }, // above the cap
			20 * time.Minute: func() { api.set("off_h100_2", 100) },
		} {
			time.AfterFunc(at, change)
		}
		request := waiting(time.Hour, "h100")
		request.MaxPriceKopH = 200
		began := time.Now()
		placed, err := p.Create(t.Context(), request)
		if passed := time.Since(began); err != nil || placed.OfferID != "off_h100_2" || passed < 20*time.Minute {
			t.Errorf("got %s after %s, %v", placed.OfferID, passed, err)
		}
	})
	if !slices.Equal(api.order, []string{"off_h100_2"}) || api.counts["POST /instances"] != 2 {
		t.Errorf("rented %v with %v", api.order, api.counts)
	}
}

// The end of the run ends the wait at once, with nothing rented. So does an error that a later listing cannot change.
func TestAwaitOffer_Ends(t *testing.T) {
	t.Run("interrupted", func(t *testing.T) {
		api := newFakeAPI(map[string]int64{})
		inRun(t, api, func(t *testing.T, p *Placer) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Minute, cancel)
			began := time.Now()
			wait := creations(ctx, p, 3, waiting(time.Hour, "h100"))
			errs := wait()
			for _, err := range errs {
				if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Interrupted || e.Waited == 0 || !e.Listed {
					t.Errorf("got %#v", err)
				}
			}
			if passed := time.Since(began); len(errs) != 3 || passed > 10*time.Minute+2*time.Second {
				t.Errorf("%d errors after %s", len(errs), passed)
			}
		})
		if api.counts["POST /instances"] > 0 {
			t.Errorf("requests: %v", api.counts)
		}
	})
	t.Run("spending limit", func(t *testing.T) {
		api := newFakeAPI(map[string]int64{})
		limit := errors.New("limit")
		inRun(t, api, func(t *testing.T, p *Placer) {
			time.AfterFunc(5*time.Minute, func() { api.set("off_h100_1", 100) })
			request := waiting(time.Hour, "h100")
			request.Hold = func(context.Context, int64) (spending.Hold, error) { return nil, limit }
			if _, err := p.Create(t.Context(), request); !errors.Is(err, limit) {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("invalid query", func(t *testing.T) {
		api := newFakeAPI(map[string]int64{})
		api.listStatus = http.StatusUnprocessableEntity
		inRun(t, api, func(t *testing.T, p *Placer) {
			if _, err := p.Create(t.Context(), waiting(time.Hour, "h100")); KindOf(err) != OffersUnreadable {
				t.Errorf("got %v", err)
			}
		})
	})
}

// An outage of the service does not end the wait.
func TestAwaitOffer_SurvivesAnOutage(t *testing.T) {
	api := newFakeAPI(map[string]int64{"off_h100_1": 100})
	api.listStatus = http.StatusServiceUnavailable
	inRun(t, api, func(t *testing.T, p *Placer) {
		time.AfterFunc(30*time.Minute, func() {
			api.mu.Lock()
			defer api.mu.Unlock()
			api.listStatus = 0
		})
		if placed, err := p.Create(t.Context(), waiting(time.Hour, "h100")); err != nil || placed.OfferID != "off_h100_1" {
			t.Errorf("got %s, %v", placed.OfferID, err)
		}
	})
}

// An offer that another customer has rented, and that a cache still shows as available, does not end the wait, however
// often that happens. An account that cannot rent anything ends it after a few listings.
func TestAwaitOffer_RefusedOffers(t *testing.T) {
	t.Run("rented by others", func(t *testing.T) {
		api := newFakeAPI(map[string]int64{})
		api.refused = map[string]bool{}
		inRun(t, api, func(t *testing.T, p *Placer) {
			for i := range 5 {
				id := fmt.Sprint("off_h100_", i)
				api.refused[id] = true
				time.AfterFunc(time.Duration(10*i+5)*time.Minute, func() { api.set(id, 100) })
				time.AfterFunc(time.Duration(10*i+7)*time.Minute, func() { api.set(id, 0) })
			}
			time.AfterFunc(55*time.Minute, func() { api.set("off_h100_9", 100) })
			placed, err := p.Create(t.Context(), waiting(time.Hour, "h100"))
			if err != nil || placed.OfferID != "off_h100_9" {
				t.Errorf("rented %s, %v", placed.OfferID, err)
			}
		})
	})
	t.Run("many instances", func(t *testing.T) {
		api := newFakeAPI(map[string]int64{"off_h100_1": 100})
		api.refused = map[string]bool{"off_h100_1": true}
		inRun(t, api, func(t *testing.T, p *Placer) {
			time.AfterFunc(90*time.Second, func() { api.set("off_h100_1", 0) })
			wait := creations(t.Context(), p, 20, waiting(10*time.Minute, "h100"))
			wait()
		})
		if n := api.counts["POST /instances"]; n > maxRefusals {
			t.Errorf("%d create requests for one offer", n)
		}
	})
	t.Run("limit of the account", func(t *testing.T) {
		api := newFakeAPI(map[string]int64{"off_h100_1": 100, "off_h100_2": 100, "off_h100_3": 100})
		api.refused = map[string]bool{"off_h100_1": true, "off_h100_2": true, "off_h100_3": true}
		inRun(t, api, func(t *testing.T, p *Placer) {
			began := time.Now()
			_, err := p.Create(t.Context(), waiting(time.Hour, "h100"))
			if took := time.Since(began); KindOf(err) != OfferRefused || took < 2*time.Minute || took > 4*time.Minute {
				t.Errorf("ended after %s: %v", took, err)
			}
		})
		if n := api.counts["POST /instances"]; n != maxRefusals {
			t.Errorf("%d create requests", n)
		}
	})
}

// A wait that ends during an outage reports that the offers could not be read, whatever ended it.
func TestAwaitOffer_EndsInAnOutage(t *testing.T) {
	for name, test := range map[string]struct {
		timeout time.Duration
		want    ErrorKind
	}{
		"wait_for_offer": {2 * time.Hour, NoOffer},
		"timeout":        {30 * time.Minute, Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(map[string]int64{"off_h100_1": 100})
			api.listStatus = http.StatusServiceUnavailable
			inRun(t, api, func(t *testing.T, p *Placer) {
				ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
				defer cancel()
				_, err := p.Create(ctx, waiting(time.Hour, "h100"))
				e, ok := errors.AsType[*Error](err)
				if !ok || e.Kind != test.want || KindOf(e.Last) != OffersUnreadable || e.Listed {
					t.Errorf("got %#v", err)
				}
			})
		})
	}
}

// With a configured key, the instance of an earlier run is recovered before the wait begins.
func TestAwaitOffer_RecoversFirst(t *testing.T) {
	api := newFakeAPI(map[string]int64{})
	inRun(t, api, func(t *testing.T, p *Placer) {
		api.byKey[ConfiguredKey("key").Key(1)] = rental.Instance{
			ID: "ins_1", Status: rental.StatusRunning, Type: rental.OnDemand, DiskGB: 60,
			Template: rental.TemplateRef{Slug: "ubuntu"}, CreatedAt: time.Now().Add(-time.Hour),
		}
		request := waiting(time.Hour, "h100")
		request.KeySource, request.RecoverWithin = ConfiguredKey("key"), AnyAge
		placed, err := p.Create(t.Context(), request)
		if err != nil || placed.ID != "ins_1" || !placed.Recovered || placed.MatchedQuery != nil {
			t.Errorf("got %+v, %v", placed, err)
		}
	})
	if api.counts["GET /offers"] > 0 {
		t.Errorf("requests: %v", api.counts)
	}
}
