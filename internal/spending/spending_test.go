package spending

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

func TestMissingFunds(t *testing.T) {
	for name, test := range map[string]struct{ available, credit, starts, missing int64 }{
		"covered to the kopeck":      {200, 0, 100, 0},
		"one kopeck short":           {199, 0, 100, 1},
		"the credit limit counts":    {100, 100, 100, 0},
		"in debt":                    {-100, 0, 100, 300},
		"a plan that starts nothing": {0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := MissingFunds(rental.Balance{AvailableKop: test.available, CreditLimitKop: test.credit}, test.starts)
			missing := int64(0)
			if got != nil {
				missing = got.NeedKop - got.HaveKop
			}
			if missing != test.missing {
				t.Errorf("missing %d kopecks, want %d", missing, test.missing)
			}
		})
	}
}

func TestCheckBurn(t *testing.T) {
	for name, test := range map[string]struct {
		burn, added, limit int64
		refused            bool
	}{
		"within":                      {100, 100, 200, false},
		"above":                       {100, 101, 200, true},
		"no limit":                    {100, 1e9, 0, false},
		"above before, nothing added": {300, 0, 200, true},
		"above before, less added":    {300, -50, 200, true},
	} {
		t.Run(name, func(t *testing.T) {
			tracker := &Tracker{limits: Limits{MaxBurnKopH: test.limit}}
			if got := tracker.checkBurn(test.burn, test.added); (len(got) > 0) != test.refused {
				t.Errorf("%v, want refused: %t", got, test.refused)
			}
		})
	}
}

// fakeAccount serves requests for the balance and the instances.
type fakeAccount struct {
	status    int // of the balance
	available int64
	burn      int64
	instances []rental.Instance
	counts    map[string]int // requests by path
}

func (f *fakeAccount) RoundTrip(req *http.Request) (*http.Response, error) {
	f.counts[req.URL.Path]++
	switch {
	case !strings.HasSuffix(req.URL.Path, "/balance"):
		return rentaltest.JSONResponse(
			req,
			http.StatusOK,
			map[string]any{"data": append([]rental.Instance{}, f.instances...), "next_cursor": nil},
		)
	case f.status != http.StatusOK:
		return rentaltest.JSONResponse(
			req,
			f.status,
			map[string]any{"error": map[string]any{"code": "forbidden", "message": "no"}},
		)
	}
	return rentaltest.JSONResponse(
		req,
		http.StatusOK,
		map[string]any{"available_kop": f.available, "burn_kop_h": f.burn, "currency": "RUB"},
	)
}

func newTracker(t *testing.T, api *fakeAccount, limits Limits, single bool) *Tracker {
	t.Helper()
	api.counts = map[string]int{}
	if api.status == 0 {
		api.status = http.StatusOK
	}
	client, isSingle := rentaltest.Client(t, api), func() bool { return single }
	return New(limits, client, rental.NewCache(client, isSingle), isSingle)
}

func kinds(problems Problems) string {
	text := ""
	for _, problem := range problems {
		name := map[Kind]string{
			NotEnoughFunds: "funds", BurnLimitExceeded: "burn", AccountUnreadable: "unreadable",
		}[problem.Kind]
		if problem.Warning {
			name += " (warning)"
		}
		text = strings.TrimPrefix(text+", "+name, ", ")
	}
	return text
}

// The instances of a plan are summed up, the account is read once, and a warning appears once. A process that serves
// several runs checks each instance alone.
func TestTracker_CheckSumsUpAPlan(t *testing.T) {
	start := Change{StartsKopH: 100, AddedKopH: 100, Creates: true}
	for name, test := range map[string]struct {
		limits Limits
		single bool
		want   [3]string
		reads  int // of the balance
	}{
		"funds, error": {Limits{RequireFunds: FundsError}, true, [3]string{"", "funds", "funds"}, 1},
		"funds, warn":  {Limits{RequireFunds: FundsWarn}, true, [3]string{"", "funds (warning)", ""}, 1},
		"funds, off":   {Limits{RequireFunds: FundsOff}, true, [3]string{}, 0},
		"burn limit":   {Limits{RequireFunds: FundsOff, MaxBurnKopH: 250}, true, [3]string{"", "burn", "burn"}, 1},
		"both": {
			Limits{RequireFunds: FundsError, MaxBurnKopH: 250}, true, [3]string{"", "funds, burn", "funds, burn"}, 1,
		},
		"several runs, alone": {Limits{RequireFunds: FundsError, MaxBurnKopH: 250}, false, [3]string{}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			api := &fakeAccount{available: 300, burn: 100}
			tracker := newTracker(t, api, test.limits, test.single)
			for n, want := range test.want {
				if got := kinds(tracker.Check(t.Context(), start)); got != want {
					t.Errorf("instance %d: %q, want %q", n, got, want)
				}
			}
			if reads := api.counts["/api/v1/balance"]; reads != test.reads {
				t.Errorf("the balance was read %d times, want %d", reads, test.reads)
			}
		})
	}
}

