package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// withMarket runs a test in a synctest bubble.
func withMarket(t *testing.T, api *rentaltest.Market, test func(t *testing.T, m *Manager)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, newManager(rentaltest.Client(t, api)))
		time.Sleep(time.Hour) // until no goroutine is left
	})
}

// rentAndConverge rents an instance, or finds it by its key, and waits until it runs.
func rentAndConverge(ctx context.Context, m *Manager, order Order, offer Candidate) (Rented, Converged, error) {
	rented, err := m.Rent(ctx, order, offer)
	if err != nil {
		return rented, Converged{}, err
	}
	now, err := m.ConvergeRented(ctx, rented, running(OutbidRestart))
	return rented, now, err
}

// newOrder returns an order with a chosen key, or a random one if the text is empty.
func newOrder(key string) Order {
	order := Order{
		Request: rental.InstanceCreate{Template: "ubuntu", DiskGB: 60, Type: rental.OnDemand},
		Object:  Object{Token: "self"}, Seed: RandomKey(),
	}
	if key != "" {
		order.Seed = ChosenKey(key)
	}
	return order
}

// anyAge is a RecoverWithin that every instance meets.
const anyAge = 1000 * time.Hour

// offerAt returns an offer of rentaltest.Market.
func offerAt(id string, kopH int64) Candidate {
	return Candidate{KopH: kopH, Offer: rental.Offer{
		ID: id, Available: true, GPU: rental.OfferGPU{Slug: "a", Count: 1, VRAMGB: 8},
		Price: rental.OfferPrice{OnDemandKopH: kopH},
	}}
}

// ordered returns an instance as newOrder describes it.
func ordered(id string, age time.Duration) rental.Instance {
	return rental.Instance{
		ID: id, Status: rental.StatusRunning, Type: rental.OnDemand, DiskGB: 60, CreatedAt: time.Now().Add(-age),
		Template: rental.TemplateRef{Slug: "ubuntu"}, SSH: &rental.SSH{Host: "203.0.113.1", Port: 22},
	}
}

// An instance that was rented before under a chosen key is taken only if it is young, in no other object, and as
// requested. One under a stored seed is the object's own, and taken unless another object has it. Otherwise nothing is
// rented or changed.
func TestRent_TakesOnlyItsOwnInstance(t *testing.T) {
	const age = 30 * time.Minute
	withoutTime := func(i *rental.Instance) { i.CreatedAt = time.Time{} }
	inTheFuture := func(i *rental.Instance) { i.CreatedAt = i.CreatedAt.Add(3 * time.Hour) } // its clock differs
	anotherDisk := func(i *rental.Instance) { i.DiskGB = 70 }
	stranger := Object{Token: "other"}
	key, own := ChosenKey("key"), FleetSeed("train/1").Slot(0)
	for name, test := range map[string]struct {
		seed   KeySeed
		within time.Duration
		change func(*rental.Instance)
		owner  Object // of the instance in this process
		want   string
	}{
		"younger than allowed":            {key, time.Hour, nil, Object{}, ""},
		"older than allowed":              {key, age - time.Minute, nil, Object{}, "NotRecent"},
		"never":                           {key, 0, nil, Object{}, "NotRecent"},
		"of unknown age":                  {key, time.Hour, withoutTime, Object{}, "NotRecent"},
		"created in the future":           {key, time.Hour, inTheFuture, Object{}, "NotRecent"},
		"another object has it":           {key, time.Hour, nil, stranger, "InUse"},
		"another object has it, older":    {key, 0, nil, stranger, "InUse"},
		"the object itself had it before": {key, time.Hour, nil, Object{Token: "self"}, ""},
		"another disk":                    {key, time.Hour, anotherDisk, Object{}, "ReplayDiffers"},
		"its own":                         {own, 0, nil, Object{}, ""},
		"its own, of unknown age":         {own, 0, withoutTime, Object{}, ""},
		"its own, another disk":           {own, 0, anotherDisk, Object{}, ""},
		"its own, in another object":      {own, 0, nil, stranger, "InUse"},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			withMarket(t, api, func(t *testing.T, m *Manager) {
				inst := ordered("ins_1", age)
				if test.change != nil {
					test.change(&inst)
				}
				api.Add(test.seed.Key(1), inst)
				if test.owner != (Object{}) {
					m.Owners.Claim(inst.ID, test.owner)
				}
				order := newOrder("key")
				order.Seed, order.RecoverWithin = test.seed, test.within
				rented, _, err := rentAndConverge(t.Context(), m, order, offerAt("off_1", 100))
				if errorName(err) != test.want || (rented.ID != "") != (test.want == "") {
					t.Errorf("got %+v, %v", rented, err)
				}
				if before, found := RentedBefore(err); found != (err != nil) || found && before.ID != inst.ID {
					t.Errorf("the error has instance %q", before.ID)
				}
				if test.want == "" && (rented.ID != inst.ID || !rented.Recovered || rented.Candidate != nil) {
					t.Errorf("got %+v", rented)
				}
				owner, found := m.Owners.Owner(inst.ID)
				taken := test.seed.Chosen() && test.owner == Object{}
				if found != (test.want == "" || test.owner != Object{}) || found && (owner.Use == Taken) != taken {
					t.Errorf("the owner is %+v (%t)", owner, found)
				}
			})
			if len(api.Rented)+len(api.Sent) > 0 {
				t.Errorf("rented %v, sent %v", api.Rented, api.Sent)
			}
		})
	}
}

