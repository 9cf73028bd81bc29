package market

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

var within, errorName = rentaltest.Within, rentaltest.ErrorName

// env is a simulator in a bubble, and the market of a new process.
type env struct {
	*simtest.Bubble
	t      *testing.T
	market *Market
	offers []rental.Offer // that are available at first, the cheapest one first
}

// run runs a test with this many offers.
func run(t *testing.T, offers int, test func(t *testing.T, e *env)) {
	t.Helper()
	simtest.InBubble(t, simulator.Config{}, func(t *testing.T, b *simtest.Bubble) {
		b.SetAccount(simulator.AccountPatch{MaxInstances: new(int64(100)), BalanceKop: new(int64(1e9))})
		e := &env{Bubble: b, t: t, offers: b.Offers()[:offers]}
		b.LimitOffers(offers)
		e.limitBurn(0)
		test(t, e)
	})
}

// subtest runs a subtest with this many offers.
func subtest(t *testing.T, name string, offers int, test func(t *testing.T, e *env)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { run(t, offers, test) })
}

// limitBurn begins a new process with a burn limit; 0 for none.
func (e *env) limitBurn(kopH int64) {
	manager := lifecycle.New(lifecycle.Config{
		Client: e.Client, PollInterval: 5 * time.Second, Owners: new(lifecycle.Owners),
		Account:  spending.NewAccount(spending.Limits{MaxBurnKopH: kopH}, e.Client),
		Template: func(context.Context, string) (t rental.Template, found bool, err error) { return t, true, nil },
	})
	e.market = New(rental.NewCache(e.Client), manager, 5*time.Second)
}

// set makes offers available, or not.
func (e *env) set(available bool, offers ...rental.Offer) {
	for _, offer := range offers {
		e.SetOffer(offer.ID, simulator.OfferPatch{Available: &available})
	}
}

// price changes the price of an offer.
func (e *env) price(offer rental.Offer, kopH int64) {
	e.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: &kopH, InterruptibleKopH: &kopH})
}

// abroad leaves the two cheapest offers of one country and one of another country, which is the cheapest of all.
func (e *env) abroad() (home [2]rental.Offer, abroad rental.Offer) {
	e.t.Helper()
	byCountry := map[string][]rental.Offer{}
	for _, offer := range e.offers {
		if offer.Country != nil {
			byCountry[*offer.Country] = append(byCountry[*offer.Country], offer)
		}
	}
	e.set(false, e.offers...)
	home, abroad = [2]rental.Offer(byCountry["RU"]), byCountry["DE"][0]
	e.set(true, home[0], home[1], abroad)
	e.price(abroad, 1)
	return home, abroad
}

// claimEnd returns when the claim of an offer ends; the zero time while something is rented from the offer.
func (e *env) claimEnd(offerID string) (end time.Time, claimed bool) {
	e.market.mu.Lock()
	defer e.market.mu.Unlock()
	claim, claimed := e.market.taken[offerID]
	return claim.end, claimed
}

// request is a request to rent from an offer.
func (e *env) request(offer int) rental.InstanceCreate {
	request := order("").Request
	request.OfferID = e.offers[offer].ID
	return request
}

// refuses matches requests to rent from offers.
func refuses(offers ...rental.Offer) simtest.Match {
	var ids []string
	for _, offer := range offers {
		ids = append(ids, offer.ID)
	}
	return simtest.Creates(ids...)
}

// order is an order under a key; a random key if it is empty.
func order(key string) lifecycle.Order {
	order := lifecycle.Order{
		Request:       rental.InstanceCreate{Template: "ubuntu", DiskGB: 10, Type: rental.OnDemand},
		RecoverWithin: 1000 * time.Hour, Seed: lifecycle.RandomKey(),
	}
	if key != "" {
		order.Seed = lifecycle.ChosenKey(key)
	}
	return order
}

// demand is for instances of GPU models, in order of preference; any GPU without. They wait for offers for some time.
func demand(count int, wait time.Duration, gpus ...string) Demand {
	d := Demand{Count: count, Request: order("").Request, Wait: wait}
	for _, gpu := range gpus {
		d.Queries = append(d.Queries, rental.OfferQuery{GPU: []string{gpu}, Type: rental.OnDemand})
	}
	if len(gpus) == 0 {
		d.Queries = []rental.OfferQuery{{Type: rental.OnDemand}}
	}
	return d
}

// rent rents an instance under a random key, and returns the number of its offer, from 1; 0 without one.
func (e *env) rent(ctx context.Context, demand Demand) (offer int, rented lifecycle.Rented, err error) {
	rented, err = e.market.Search(demand).Rent(ctx, order(""))
	for i, each := range e.offers {
		if rented.Candidate != nil && rented.Candidate.Offer.ID == each.ID {
			offer = i + 1
		}
	}
	return offer, rented, err
}