// A limit that fails plans fails also if the account cannot be read.
func TestTracker_UnreadableAccount(t *testing.T) {
	for name, test := range map[string]struct {
		limits Limits
		want   string
	}{
		"error":      {Limits{RequireFunds: FundsError}, "unreadable"},
		"burn limit": {Limits{RequireFunds: FundsOff, MaxBurnKopH: 1000}, "unreadable"},
		"warn":       {Limits{RequireFunds: FundsWarn}, "unreadable (warning)"},
	} {
		tracker := newTracker(t, &fakeAccount{status: http.StatusForbidden}, test.limits, true)
		problems := tracker.Check(t.Context(), Change{StartsKopH: 1, AddedKopH: 1, Creates: true})
		if got := kinds(problems); got != test.want || (problems.Errors() != nil) != (test.want == "unreadable") {
			t.Errorf("%s: %q, %v", name, got, problems.Errors())
		}
	}
}

// An instance that this run destroys no longer counts, also while the balance lags. A replacement that costs more than
// its predecessor is compared with the limit.
func TestTracker_DestroyedInstance(t *testing.T) {
	running := rental.Instance{ID: "ins_1", Status: rental.StatusRunning, Price: rental.InstancePrice{RunningKopH: 200}}
	tracker := newTracker(
		t,
		&fakeAccount{available: 1e6, burn: 200, instances: []rental.Instance{running}},
		Limits{MaxBurnKopH: 250},
		true,
	)
	burn := tracker.BurnBeforeDestroy(t.Context(), running)
	tracker.Destroyed("ins_1", burn)
	if got := kinds(
		tracker.Check(t.Context(), Change{StartsKopH: 240, AddedKopH: 240, Creates: true}),
	); burn != 200 ||
		got != "" {
		t.Errorf("it cost %d, and its replacement is refused: %q", burn, got)
	}
	if got := kinds(tracker.Check(t.Context(), Change{StartsKopH: 20, AddedKopH: 20, Creates: true})); got != "burn" {
		t.Errorf("a second instance is within the limit: %q", got)
	}
}

// A plan subtracts the cost of an instance that it replaces. The destruction does not subtract it again.
func TestTracker_PlannedReplacement(t *testing.T) {
	for price, refused := range map[int64]bool{250: false, 251: true} {
		running := rental.Instance{ID: "ins_1", Status: rental.StatusRunning, Price: rental.InstancePrice{RunningKopH: 200}}
		api := &fakeAccount{available: 1e6, burn: 200, instances: []rental.Instance{running}}
		tracker := newTracker(t, api, Limits{MaxBurnKopH: 250}, true)
		tracker.PlanDestroy("ins_1", 200)
		if problems := tracker.Check(t.Context(), Change{AddedKopH: 20, Creates: true}); len(problems) > 0 {
			t.Fatal(problems)
		}
		tracker.Plan("key", 220)
		tracker.Destroyed("ins_1", tracker.BurnBeforeDestroy(t.Context(), running))
		creation := tracker.BeginCreate("key", false)
		if _, err := creation.CheckPrice()(t.Context(), price); (err != nil) != refused {
			t.Errorf("price %d: %v", price, err)
		}
		creation.End()
	}
}

