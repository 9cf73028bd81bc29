package lifecycle

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

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
		subtestAccount(t, name, func(t *testing.T, s *service, m *Manager) {
			s.Key, s.Inst = test.seed.Key(1), ordered(age)
			if test.change != nil {
				test.change(&s.Inst)
			}
			if test.owner != (Object{}) {
				m.Owners.Claim(rentaltest.ID, test.owner)
			}
			order := newOrder(test.seed)
			order.RecoverWithin = test.within
			rented, err := m.Rent(t.Context(), order, anOffer)
			if errorName(err) != test.want || (rented.ID != "") != (test.want == "") {
				t.Errorf("got %+v, %v", rented, err)
			}
			if before, found := RentedBefore(err); found != (err != nil) || found && before.ID != rentaltest.ID {
				t.Errorf("the error has instance %q", before.ID)
			}
			if test.want == "" && (!rented.Recovered || rented.Candidate != nil) {
				t.Errorf("got %+v", rented)
			}
			owner, found := m.Owners.Owner(rentaltest.ID)
			taken := test.seed.Chosen() && test.owner == Object{}
			if found != (test.want == "" || test.owner != Object{}) || found && (owner.Use == Taken) != taken {
				t.Errorf("the owner is %+v (%t)", owner, found)
			}
			if len(s.Sent("POST /instances")) != 1 || s.Changes() != "" {
				t.Errorf("sent %v", s.Sent(""))
			}
		})
	}
}