// The price of a candidate contains its disk. An excluded offer, and one above the cap, are no candidates.
func TestEstimate(t *testing.T) {
	run(t, 3, func(t *testing.T, e *env) {
		d := demand(1, 0)
		e.price(e.offers[2], e.offers[1].Price.OnDemandKopH+1)
		d.Except, d.MaxPriceKopH = map[string]bool{e.offers[0].ID: true}, e.offers[1].Price.OnDemandKopH
		d.Request.DiskGB = 60
		choice, err := e.market.Estimate(t.Context(), d)
		want := e.offers[1].Price.OnDemandKopH + e.offers[1].DiskKopH(60-lifecycle.BaseDiskGB)
		if err != nil || choice.Counts.Matching != 1 || choice.Candidates[0].KopH != want {
			t.Errorf("got %+v, %v", choice, err)
		}
		if _, claimed := e.claimEnd(e.offers[1].ID); claimed {
			t.Error("the offer is claimed")
		}
	})
}

// Instances that belong together are rented together: too few offers are not claimed, and do not decide where the
// others are.
func TestTake_Together(t *testing.T) {
	run(t, 50, func(t *testing.T, e *env) {
		home, abroad := e.abroad()
		e.set(false, home[:]...)
		d := demand(2, time.Hour)
		d.SameCountry, d.All = true, true
		time.AfterFunc(time.Minute, func() {
			if _, claimed := e.claimEnd(abroad.ID); claimed {
				t.Error("the offer abroad is claimed")
			}
			e.set(true, home[:]...)
		})
		taken, err := e.market.Search(d).Take(t.Context(), 2, 2, true)
		if err != nil || taken[0].Offer.ID != home[0].ID || taken[1].Offer.ID != home[1].ID {
			t.Errorf("took %v, %v", taken, err)
		}
	})
}

// The first offer decides where the others are, unless nothing is rented from it.
func TestTake_Joins(t *testing.T) {
	run(t, 50, func(t *testing.T, e *env) {
		home, abroad := e.abroad()
		e.price(abroad, home[0].Price.OnDemandKopH+1)
		d := demand(1, 0)
		d.SameCountry = true
		search := e.market.Search(d)
		take := func(want rental.Offer) []lifecycle.Candidate {
			taken, err := search.Take(t.Context(), 1, 1, false)
			if err != nil || taken[0].Offer.ID != want.ID {
				t.Fatalf("took %v, %v, want %s", taken, err, want.ID)
			}
			return taken
		}
		first := take(home[0])
		second := take(home[1])
		search.Release(second...)
		take(home[1])
		search.Release(append(first, second...)...)
		e.set(false, home[:]...)
		time.Sleep(ListAge)
		take(abroad)
	})
}

// What is or may be rented decides where the others are rented.
func TestRent_KeepsCountry(t *testing.T) {
	for status, want := range map[int]string{0: "", 503: "OutcomeUnknown"} {
		run(t, 50, func(t *testing.T, e *env) {
			home, _ := e.abroad()
			if e.set(false, home[1]); status != 0 {
				e.Proxy.Set(simtest.Creates().Do(simtest.Fail(status)))
			}
			d := demand(2, 0)
			d.SameCountry = true
			search := e.market.Search(d)
			ctx := within(t, 5*time.Minute)
			if _, err := search.Rent(ctx, order("key")); errorName(err) != want {
				t.Fatalf("got %v", err)
			}
			if other, err := search.Take(t.Context(), 1, 1, false); errorName(err) != "NoOffer" {
				t.Errorf("got %v, %v", other, err)
			}
		})
	}
}

// Offers that cannot be read are not the same as none. A wait for offers goes on.
func TestRent_UnreadableOffers(t *testing.T) {
	unreadable := simtest.RewriteItems(func(offer map[string]any) { offer["price"] = -1 })
	run(t, 2, func(t *testing.T, e *env) {
		e.Proxy.Set(simtest.Request("GET", "/offers").Do(unreadable))
		_, _, err := e.rent(t.Context(), demand(1, 0))
		want := "2 offers that cannot be read. The first one (" + e.offers[0].ID + "): "
		if errorName(err) != "OffersUnreadable" || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		time.AfterFunc(10*time.Minute, func() { e.Proxy.Set() })
		if offer, _, err := e.rent(t.Context(), demand(1, time.Hour)); err != nil || offer != 1 {
			t.Errorf("rented %d, %v", offer, err)
		}
	})
}