// The API may replay the first response for a key long after the instance is destroyed, and may not find an instance by
// its id that was created a moment ago. A destroyed instance leads to the next generation.
func TestRent_ReadsAReplayedInstance(t *testing.T) {
	for name, test := range map[string]struct {
		age    time.Duration
		actual rental.InstanceStatus // empty if there is none
		hidden int
		own    bool // this process has destroyed it
		want   string
	}{
		"it exists":                           {time.Minute, rental.StatusRunning, 0, false, "ins_1"},
		"it is destroyed":                     {time.Hour, rental.StatusDestroyed, 0, false, "ins_off_1"},
		"its status lags":                     {time.Hour, rental.StatusRunning, 0, true, "ins_off_1"},
		"it is gone":                          {time.Hour, "", 0, false, "ins_off_1"},
		"it is not found yet":                 {time.Second, rental.StatusRunning, 3, false, "ins_1"},
		"it is new, and is destroyed already": {time.Second, "", 0, false, "ins_off_1"},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			api.Hidden = test.hidden
			withMarket(t, api, func(t *testing.T, m *Manager) {
				inst := ordered("ins_1", test.age)
				inst.Status = rental.StatusCreating
				api.ByKey[ChosenKey("key").Key(1)] = inst
				if inst.Status = test.actual; test.actual != "" {
					api.Actual["ins_1"] = inst
				}
				if test.own {
					m.setDestroyed("ins_1")
				}
				order := newOrder("key")
				order.RecoverWithin = anyAge
				generation := 1
				if test.want == "ins_off_1" {
					generation = 2
				}
				rented, err := m.Rent(t.Context(), order, offerAt("off_1", 100))
				if err != nil || rented.ID != test.want || rented.Generation != generation {
					t.Errorf("got %s, generation %d, %v, want %s", rented.ID, rented.Generation, err, test.want)
				}
			})
		})
	}
}