// The API may replay the first response for a key long after the instance is destroyed, and may not find an instance by
// its id that was created a moment ago. A destroyed instance leads to the next generation.
func TestRent_ReadsAReplayedInstance(t *testing.T) {
	for name, test := range map[string]struct {
		age        time.Duration
		missing    int // reads that do not find it
		actual     rental.InstanceStatus
		own        bool // this process has destroyed it
		generation int
	}{
		"it exists":                           {time.Minute, 0, rental.StatusRunning, false, 1},
		"it is destroyed":                     {time.Hour, 0, rental.StatusDestroyed, false, 2},
		"its status lags":                     {time.Hour, 0, rental.StatusRunning, true, 2},
		"it is gone":                          {time.Hour, 1, rental.StatusRunning, false, 2},
		"it is not found yet":                 {time.Second, 2, rental.StatusRunning, false, 1},
		"it is new, and is destroyed already": {time.Second, 1000, rental.StatusRunning, false, 2},
	} {
		subtestAccount(t, name, func(t *testing.T, s *service, m *Manager) {
			order, created := newOrder(ChosenKey("key")), rental.Instance{ID: "ins_new"}
			s.Script("POST /instances", rentaltest.InTurn(s.Rent, rentaltest.Respond(http.StatusCreated, created)))
			s.Key, s.Inst = order.Seed.Key(1), ordered(test.age)
			s.Inst.Status = rental.StatusCreating
			s.On["GET"] = func(s *service) int {
				if s.Inst.Status = test.actual; len(s.Sent("GET /instances/*")) <= test.missing {
					return http.StatusNotFound
				}
				return http.StatusOK
			}
			if test.own {
				m.setDestroyed(rentaltest.ID)
			}
			rented, err := m.Rent(t.Context(), order, anOffer)
			if err != nil || rented.Generation != test.generation || (rented.ID == "ins_new") != (test.generation == 2) {
				t.Errorf("got %s, generation %d, %v", rented.ID, rented.Generation, err)
			}
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
		subtestAccount(t, name, func(t *testing.T, s *service, m *Manager) {
			order, lost := newOrder(ChosenKey("key")), 0
			order.RecoverWithin = 0
			change := func(s *service) int {
				s.Inst.DiskGB, s.Inst.CreatedAt = test.diskGB, time.Time{}
				if test.created != 0 {
					s.Inst.CreatedAt = time.Now().Add(test.created)
				}
				return http.StatusCreated
			}
			if s.On["POST"] = change; test.lost == 0 {
				s.Key, s.Inst = order.Seed.Key(1), ordered(0)
				change(s)
				time.Sleep(2 * time.Second)
			}
			s.Script("POST /instances", func(req *http.Request) (*http.Response, error) {
				resp, err := s.Rent(req)
				if lost++; lost <= test.lost {
					return nil, io.ErrUnexpectedEOF
				}
				return resp, err
			})
			rented, err := m.Rent(t.Context(), order, anOffer)
			if errorName(err) != test.want || err == nil && (rented.Recovered || rented.Candidate == nil) {
				t.Errorf("got %+v, %v", rented, err)
			}
		})
	}
}

// Two creations with one key at the same time are an error for the second: the API returns the same instance.
func TestRent_TwoCreationsWithOneKey(t *testing.T) {
	withAccount(t, func(t *testing.T, s *service, m *Manager) {
		results := make(chan string, 2)
		for _, token := range []string{"one", "other"} {
			go func() {
				order := newOrder(ChosenKey("key"))
				order.Object.Token = token
				_, err := m.Rent(t.Context(), order, anOffer)
				results <- errorName(err)
			}()
		}
		if sum := <-results + <-results; sum != "InUse" {
			t.Errorf("the errors are %q", sum)
		}
	})
}

// usedKeys answers to a key with the instance of its generation: d is a destroyed one, x an existing one, _ none. Other
// keys have another response.
func usedKeys(keys string, seed KeySeed, live rental.Instance, other rentaltest.Response) rentaltest.Response {
	return func(req *http.Request) (*http.Response, error) {
		for i, use := range keys {
			switch inst := live; {
			case req.Header.Get("Idempotency-Key") != seed.Key(i+1) || use == '_':
			case use == 'd':
				inst.Status = rental.StatusDestroyed
				fallthrough
			default:
				return rentaltest.Replay(inst)(req)
			}
		}
		return other(req)
	}
}

// A creation passes over the keys of any number of destroyed instances with few requests, and takes the instance of a
// later key instead of renting another one.
func TestRent_PassesOverDestroyedInstances(t *testing.T) {
	for _, test := range []struct {
		keys       string
		generation int
		recovered  bool
	}{{"ddd", 4, false}, {strings.Repeat("d", 100), 101, false}, {"dddx", 4, true}} {
		withAccount(t, func(t *testing.T, s *service, m *Manager) {
			order := newOrder(FleetSeed("train/1").Slot(0))
			other := func(req *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(req.Body)
				if err != nil || strings.Contains(string(body), lookupOnly) {
					return rentaltest.Fail(http.StatusNotFound)(req)
				}
				return rentaltest.Respond(http.StatusCreated, rental.Instance{ID: "ins_new"})(req)
			}
			s.Script("GET /instances/*", rentaltest.Respond(http.StatusOK, ordered(time.Hour)))
			s.Script("POST /instances", usedKeys(test.keys, order.Seed, ordered(time.Hour), other))
			rented, err := m.Rent(t.Context(), order, anOffer)
			if err != nil || rented.Generation != test.generation || rented.Recovered != test.recovered {
				t.Errorf("%s: got %+v, %v", test.keys, rented, err)
			}
			if n := len(s.Sent("POST /instances")); n > 20 {
				t.Errorf("%d requests for %d keys", n, len(test.keys))
			}
		})
	}
}

// What was rented before under a key is found, and nothing is rented. The keys of destroyed instances, which the API
// may have forgotten, do not end the search: three unused ones do.
func TestFind(t *testing.T) {
	for _, test := range []struct {
		keys  string // see usedKeys
		found int    // generation
	}{
		{"x", 1}, {"dx", 2}, {"ddddddx", 7}, {"__x", 3}, {"___x", 0}, {"_dd_x", 5}, {"d__x", 4}, {"d___x", 0}, {"ddd", 0},
	} {
		withAccount(t, func(t *testing.T, s *service, m *Manager) {
			order, live := newOrder(FleetSeed("train/1").Slot(0)), ordered(time.Hour)
			s.Script("GET /instances/*", rentaltest.Respond(http.StatusOK, live))
			s.Script("POST /instances", usedKeys(test.keys, order.Seed, live, rentaltest.Fail(http.StatusNotFound)))
			rented, found, err := m.Find(t.Context(), order, 3)
			if err != nil || rented.Generation != test.found || found != (test.found > 0) || rented.Recovered != found {
				t.Errorf("%s: got %+v, %v", test.keys, rented, err)
			}
			if m.Owners.Has(rentaltest.ID) != found {
				t.Errorf("%s: the object has the instance: %t", test.keys, !found)
			}
			if m.Owners.Release(rented.ID); m.Owners.Has(rented.ID) {
				t.Errorf("%s: the object still has the instance", test.keys)
			}
		})
	}
}

// The price of a new instance counts for the burn limit, even if the outcome of the request is unknown, because the
// instance may be billed.
func TestRent_BurnLimit(t *testing.T) {
	const limit = 1500
	for name, test := range map[string]struct {
		others     int64 // what other instances cost
		known      bool  // an earlier run has rented under the key
		unreadable bool  // the account
		status     int   // of the request to rent; 0 for success
		want       string
		next       string        // error of another rental
		waits      time.Duration // it
	}{
		"within the limit":            {500, false, false, 0, "", "AboveBurnLimit", time.Minute},
		"refused":                     {500, false, false, 409, "OfferRefused", "", 10 * time.Second},
		"an unknown outcome":          {500, false, false, 503, "OutcomeUnknown", "", time.Minute},
		"above the limit":             {501, false, false, 0, "AboveBurnLimit", "", 10 * time.Second},
		"the account cannot be read":  {0, true, true, 0, "AccountUnreadable", "AccountUnreadable", time.Minute},
		"within the limit, recovered": {0, true, false, 0, "", "", 10 * time.Second},
	} {
		subtestAccount(t, name, func(t *testing.T, s *service, m *Manager) {
			m.limitBurn(limit)
			order := newOrder(ChosenKey("key"))
			if s.OthersKopH = test.others; test.known {
				s.Key, s.Inst = order.Seed.Key(1), ordered(time.Minute)
				s.Inst.Price.RunningKopH = 500
			}
			if test.unreadable {
				s.Script("GET /balance", rentaltest.Fail(http.StatusForbidden))
			}
			if test.status != 0 {
				s.Script("POST /instances", rentaltest.Fail(test.status))
			}
			ctx := within(t, time.Minute)
			rented, err := m.Rent(ctx, order, anOffer)
			if errorName(err) != test.want || (err == nil) != (rented.ID != "") || s.Changes() != "" {
				t.Errorf("%+v, %v, sent %s", rented, err, s.Changes())
			}
			began := time.Now()
			err = m.spend(t.Context(), 510)
			if took := time.Since(began); errorName(err) != test.next || took > test.waits {
				t.Errorf("another one: %v after %s", err, took)
			}
			if unknown := test.want == "OutcomeUnknown"; unknown && time.Since(began) < 20*time.Second {
				t.Error("an instance that may be rented does not count")
			}
		})
	}
}

// A creation that waits for the burn limit leaves its place to one that is within it.
func TestRent_WaitsForTheLimitWithoutAPlace(t *testing.T) {
	withInstance(t, rental.OnDemand, "running", func(t *testing.T, s *service, m *Manager) {
		s.OthersKopH = 990
		s.Script("POST /instances", rentaltest.Respond(http.StatusCreated, ordered(0)))
		m.limitBurn(2000)
		m.Account.Destroyed("ins_destroyed") // the burn rate may contain it for a while
		var all sync.WaitGroup
		for range maxRentals {
			all.Go(func() {
				if _, err := m.Rent(t.Context(), newOrder(RandomKey()), anOffer); errorName(err) != "AboveBurnLimit" {
					t.Error(err)
				}
			})
		}
		time.Sleep(10 * time.Second)
		began, order := time.Now(), newOrder(RandomKey())
		order.Replaces = rentaltest.ID
		if _, err := m.Rent(t.Context(), order, anOffer); err != nil || time.Since(began) > 10*time.Second {
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
	const later = "later"             // the response to the creation does not show the change
	const earlier = "earlier"         // an earlier run has rented it
	const interrupted = "interrupted" // while it is created
	const inPart = "in part"          // interrupted, and the response can be read only in part
	for name, test := range map[string]struct {
		change       func(*rental.Instance) // of the new instance, in the response and later
		when         string
		reason, sent string // empty if it may run
	}{
		"as ordered":                      {change: price(1000)},
		"above the cap":                   {price(2001), "", "AboveCap", "DELETE"},
		"above the cap, later":            {price(2001), later, "AboveCap", "DELETE"},
		"above the cap, interrupted":      {price(2001), interrupted, "AboveCap", "DELETE"},
		"above the cap, read in part":     {price(2001), inPart, "AboveCap", "DELETE"},
		"above the cap, an earlier run's": {price(2001), earlier, "AboveCap", "stop"},
		"within the limit":                {change: price(1500)},
		"above the limit":                 {price(1501), "", "AboveBurnLimit", "DELETE"},
		"above the limit, later":          {price(1501), later, "AboveBurnLimit", "DELETE"},
		"above the limit, interrupted":    {price(1501), interrupted, "AboveBurnLimit", "DELETE"},
		"a smaller disk":                  {disk, "", "NotAsOrdered", "DELETE"},
		"a smaller disk, later":           {disk, later, "NotAsOrdered", "DELETE"},
		"a smaller disk, interrupted":     {disk, interrupted, "NotAsOrdered", "DELETE"},
	} {
		subtestAccount(t, name, func(t *testing.T, s *service, m *Manager) {
			order := newOrder(ChosenKey("key"))
			order.MaxPriceKopH = 2000
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.On["POST"] = func(s *service) int {
				if test.when != later {
					test.change(&s.Inst)
				}
				if test.when == interrupted || test.when == inPart {
					cancel()
				}
				return http.StatusCreated
			}
			switch m.limitBurn(1500); test.when {
			case earlier: // the burn rate contains its price
				m.limitBurn(0)
				s.Key, s.Inst = order.Seed.Key(1), ordered(time.Minute)
				test.change(&s.Inst)
			case inPart:
				s.Script("POST /instances", func(req *http.Request) (*http.Response, error) {
					if _, err := s.Rent(req); err != nil {
						return nil, err
					}
					return rentaltest.JSONResponse(req, http.StatusCreated, map[string]any{"id": rentaltest.ID, "price": 5})
				})
			}
			rented, err := m.Rent(ctx, order, anOffer)
			if err != nil {
				t.Fatal(err)
			}
			test.change(&s.Inst)
			_, err = m.ConvergeRented(ctx, rented, running(OutbidRestart))
			removal := map[string]Removal{"DELETE": Destroyed, "stop": Stopped}[test.sent]
			rejected, _ := errors.AsType[Rejected](err)
			if errorName(rejected.Reason) != test.reason || rejected.Removal != removal || (err != nil) != (test.sent != "") {
				t.Errorf("got %+v", err)
			}
			if s.Changes() != test.sent {
				t.Errorf("sent %s", s.Changes())
			}
		})
	}
}

// While the account cannot be read, an instance that costs more than its offer is not ready.
func TestConvergeRented_HigherPriceAndUnreadableAccount(t *testing.T) {
	withAccount(t, func(t *testing.T, s *service, m *Manager) {
		m.limitBurn(1500)
		s.On["POST"] = func(s *service) int {
			s.Inst.Price.RunningKopH = 1500
			return http.StatusCreated
		}
		s.Script("POST /instances", func(req *http.Request) (*http.Response, error) {
			time.Sleep(10 * time.Second) // the reading before is too old
			s.Script("GET /balance", rentaltest.Fail(http.StatusForbidden))
			return s.Rent(req)
		})
		rented, err := m.Rent(t.Context(), newOrder(RandomKey()), anOffer)
		if err != nil {
			t.Fatal(err)
		}
		readable := rentaltest.Respond(http.StatusOK, rental.Balance{BurnKopH: 1500})
		time.AfterFunc(time.Minute, func() { s.Script("GET /balance", readable) })
		began := time.Now()
		_, err = m.ConvergeRented(t.Context(), rented, running(OutbidRestart))
		if took := time.Since(began); err != nil || took < time.Minute {
			t.Errorf("ended after %s, %v", took, err)
		}
	})
}

// An instance that was found by its key counts for the burn limit before the account shows it.
func TestConvergeRented_FoundInstanceCounts(t *testing.T) {
	withAccount(t, func(t *testing.T, s *service, m *Manager) {
		m.limitBurn(1500)
		s.Script("GET /balance", rentaltest.Respond(http.StatusOK, rental.Balance{}))
		s.Script("GET /instances", rentaltest.Respond(http.StatusOK, rentaltest.Page()))
		order := newOrder(ChosenKey("key"))
		s.Key, s.Inst = order.Seed.Key(1), ordered(10*time.Second)
		s.Inst.Price.RunningKopH = 1000
		rented, _, err := m.Find(t.Context(), order, 3)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.ConvergeRented(t.Context(), rented, running(OutbidRestart)); err != nil {
			t.Fatal(err)
		}
		ctx := within(t, 20*time.Second)
		if err = m.spend(ctx, 510); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("another one: %v", err)
		}
	})
}

// If the account cannot be read right before a rental or start is sent, nothing is sent. The error is not taken for
// that of the rental or start, whatever its status is.
func TestBeforeSend_UnreadableAccount(t *testing.T) {
	for _, status := range []int{401, 403, 404, 503} {
		for _, pattern := range []string{"POST /instances", "POST /instances/*/start"} {
			withInstance(t, rental.Interruptible, "stopped", func(t *testing.T, s *service, m *Manager) {
				m.limitBurn(100_000)
				s.Script(pattern, func(req *http.Request) (*http.Response, error) { // the request limit
					s.Script("GET /balance", rentaltest.Fail(status))
					resp, err := rentaltest.Fail(http.StatusTooManyRequests)(req)
					resp.Header.Set("Retry-After", "10")
					return resp, err
				})
				var err error
				if pattern == "POST /instances" {
					_, err = m.Rent(t.Context(), newOrder(RandomKey()), anOffer)
				} else {
					_, err = m.Converge(t.Context(), s.Inst, running(OutbidRestart))
				}
				if n := len(s.Sent(pattern)); errorName(err) != "AccountUnreadable" || n != 1 {
					t.Errorf("%s, %d: %v, sent %d times", pattern, status, err, n)
				}
			})
		}
	}
}

// An object that has taken an instance does not lose this mark by a plan: the deletion of a tainted object, which may
// be the one that had the instance before, is refused.
func TestOwners_TakenAndPlanned(t *testing.T) {
	var owners Owners
	owners.create("ins_1", Object{Token: "new"}, Taken)
	owners.Claim("ins_1", Object{Token: "new"})
	if _, ok := owners.Claim("ins_1", Object{}); ok {
		t.Error("a deletion without a token is allowed")
	}
}