// In a process that serves several runs, an instance waits for the response to the request of another one before it is
// refused because of both.
func TestReserve_CountsInFlightRequestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &fakeAccount{available: 1e6}
		tracker := newTracker(t, api, Limits{MaxBurnKopH: 250}, false)
		first, problems := tracker.reserve(t.Context(), "", 100, 100)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		// The API has created it, and its response is on the way.
		inst := rental.Instance{ID: "ins_1", Status: rental.StatusRunning, Price: rental.InstancePrice{RunningKopH: 100}}
		api.instances = []rental.Instance{inst}
		time.Sleep(maxAccountAge)
		second := make(chan *Reservation)
		go func() {
			reservation, problems := tracker.reserve(t.Context(), "", 100, 100)
			if len(problems) > 0 {
				t.Errorf("the second instance is refused: %v", problems)
			}
			second <- reservation
		}()
		synctest.Wait()
		first.Rented(inst)
		(<-second).Rented(rental.Instance{ID: "ins_2", Price: inst.Price}) // the API does not list it yet
		if _, problems := tracker.reserve(t.Context(), "", 100, 100); kinds(problems) != "burn" {
			t.Errorf("a third instance is within the limit: %v", problems)
		}
	})
}

// checkPrice returns the problems of an offer at 100 kopecks per hour.
func checkPrice(t *testing.T, creation *Creation) string {
	t.Helper()
	var problems Problems
	_, err := creation.CheckPrice()(t.Context(), 100)
	errors.As(err, &problems)
	return kinds(problems)
}

// A creation that waited for an offer is compared with the burn rate at that moment, not only with the one at the
// beginning of the run.
func TestCreation_BurnRateAfterAWait(t *testing.T) {
	for name, test := range map[string]struct {
		waits bool
		burn  int64 // when the offer appears
		want  string
	}{
		"others rented nothing":       {true, 100, ""},
		"others rented in the wait":   {true, 200, "burn"},
		"an instance that rents soon": {false, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			api := &fakeAccount{available: 1e6, burn: 100}
			tracker := newTracker(t, api, Limits{MaxBurnKopH: 250}, true)
			creation := tracker.BeginCreate("key", test.waits)
			defer creation.End()
			if problems := tracker.Check(t.Context(), Change{Creates: true}); len(problems) > 0 { // its plan
				t.Fatal(problems)
			}
			api.burn = test.burn
			if got := checkPrice(t, creation); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// Without a burn limit, a creation is compared with the balance, also in a process that serves several runs.
func TestCreation_Funds(t *testing.T) {
	for _, single := range []bool{true, false} {
		tracker := newTracker(t, &fakeAccount{available: 199}, Limits{RequireFunds: FundsError}, single)
		creation := tracker.BeginCreate("key", false)
		defer creation.End()
		if got := checkPrice(t, creation); got != "funds" {
			t.Errorf("single run %t: %q, want a problem with the balance", single, got)
		}
	}
}

// While an offer is being rented, another creation waits for the result before it is refused because of both. After
// release, an offer that was not rented no longer counts.
func TestCreation_ReleasesOfferThatWasNotRented(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracker := newTracker(t, &fakeAccount{available: 1e6}, Limits{MaxBurnKopH: 150}, false)
		first, second := tracker.BeginCreate("a", true), tracker.BeginCreate("b", true)
		defer second.End()
		release, err := first.CheckPrice()(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, release)
		began := time.Now()
		if got := checkPrice(t, second); got != "" || time.Since(began) != time.Minute {
			t.Errorf("%q after %s", got, time.Since(began))
		}
	})
}

// The burn rate at that moment does not contain instances that this run destroyed long before.
func TestCreation_DestroyedBeforeAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := rental.Instance{ID: "ins_1", Status: rental.StatusRunning, Price: rental.InstancePrice{RunningKopH: 200}}
		api := &fakeAccount{available: 1e6, burn: 200, instances: []rental.Instance{running}}
		tracker := newTracker(t, api, Limits{MaxBurnKopH: 250}, true)
		tracker.Destroyed("ins_1", tracker.BurnBeforeDestroy(t.Context(), running))
		creation := tracker.BeginCreate("key", true)
		defer creation.End()
		time.Sleep(time.Hour)
		api.burn, api.instances = 200, nil // others have rented an instance that is not listed yet
		if got := checkPrice(t, creation); got != "burn" {
			t.Errorf("%q, want a problem with the burn rate", got)
		}
	})
}