// A creation takes the instance that it has rented itself in a request whose response was lost, whatever the limit, and
// even if the API omits the time. It does not take one that another run has created meanwhile under the same key. One
// that differs is an error.
func TestRent_TakesItsOwnInstanceAfterALostResponse(t *testing.T) {
	for name, test := range map[string]struct {
		lost    int           // responses from that to the creation of the instance on; 0 if another run has rented it
		created time.Duration // time from the creation to the instance that the API replays; 0 if the API omits it
		diskGB  int64
		want    string
	}{
		"lost":                    {1, time.Second, 60, ""},
		"lost again and again":    {3, time.Second, 60, ""},
		"lost, without a time":    {1, 0, 60, ""},
		"lost, with another disk": {1, time.Second, 30, "ReplayDiffers"},
		"lost, but older":         {1, -time.Minute, 60, "NotRecent"},
		"created by another run":  {0, time.Second, 60, "NotRecent"},
		"of another run, no time": {0, 0, 60, "NotRecent"},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			change := func(inst *rental.Instance) error {
				inst.DiskGB, inst.CreatedAt = test.diskGB, time.Time{}
				if test.created != 0 {
					inst.CreatedAt = time.Now().Add(test.created)
				}
				return nil
			}
			api.After = change
			lost := 0
			synctest.Test(t, func(t *testing.T) {
				m := newManager(rentaltest.Client(t, transport(func(req *http.Request) (*http.Response, error) {
					resp, err := api.RoundTrip(req)
					if req.Method == http.MethodPost && lost < test.lost {
						lost++
						return nil, io.ErrUnexpectedEOF
					}
					return resp, err
				})))
				_, _ = m.Client.GetOffer(t.Context(), "off_1") //nolint:errcheck // the client does not give up after it
				order := newOrder("key")
				if test.lost == 0 {
					inst := ordered("ins_other", 0)
					_ = change(&inst) //nolint:errcheck // it does not fail
					api.Add(order.Seed.Key(1), inst)
				}
				rented, err := m.Rent(t.Context(), order, offerAt("off_1", 100))
				if errorName(err) != test.want {
					t.Errorf("got %+v, %v", rented, err)
				}
				if test.want == "" && (rented.ID != "ins_off_1" || rented.Recovered || rented.Candidate == nil) {
					t.Errorf("got %+v", rented)
				}
			})
		})
	}
}

// Two creations with one key at the same time are an error for the second: the API returns the same instance.
func TestRent_TwoCreationsWithOneKey(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100, "off_2": 200})
	withMarket(t, api, func(t *testing.T, m *Manager) {
		results := make(chan string, 2)
		for token, offer := range map[string]string{"one": "off_1", "other": "off_2"} {
			go func() {
				order := newOrder("key")
				order.RecoverWithin, order.Object.Token = anyAge, token
				_, err := m.Rent(t.Context(), order, offerAt(offer, 100))
				results <- errorName(err)
			}()
		}
		if sum := <-results + <-results; sum != "InUse" || len(api.Rented) != 1 {
			t.Errorf("the errors are %q, rented %v", sum, api.Rented)
		}
	})
}

// What was rented before under a key is found, or given up again. Nothing is rented.
func TestFind(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
	withMarket(t, api, func(t *testing.T, m *Manager) {
		order := newOrder("key")
		order.RecoverWithin = time.Hour
		if rented, found, err := m.Find(t.Context(), order, 3); found || err != nil {
			t.Errorf("nothing was rented: got %+v, %v", rented, err)
		}
		api.Add(order.Seed.Key(1), ordered("ins_1", time.Minute))
		rented, found, err := m.Find(t.Context(), order, 3)
		if err != nil || !found || !m.Owners.Has("ins_1") {
			t.Fatalf("got %+v, %v", rented, err)
		}
		if m.Owners.Release(rented.ID); m.Owners.Has("ins_1") {
			t.Error("the object has the instance")
		}
		_, err = m.ConvergeRented(t.Context(), rented, running(OutbidRestart))
		if err != nil || !rented.Recovered || len(api.Rented) > 0 {
			t.Errorf("got %+v, %v, rented %v", rented, err, api.Rented)
		}
	})
}

// The keys of destroyed instances, which the API may have forgotten, do not end the search: three unused ones do.
func TestFind_AfterDestroyedInstances(t *testing.T) {
	for _, test := range []struct {
		keys  string // of the generations: d is that of a destroyed instance, x of an existing one
		found int    // generation
	}{
		{"x", 1}, {"dx", 2}, {"ddddddx", 7}, {"__x", 3}, {"___x", 0}, {"_dd_x", 5}, {"d__x", 4}, {"d___x", 0}, {"ddd", 0},
	} {
		api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
		withMarket(t, api, func(t *testing.T, m *Manager) {
			order := newOrder("")
			order.Seed = FleetSeed("train/1").Slot(0)
			for i, key := range test.keys {
				inst := ordered(fmt.Sprint("ins_", i+1), time.Hour)
				if key == 'd' {
					inst.Status = rental.StatusDestroyed
				}
				if key != '_' {
					api.Add(order.Seed.Key(i+1), inst)
				}
			}
			rented, found, err := m.Find(t.Context(), order, 3)
			if err != nil || rented.Generation != test.found || found != (test.found > 0) || len(api.Rented) > 0 {
				t.Errorf("%s: got %+v, %v, rented %v", test.keys, rented, err, api.Rented)
			}
		})
	}
}