// A fixed offer is requested although its state is unknown, unless its price must be known.
func TestRent_FixedOffer(t *testing.T) {
	for name, test := range map[string]struct {
		read       int   // status of the reads
		cap, limit int64 // of the price and the burn rate, in percent of the price; 0 for none
		taken      bool
		want       string
	}{
		"available":                     {200, 100, 0, false, ""},
		"not available":                 {200, 0, 0, true, "OfferUnavailable"},
		"not found":                     {404, 0, 0, false, "OfferUnavailable"},
		"above the cap":                 {200, 99, 0, false, "OfferAboveCap"},
		"not readable, no price needed": {503, 0, 0, false, ""},
		"not readable, with a cap":      {503, 100, 0, false, "OffersUnreadable"},
		"not readable, price counted":   {503, 0, 100, false, "OffersUnreadable"},
	} {
		subtest(t, name, 1, func(t *testing.T, e *env) {
			price := e.offers[0].Price.OnDemandKopH
			e.set(!test.taken, e.offers[0])
			if e.limitBurn(price * test.limit / 100); test.read != 200 {
				e.Proxy.Set(simtest.Request("GET", "/offers.*").Do(simtest.Fail(test.read)))
			}
			d := Demand{OfferID: e.offers[0].ID, Count: 1, Request: order("").Request}
			d.MaxPriceKopH = price * test.cap / 100
			if _, rented, err := e.rent(t.Context(), d); errorName(err) != test.want || (rented.ID != "") != (err == nil) {
				t.Errorf("rented %s, %v", rented.ID, err)
			}
		})
	}
}

// A destruction ends the claim of its offer, and the claims that a limit of the account may have refused, but not that
// of an unsuitable offer.
func TestDestroyed_EndsClaims(t *testing.T) {
	for _, test := range []struct {
		status    int // of the request to rent from the first offer; 0 for success
		destroyed int // offer
		free      bool
	}{{0, 0, true}, {0, 1, false}, {409, 1, true}, {422, 1, false}} {
		run(t, 2, func(t *testing.T, e *env) {
			e.set(false, e.offers[1])
			if test.status != 0 {
				e.Proxy.Set(simtest.Creates().Do(simtest.Fail(test.status)))
			}
			if _, _, err := e.rent(t.Context(), demand(1, 0)); (err == nil) != (test.status == 0) {
				t.Fatal(err)
			}
			e.market.Destroyed(e.offers[test.destroyed].ID)
			if _, claimed := e.claimEnd(e.offers[0].ID); claimed == test.free {
				t.Errorf("%+v: claimed %t", test, claimed)
			}
		})
	}
}

// An offer is claimed while something is rented from it, and afterwards as long as lists may contain it.
func TestRent_EndsClaims(t *testing.T) {
	recovered := func(e *env) {
		e.set(true, e.offers[1])
		if _, _, err := e.Client.CreateInstance(e.t.Context(), lifecycle.ChosenKey("key").Key(1), e.request(1)); err != nil {
			e.t.Fatal(err)
		}
		time.Sleep(time.Hour)
	}
	refused := func(status int) func(e *env) {
		return func(e *env) { e.Proxy.Set(simtest.Creates().Do(simtest.Fail(status))) }
	}
	gone := func(e *env) {
		e.Proxy.Set(simtest.Creates().Do(simtest.Before(func(*http.Request) { e.set(false, e.offers[0]) })))
	}
	for name, test := range map[string]struct {
		change  func(*env)
		claimed time.Duration
		want    string
	}{
		"rented":                     {func(*env) {}, claimTTL, ""},
		"recovered under the key":    {recovered, 0, ""},
		"another one under the key":  {recovered, 0, "NotRecent"},
		"refused for the funds":      {refused(402), 0, "Error"},
		"refused for its permission": {refused(403), 0, "Error"},
		"refused for a conflict":     {refused(409), refusedTTL, "OfferRefused"},
		"not available":              {gone, claimTTL, "NoOffer"},
		"an unknown outcome":         {refused(503), claimTTL, "OutcomeUnknown"},
	} {
		subtest(t, name, 2, func(t *testing.T, e *env) {
			e.set(false, e.offers[1])
			test.change(e)
			ctx := within(t, 5*time.Minute)
			search := e.market.Search(demand(1, 0))
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
			if n := e.CountRequests("POST", "/instances"); test.want == "NoOffer" && n != 1 {
				t.Errorf("%d create requests: the key was requested again", n)
			}
			end, _ := e.claimEnd(e.offers[0].ID)
			if left := time.Until(end); left < test.claimed-10*time.Second || left > test.claimed || end.IsZero() {
				t.Errorf("claimed for %s, want %s", left, test.claimed)
			}
		})
	}
}