// Creations that waited for an offer share one reading of the account for a few seconds, with what this run has rented
// since then. A creation is refused only after another reading.
func TestCreation_SharesReadingAfterAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &fakeAccount{available: 1e6}
		tracker := newTracker(t, api, Limits{MaxBurnKopH: 1000}, true)
		reads := func(want int) {
			t.Helper()
			if got := api.counts["/api/v1/balance"]; got != want {
				t.Errorf("the balance was read %d times, want %d", got, want)
			}
		}
		var creations []*Creation
		create := func(want string) {
			t.Helper()
			time.Sleep(time.Millisecond)
			creation := tracker.BeginCreate("key", true)
			if got := checkPrice(t, creation); got != want {
				t.Errorf("%q, want %q", got, want)
				return
			}
			inst := rental.Instance{Status: rental.StatusRunning, Price: rental.InstancePrice{RunningKopH: 100}}
			inst.ID = string(rune('a' + len(creations)))
			creation.Created(inst)
			creations, api.instances = append(creations, creation), append(api.instances, inst)
		}
		for range 3 {
			create("")
		}
		reads(2) // one of them for the beginning of the run
		time.Sleep(maxAccountAge)
		create("")
		reads(3)
		creations[0].End()
		create("")
		reads(4)
		api.burn = 1000 // others have rented an instance
		create("")
		reads(4)
		time.Sleep(maxAccountAge)
		create("burn")
		reads(5)
		api.burn = 0 // and have stopped it
		create("")
		reads(6)
	})
}

// A start is compared with the limit at its price at that moment. What the plan has counted does not count twice.
func TestCheckStart(t *testing.T) {
	prices := rental.InstancePrice{RunningKopH: 100, StoppedKopH: 10}
	outbid := rental.Instance{ID: "ins_1", Type: rental.Interruptible, Status: rental.StatusOutbid, Price: prices}
	running := rental.Instance{ID: "ins_2", Status: rental.StatusRunning, Price: prices}
	for name, test := range map[string]struct {
		inst    rental.Instance // what is listed when the run begins
		planned bool
		kopH    int64
		want    string
	}{
		"as planned":                   {outbid, true, 100, ""},
		"more than planned":            {outbid, true, 200, ""},
		"more than the limit":          {outbid, true, 201, "burn"},
		"outbid after the plan":        {running, false, 200, ""},
		"outbid after the plan, above": {running, false, 201, "burn"},
		"not in the plan":              {outbid, false, 200, ""},
		"not in the plan, above":       {outbid, false, 201, "burn"},
		"less than before":             {outbid, true, 50, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, single := range []bool{true, false} {
				api := &fakeAccount{available: 1e6, burn: test.inst.BurnKopH(), instances: []rental.Instance{test.inst}}
				tracker := newTracker(t, api, Limits{MaxBurnKopH: 200}, single)
				if test.planned {
					change, err := tracker.PlanStart(t.Context(), test.inst, "")
					if err != nil || len(tracker.Check(t.Context(), change)) > 0 {
						t.Fatal(change, err)
					}
				} else if err := tracker.Check(t.Context(), Change{StartsKopH: 1}); err != nil {
					t.Fatal(err)
				}
				now := outbid
				now.ID = test.inst.ID
				api.instances, api.burn = []rental.Instance{now}, now.BurnKopH()
				var problems Problems
				release, err := tracker.CheckStart()(t.Context(), now, test.kopH)
				errors.As(err, &problems)
				if got := kinds(problems); got != test.want {
					t.Errorf("single run %t: %q, want %q", single, got, test.want)
				}
				if err == nil {
					release()
				}
			}
		})
	}
	if check := newTracker(t, &fakeAccount{}, Limits{RequireFunds: FundsError}, true).CheckStart(); check != nil {
		t.Error("a start is checked without a limit")
	}
}

// An instance that is outbid while it boots, and started again, does not count together with its creation.
func TestCheckStart_OutbidAfterCreation(t *testing.T) {
	for _, single := range []bool{true, false} {
		api := &fakeAccount{available: 1e6}
		tracker := newTracker(t, api, Limits{MaxBurnKopH: 150}, single)
		creation := tracker.BeginCreate("key", false)
		defer creation.End()
		if got := checkPrice(t, creation); got != "" {
			t.Fatal(got)
		}
		inst := rental.Instance{
			ID: "ins_1", Status: rental.StatusOutbid, Price: rental.InstancePrice{RunningKopH: 100, StoppedKopH: 10},
		}
		creation.Created(inst)
		api.instances = []rental.Instance{inst}
		for kopH, refused := range map[int64]bool{150: false, 151: true} {
			if _, err := tracker.CheckStart()(t.Context(), inst, kopH); (err != nil) != refused {
				t.Errorf("single run %t, %d kopecks per hour: %v", single, kopH, err)
			}
		}
	}
}