// The price of a new instance counts for the burn limit, even if the outcome of the request is unknown, because the
// instance may be billed.
func TestRent_BurnLimit(t *testing.T) {
	const limit = 150
	for name, test := range map[string]struct {
		others     int64 // what other instances cost
		known      bool  // an earlier run has rented under the key
		unreadable bool  // the account
		status     int   // of the request to rent; 0 for success
		want       string
		next       string        // error of another rental
		waits      time.Duration // it
	}{
		"within the limit":            {50, false, false, 0, "", "AboveBurnLimit", time.Minute},
		"refused":                     {50, false, false, 409, "OfferRefused", "", 10 * time.Second},
		"an unknown outcome":          {50, false, false, 503, "OutcomeUnknown", "", time.Minute},
		"above the limit":             {51, false, false, 0, "AboveBurnLimit", "", 10 * time.Second},
		"the account cannot be read":  {0, true, true, 0, "AccountUnreadable", "AccountUnreadable", time.Minute},
		"within the limit, recovered": {0, true, false, 0, "", "", 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			api.OthersKopH, api.Refused["off_1"] = test.others, test.status
			synctest.Test(t, func(t *testing.T) {
				m := newLimited(rentaltest.Client(t, transport(func(req *http.Request) (*http.Response, error) {
					if test.unreadable && strings.HasSuffix(req.URL.Path, "/balance") {
						return refuses(http.StatusForbidden)(req)
					}
					return api.RoundTrip(req)
				})), limit)
				order := newOrder("key")
				order.RecoverWithin = anyAge
				if test.known {
					inst := ordered("ins_old", time.Minute)
					inst.Price.RunningKopH = 50
					api.Add(order.Seed.Key(1), inst)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				rented, err := m.Rent(ctx, order, offerAt("off_1", 100))
				if errorName(err) != test.want || (err == nil) != (rented.ID != "") {
					t.Errorf("%+v, %v", rented, err)
				}
				if test.known && err == nil && rented.ID != "ins_old" || len(api.Sent) > 0 {
					t.Errorf("%s, sent %v", rented.ID, api.Sent)
				}
				began := time.Now()
				err = m.Account.Spend(t.Context(), "", 51, func(context.Context) (string, error) { return "", nil })
				if took := time.Since(began); errorName(err) != test.next || took > test.waits {
					t.Errorf("another one: %v after %s", err, took)
				}
				if unknown := test.want == "OutcomeUnknown"; unknown && time.Since(began) < 20*time.Second {
					t.Error("an instance that may be rented does not count")
				}
			})
		})
	}
}

// A creation that waits for the burn limit leaves its place to one that is within it.
func TestRent_WaitsForTheLimitWithoutAPlace(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
	api.OthersKopH = 100
	synctest.Test(t, func(t *testing.T) {
		m := newLimited(rentaltest.Client(t, api), 200)
		api.Actual["ins_old"] = rental.Instance{
			ID: "ins_old", Status: rental.StatusRunning, Price: rental.InstancePrice{RunningKopH: 100},
		}
		m.Account.Destroyed("ins_destroyed") // the burn rate may contain it for a while
		var all sync.WaitGroup
		for range maxRentals {
			all.Go(func() {
				if _, err := m.Rent(t.Context(), newOrder(""), offerAt("off_2", 100)); errorName(err) != "AboveBurnLimit" {
					t.Error(err)
				}
			})
		}
		time.Sleep(10 * time.Second)
		began, order := time.Now(), newOrder("")
		order.Replaces = "ins_old"
		if _, err := m.Rent(t.Context(), order, offerAt("off_1", 100)); err != nil || time.Since(began) > 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		all.Wait()
		if len(m.rentals) > 0 {
			t.Errorf("%d places are taken", len(m.rentals))
		}
	})
}

