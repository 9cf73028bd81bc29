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

	"github.com/gpurent/terraform-provider-gpurent/internal/failure"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// withMarket runs a test in a synctest bubble.
func withMarket(t *testing.T, api *rentaltest.Market, test func(t *testing.T, m *Manager)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, newManager(rentaltest.Client(t, api)))
		time.Sleep(time.Hour) // until no goroutine is left
	})
}

// newOrder returns an order that leads to a running instance. With a key, that is chosen; without one, it is random.
func newOrder(key string) Order {
	order := Order{
		InstanceCreate: rental.InstanceCreate{Template: "ubuntu", DiskGB: 60, Type: rental.OnDemand},
		Object:         Object{Token: "self"}, Target: running(OutbidRestart), Seed: RandomKey(),
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

// holdIn returns a Hold that compares with the limit of a ledger.
func holdIn(ledger *spending.Ledger) spending.HoldFunc {
	return func(_ context.Context, id string, kopH int64) (spending.Hold, error) { return ledger.Hold(id, kopH) }
}

// An instance that was rented before under a chosen key is taken only if it is young, in no other object, and as
// requested. One under a stored seed is the object's own, and taken unless another object has it. Otherwise nothing is
// rented or changed.
func TestFill_TakesOnlyItsOwnInstance(t *testing.T) {
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
		want   failure.Kind
	}{
		"younger than allowed":            {key, time.Hour, nil, Object{}, ""},
		"older than allowed":              {key, age - time.Minute, nil, Object{}, failure.NotLost},
		"never":                           {key, 0, nil, Object{}, failure.NotLost},
		"of unknown age":                  {key, time.Hour, withoutTime, Object{}, failure.NotLost},
		"created in the future":           {key, time.Hour, inTheFuture, Object{}, failure.NotLost},
		"another object has it":           {key, time.Hour, nil, stranger, failure.InUse},
		"another object has it, older":    {key, 0, nil, stranger, failure.InUse},
		"the object itself had it before": {key, time.Hour, nil, Object{Token: "self"}, ""},
		"another disk":                    {key, time.Hour, anotherDisk, Object{}, failure.OtherArguments},
		"its own":                         {own, 0, nil, Object{}, ""},
		"its own, of unknown age":         {own, 0, withoutTime, Object{}, ""},
		"its own, another disk":           {own, 0, anotherDisk, Object{}, ""},
		"its own, in another object":      {own, 0, nil, stranger, failure.InUse},
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
				saved := ""
				order.OnRented = func(rented Rented) { saved = rented.ID }
				rented, err := m.Fill(t.Context(), order, offerAt("off_1", 100))
				if failure.KindOf(err) != test.want || (rented.ID != "") != (test.want == "") || saved != rented.ID {
					t.Errorf("got %+v, saved %q, %v", rented, saved, err)
				}
				if test.want == "" && (rented.ID != inst.ID || !rented.Recovered || rented.Candidate != nil) {
					t.Errorf("got %+v", rented)
				}
				if owner, found := m.Owners.Owner(inst.ID); found != (test.want == "" || test.owner != Object{}) {
					t.Errorf("the owner is %v (%t)", owner, found)
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
func TestFill_ReadsAReplayedInstance(t *testing.T) {
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
				rented, err := m.Fill(t.Context(), order, offerAt("off_1", 100))
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
func TestFill_TakesItsOwnInstanceAfterALostResponse(t *testing.T) {
	for name, test := range map[string]struct {
		lost    bool          // the response to the creation of the instance
		created time.Duration // time from the creation to the instance that the API replays; 0 if the API omits it
		diskGB  int64
		want    failure.Kind
	}{
		"lost":                    {true, time.Second, 60, ""},
		"lost, without a time":    {true, 0, 60, ""},
		"lost, with another disk": {true, time.Second, 30, failure.OtherArguments},
		"lost, but older":         {true, -time.Minute, 60, failure.NotLost},
		"created by another run":  {false, time.Second, 60, failure.NotLost},
		"of another run, no time": {false, 0, 60, failure.NotLost},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			change := func(inst *rental.Instance) {
				inst.DiskGB, inst.CreatedAt = test.diskGB, time.Time{}
				if test.created != 0 {
					inst.CreatedAt = time.Now().Add(test.created)
				}
			}
			api.After = func(inst *rental.Instance) error {
				change(inst)
				return io.ErrUnexpectedEOF
			}
			withMarket(t, api, func(t *testing.T, m *Manager) {
				order := newOrder("key")
				if !test.lost {
					inst := ordered("ins_other", 0)
					change(&inst)
					api.Add(order.Seed.Key(1), inst)
				}
				rented, err := m.Fill(t.Context(), order, offerAt("off_1", 100))
				if failure.KindOf(err) != test.want {
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
func TestFill_TwoCreationsWithOneKey(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100, "off_2": 200})
	withMarket(t, api, func(t *testing.T, m *Manager) {
		results := make(chan failure.Kind, 2)
		for token, offer := range map[string]string{"one": "off_1", "other": "off_2"} {
			go func() {
				order := newOrder("key")
				order.RecoverWithin, order.Object.Token = anyAge, token
				_, err := m.Fill(t.Context(), order, offerAt(offer, 100))
				results <- failure.KindOf(err)
			}()
		}
		if sum := <-results + <-results; sum != failure.InUse || len(api.Rented) != 1 {
			t.Errorf("the kinds are %q, rented %v", sum, api.Rented)
		}
	})
}

// What was rented before under the key is taken, or given up again. Nothing is rented.
func TestRecover(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
	withMarket(t, api, func(t *testing.T, m *Manager) {
		order := newOrder("key")
		order.RecoverWithin = time.Hour
		if rented, err := m.Recover(t.Context(), order); failure.KindOf(err) != failure.NoOffer {
			t.Errorf("nothing was rented: got %+v, %v", rented, err)
		}
		api.Add(order.Seed.Key(1), ordered("ins_1", time.Minute))
		rented, err := m.Recover(t.Context(), order)
		if err != nil || !m.Owners.Has("ins_1") {
			t.Fatalf("got %+v, %v", rented, err)
		}
		if m.Owners.Release(rented.ID); m.Owners.Has("ins_1") {
			t.Error("the object has the instance")
		}
		if rented, err = m.Finish(t.Context(), order, rented); err != nil || !rented.Recovered || len(api.Rented) > 0 {
			t.Errorf("got %+v, %v, rented %v", rented, err, api.Rented)
		}
	})
}

// What was rented under the key before is in the burn rate already, and needs no room. A request with an unknown
// outcome counts, because the instance may be billed.
func TestFill_Hold(t *testing.T) {
	for name, test := range map[string]struct {
		burn       int64
		known      bool // an earlier run has rented under the key
		unreadable bool // the account
		status     int  // of the request to rent; 0 for success
		want       failure.Kind
		total      int64 // in the ledger afterwards
	}{
		"within the limit":            {50, false, false, 0, "", 150},
		"refused":                     {50, false, false, 409, failure.OfferRefused, 50},
		"an unknown outcome":          {50, false, false, 503, failure.OutcomeUnknown, 150},
		"above the limit":             {51, false, false, 0, failure.AboveLimit, 51},
		"above the limit, recovered":  {51, true, false, 0, "", 51},
		"the account cannot be read":  {0, true, true, 0, failure.AccountUnreadable, 0},
		"within the limit, recovered": {50, true, false, 0, "", 150},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			withMarket(t, api, func(t *testing.T, m *Manager) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				api.Refused["off_1"] = test.status
				ledger, order := spending.NewLedger(150), newOrder("key")
				others, err := ledger.Hold("others", test.burn)
				if err != nil {
					t.Fatal(err)
				}
				order.RecoverWithin, order.Target.Hold = anyAge, holdIn(ledger)
				if test.unreadable {
					order.Target.Hold = func(context.Context, string, int64) (spending.Hold, error) {
						return nil, &failure.Error{Kind: failure.AccountUnreadable, Err: errors.New("no")}
					}
				}
				if test.known {
					inst := ordered("ins_old", time.Minute)
					inst.Price.RunningKopH = 100
					api.Add(order.Seed.Key(1), inst)
				}
				rented, err := m.Fill(ctx, order, offerAt("off_1", 100))
				if failure.KindOf(err) != test.want || (err == nil) != (rented.ID != "") {
					t.Errorf("%+v, %v", rented, err)
				}
				if test.known && err == nil && rented.ID != "ins_old" || len(api.Sent) > 0 {
					t.Errorf("%s, sent %v", rented.ID, api.Sent)
				}
				others.Release()
				_, excess := ledger.Hold("", 151)
				if held := failure.As(excess).NowKopH; held != test.total-test.burn {
					t.Errorf("%d are held, want %d", held, test.total-test.burn)
				}
			})
		})
	}
}

// A creation that waits for a limit leaves its place to one whose price is held already.
func TestFill_HoldsDoNotBlockEachOther(t *testing.T) {
	prices := map[string]int64{}
	for n := range maxRentals + 1 {
		prices[fmt.Sprint("off_", n)] = 100
	}
	withMarket(t, rentaltest.NewMarket(prices), func(t *testing.T, m *Manager) {
		rented := make(chan struct{})
		var all sync.WaitGroup
		fill := func(n int, hold spending.HoldFunc) {
			order := newOrder("")
			order.Target.Hold = hold
			if _, err := m.Fill(t.Context(), order, offerAt(fmt.Sprint("off_", n), 100)); err != nil {
				t.Error(err)
			}
		}
		free := holdIn(spending.NewLedger(0))
		for n := range maxRentals {
			all.Go(func() {
				fill(n, func(ctx context.Context, id string, kopH int64) (spending.Hold, error) {
					select {
					case <-rented:
						return free(ctx, id, kopH)
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				})
			})
		}
		synctest.Wait()
		fill(maxRentals, free)
		close(rented)
		all.Wait()
		if len(m.rentals) > 0 {
			t.Errorf("%d places are taken", len(m.rentals))
		}
	})
}

// A new instance that costs too much or is not as ordered is destroyed again, or stopped if another run may have rented
// it.
func TestFill_Discards(t *testing.T) {
	price := func(kopH int64) func(*rental.Instance) {
		return func(inst *rental.Instance) { inst.Price.RunningKopH = kopH }
	}
	disk := func(inst *rental.Instance) { inst.DiskGB = 50 }
	for name, test := range map[string]struct {
		change func(*rental.Instance) // of the new instance, in the response and later
		later  bool                   // not in the response
		known  bool                   // an earlier run has rented it
		kind   failure.Kind
		limit  failure.Limit
		sent   string
		ends   bool // the context, while the instance is created
	}{
		"as ordered": {change: price(100)},
		"above the cap, interrupted": {
			price(201), false, false, failure.AboveLimit, failure.MaxPrice, "destroy ins_off_1", true,
		},
		"above the cap":        {price(201), false, false, failure.AboveLimit, failure.MaxPrice, "destroy ins_off_1", false},
		"above the cap, later": {price(201), true, false, failure.AboveLimit, failure.MaxPrice, "destroy ins_off_1", false},
		"above the cap, an earlier run's": {
			price(201), false, true, failure.AboveLimit, failure.MaxPrice, "stop ins_off_1", false,
		},
		"within the limit":       {change: price(150)},
		"above the limit":        {price(151), false, false, failure.AboveLimit, failure.MaxBurn, "destroy ins_off_1", false},
		"above the limit, later": {price(151), true, false, failure.AboveLimit, failure.MaxBurn, "destroy ins_off_1", false},
		"a smaller disk":         {disk, false, false, failure.NotAsRequested, 0, "destroy ins_off_1", false},
		"a smaller disk, later":  {disk, true, false, failure.NotAsRequested, 0, "destroy ins_off_1", false},
	} {
		t.Run(name, func(t *testing.T) {
			api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
			withMarket(t, api, func(t *testing.T, m *Manager) {
				order := newOrder("key")
				order.RecoverWithin, order.Target.MaxPriceKopH = anyAge, 200
				order.Target.Hold = holdIn(spending.NewLedger(150))
				saved := ""
				order.OnRented = func(rented Rented) {
					saved = rented.ID
					if inst := api.Actual[rented.ID]; test.later {
						test.change(&inst)
						api.Actual[rented.ID] = inst
					}
				}
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
				rented, err := m.Fill(ctx, order, offerAt("off_1", 100))
				e, removal := failure.As(err), failure.NothingRequested
				switch {
				case test.known:
					removal = failure.Stopped
				case test.sent != "":
					removal = failure.Destroyed
				}
				if e.Kind != test.kind || e.Limit != test.limit || e.Removal != removal || saved != "ins_off_1" {
					t.Errorf("got %+v, saved %q, %v", rented, saved, err)
				}
			})
			if sent := fmt.Sprint(api.Sent); sent != "["+test.sent+"]" {
				t.Errorf("sent %s", sent)
			}
		})
	}
}

// While the account cannot be read, an instance that costs more than its offer is not ready.
func TestFill_HigherPriceAndUnreadableAccount(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
	api.After = func(inst *rental.Instance) error {
		inst.Price.RunningKopH = 150
		return nil
	}
	withMarket(t, api, func(t *testing.T, m *Manager) {
		order, began := newOrder("key"), time.Now()
		readable := holdIn(spending.NewLedger(150))
		order.Target.Hold = func(ctx context.Context, id string, kopH int64) (spending.Hold, error) {
			if at := time.Since(began); at > 0 && at < time.Minute {
				return nil, &failure.Error{Kind: failure.AccountUnreadable, Err: errors.New("no")}
			}
			return readable(ctx, id, kopH)
		}
		if _, err := m.Fill(t.Context(), order, offerAt("off_1", 100)); err != nil || time.Since(began) < time.Minute {
			t.Errorf("ended after %s, %v", time.Since(began), err)
		}
	})
}

// An instance whose response can be read only in part is saved, and read by its id.
func TestFill_UnreadableResponse(t *testing.T) {
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
		order, saved := newOrder("key"), Rented{}
		order.Target.MaxPriceKopH = 100
		order.OnRented = func(rented Rented) { saved = rented }
		rented, err := m.Fill(t.Context(), order, offerAt("off_1", 100))
		if err != nil || saved.ID != "ins_off_1" || rented.DiskGB != 60 || rented.QuotedKopH != 100 {
			t.Errorf("saved %+v, got %+v, %v", saved, rented, err)
		}
	})
}

// A new instance is not lost if the API does not find it right after its creation, whatever its time of creation is.
func TestFill_NewInstanceIsNotFoundYet(t *testing.T) {
	api := rentaltest.NewMarket(map[string]int64{"off_1": 100})
	api.Hidden = 3
	api.After = func(inst *rental.Instance) error {
		inst.CreatedAt = inst.CreatedAt.Add(-time.Hour) // another clock
		return nil
	}
	withMarket(t, api, func(t *testing.T, m *Manager) {
		if rented, err := m.Fill(t.Context(), newOrder(""), offerAt("off_1", 100)); err != nil {
			t.Errorf("got %+v, %v", rented, err)
		}
	})
}