// A new instance that costs too much or is not as ordered is destroyed again, or stopped if another run may have rented
// it.
func TestConvergeRented_Rejects(t *testing.T) {
	price := func(kopH int64) func(*rental.Instance) {
		return func(inst *rental.Instance) { inst.Price.RunningKopH = kopH }
	}
	disk := func(inst *rental.Instance) { inst.DiskGB = 50 }
	for name, test := range map[string]struct {
		change func(*rental.Instance) // of the new instance, in the response and later
		later  bool                   // not in the response
		known  bool                   // an earlier run has rented it
		reason string                 // empty if it may run
		sent   string
		ends   bool // the context, while the instance is created
	}{
		"as ordered":                 {change: price(100)},
		"above the cap, interrupted": {price(201), false, false, "AboveCap", "destroy ins_off_1", true},
		"above the cap":              {price(201), false, false, "AboveCap", "destroy ins_off_1", false},
		"above the cap, later":       {price(201), true, false, "AboveCap", "destroy ins_off_1", false},
		"above the cap, an earlier run's": {
			price(201), false, true, "AboveCap", "stop ins_off_1", false,
		},
		"within the limit":            {change: price(150)},
		"above the limit":             {price(151), false, false, "AboveBurnLimit", "destroy ins_off_1", false},
		"above the limit, later":      {price(151), true, false, "AboveBurnLimit", "destroy ins_off_1", false},
		"a smaller disk":              {disk, false, false, "NotAsOrdered", "destroy ins_off_1", false},
		"a smaller disk, later":       {disk, true, false, "NotAsOrdered", "destroy ins_off_1", false},
		"a smaller disk, interrupted": {disk, false, false, "NotAsOrdered", "destroy ins_off_1", true},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			withMarket(t, api, func(t *testing.T, m *Manager) {
				if !test.known { // else the burn rate contains its price
					m.Account = newLimited(m.Client, 150).Account
				}
				order := newOrder("key")
				order.RecoverWithin, order.MaxPriceKopH = anyAge, 200
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				api.After = func(inst *rental.Instance) error {
					if !test.later {
						test.change(inst)
					}
					if test.ends {
						cancel()
					}
					return nil
				}
				if test.known {
					inst := ordered("ins_off_1", time.Minute)
					test.change(&inst)
					api.Add(order.Seed.Key(1), inst)
				}
				rented, err := m.Rent(ctx, order, offerAt("off_1", 100))
				if err != nil || rented.ID != "ins_off_1" {
					t.Fatalf("got %+v, %v", rented, err)
				}
				if inst := api.Actual[rented.ID]; test.later {
					test.change(&inst)
					api.Actual[rented.ID] = inst
				}
				_, err = m.ConvergeRented(ctx, rented, running(OutbidRestart))
				removal := map[string]Removal{"destroy": Destroyed, "stop": Stopped}[strings.Fields(test.sent + " -")[0]]
				rejected, _ := errors.AsType[Rejected](err)
				if errorName(rejected.Reason) != test.reason || rejected.Removal != removal || (err != nil) != (test.sent != "") {
					t.Errorf("got %+v", err)
				}
			})
			if sent := fmt.Sprint(api.Sent); sent != "["+test.sent+"]" {
				t.Errorf("sent %s", sent)
			}
		})
	}
}

// An interruption after a response that could be read only in part: the price is read once.
func TestConvergeRented_RejectsAfterPartOfAResponse(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
	api.After = func(inst *rental.Instance) error {
		inst.Price.RunningKopH = 201
		return nil
	}
	withMarket(t, api, func(t *testing.T, m *Manager) {
		order := newOrder("")
		order.MaxPriceKopH = 200
		rented, err := m.Rent(t.Context(), order, offerAt("off_1", 100))
		if err != nil {
			t.Fatal(err)
		}
		rented.Instance = rental.Instance{ID: rented.ID}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err = m.ConvergeRented(ctx, rented, running(OutbidRestart)); reasonOf(err) != "AboveCap" {
			t.Error(err)
		}
	})
	if len(api.Sent) != 1 {
		t.Errorf("sent %s", api.Sent)
	}
}

// While the account cannot be read, an instance that costs more than its offer is not ready.
func TestConvergeRented_HigherPriceAndUnreadableAccount(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
	rentedAt := time.Time{}
	api.After = func(inst *rental.Instance) error {
		inst.Price.RunningKopH, rentedAt = 150, time.Now()
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		m := newLimited(rentaltest.Client(t, transport(func(req *http.Request) (*http.Response, error) {
			switch {
			case req.Method == http.MethodPost:
				time.Sleep(10 * time.Second) // the reading before is too old
			case strings.HasSuffix(req.URL.Path, "/balance") && !rentedAt.IsZero() && time.Since(rentedAt) < time.Minute:
				return refuses(http.StatusForbidden)(req)
			}
			return api.RoundTrip(req)
		})), 150)
		_, _, err := rentAndConverge(t.Context(), m, newOrder("key"), offerAt("off_1", 100))
		if took := time.Since(rentedAt); err != nil || took < time.Minute {
			t.Errorf("ended after %s, %v", took, err)
		}
	})
}

// An instance that was found by its key counts for the burn limit before the account shows it.
func TestConvergeRented_FoundInstanceCounts(t *testing.T) {
	api := rentaltest.NewMarket(nil)
	synctest.Test(t, func(t *testing.T) {
		m := newLimited(rentaltest.Client(t, transport(func(req *http.Request) (*http.Response, error) {
			switch path := req.URL.Path; {
			case strings.HasSuffix(path, "/balance"):
				return rentaltest.JSONResponse(req, http.StatusOK, rental.Balance{})
			case req.Method == http.MethodGet && strings.HasSuffix(path, "/instances"):
				return rentaltest.JSONResponse(req, http.StatusOK, map[string]any{"data": []any{}, "next_cursor": nil})
			}
			return api.RoundTrip(req)
		})), 150)
		order, inst := newOrder("key"), ordered("ins_1", 10*time.Second)
		order.RecoverWithin, inst.Price.RunningKopH = anyAge, 100
		api.Add(order.Seed.Key(1), inst)
		rented, _, err := m.Find(t.Context(), order, 3)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.ConvergeRented(t.Context(), rented, running(OutbidRestart)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		err = m.Account.Spend(ctx, "", 51, func(context.Context) (string, error) { return "", nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("another one: %v", err)
		}
	})
}

// An instance whose response can be read only in part is saved, and read by its id.
func TestRent_UnreadableResponse(t *testing.T) {
	const unreadable = `{"id":"ins_off_1","status":"creating","price":{"running_kop_h":"high"}}`
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
	synctest.Test(t, func(t *testing.T) {
		m := newManager(rentaltest.Client(t, transport(func(req *http.Request) (*http.Response, error) {
			resp, err := api.RoundTrip(req)
			if err == nil && req.Method == http.MethodPost {
				resp.Body = io.NopCloser(strings.NewReader(unreadable))
			}
			return resp, err
		})))
		order := newOrder("key")
		order.MaxPriceKopH = 100
		rented, now, err := rentAndConverge(t.Context(), m, order, offerAt("off_1", 100))
		if err != nil || rented.ID != "ins_off_1" || now.DiskGB != 60 || now.Price.RunningKopH != 100 {
			t.Errorf("rented %+v, now %+v, %v", rented, now, err)
		}
	})
}

// A new instance is not lost if the API does not find it right after its creation, whatever its time of creation is.
func TestConvergeRented_NewInstanceIsNotFoundYet(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
	api.Hidden = 3
	api.After = func(inst *rental.Instance) error {
		inst.CreatedAt = inst.CreatedAt.Add(-time.Hour) // another clock
		return nil
	}
	withMarket(t, api, func(t *testing.T, m *Manager) {
		if rented, _, err := rentAndConverge(t.Context(), m, newOrder(""), offerAt("off_1", 100)); err != nil {
			t.Errorf("got %+v, %v", rented, err)
		}
	})
}
