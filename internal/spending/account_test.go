package spending

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
)

// fakeAccount serves requests for the balance and the instances.
type fakeAccount struct {
	mu        sync.Mutex
	status    int // of the balance
	available int64
	burn      int64
	instances []rental.Instance
	readings  int
	writes    int
	pause     time.Duration // on the way of each response
}

func (f *fakeAccount) RoundTrip(req *http.Request) (*http.Response, error) {
	defer time.Sleep(f.pause)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case req.Method != http.MethodGet:
		f.writes++
		return rentaltest.JSONResponse(req, http.StatusConflict, rentaltest.Failure(http.StatusConflict))
	case !strings.HasSuffix(req.URL.Path, "/balance"):
		list := append([]rental.Instance{}, f.instances...)
		return rentaltest.JSONResponse(req, http.StatusOK, map[string]any{"data": list, "next_cursor": nil})
	case f.status != http.StatusOK:
		return rentaltest.JSONResponse(req, f.status, rentaltest.Failure(f.status))
	}
	f.readings++
	return rentaltest.JSONResponse(req, http.StatusOK, map[string]any{
		"available_kop": f.available, "burn_kop_h": f.burn, "currency": "RUB",
	})
}

func (f *fakeAccount) set(burn int64, instances ...rental.Instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.burn, f.instances = burn, instances
}

func running(id string, kopH int64) rental.Instance {
	return rental.Instance{
		ID: id, Status: rental.StatusRunning, Type: rental.OnDemand,
		Price: rental.InstancePrice{RunningKopH: kopH, StoppedKopH: kopH / 10},
	}
}

// inBubble runs a test with an account that has a burn limit.
func inBubble(t *testing.T, limit int64, test func(*testing.T, *fakeAccount, *Account)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		api := &fakeAccount{status: http.StatusOK}
		client := rentaltest.Client(t, api)
		limits := Limits{RequireFunds: FundsOff, MaxBurnKopH: limit}
		test(t, api, NewAccount(limits, client))
	})
}

// bills is a request that rents or starts an instance; nothing without an id.
func bills(id string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return id, nil }
}

// rent rents a new instance.
func rent(t *testing.T, account *Account, id string, kopH int64) error {
	t.Helper()
	return account.Spend(t.Context(), "", kopH, bills(id))
}

// errorName is the type of an error without its package.
func errorName(err error) string {
	if err == nil {
		return ""
	}
	name := fmt.Sprintf("%T", err)
	return name[strings.LastIndex(name, ".")+1:]
}

// The balance and the credit limit must cover two hours.
func TestMissingFunds(t *testing.T) {
	for _, test := range []struct{ available, credit, starts, missing int64 }{
		{200, 0, 100, 0}, {199, 0, 100, 1}, {100, 100, 100, 0}, {-100, 0, 100, 300}, {0, 0, 0, 0},
	} {
		got := missingFunds(rental.Balance{AvailableKop: test.available, CreditLimitKop: test.credit}, test.starts)
		shortage, _ := errors.AsType[NotEnoughFunds](got)
		if missing := shortage.NeedKop - shortage.HaveKop; missing != test.missing || (got == nil) != (missing == 0) {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

func names(problems []Problem) string {
	var names []string
	for _, problem := range problems {
		name := errorName(problem.Err)
		if problem.Warning {
			name += " (warning)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// A plan compares each resource alone with the account. The balance that a replacement needs is an error unless it is
// ignored, because its instance is destroyed before the API refuses another one.
func TestAccount_Check(t *testing.T) {
	const limit = 250
	start := Change{StartsKopH: 100, AddedKopH: 100}
	replace := Change{StartsKopH: 100, AddedKopH: 100, Replaced: []string{"old"}}
	rolling := Change{StartsKopH: 300, AddedKopH: 100, Replacements: []Replacement{{"a", 120}, {"b", 100}}}
	for name, test := range map[string]struct {
		limits          Limits
		available, burn int64
		status          int
		change          Change
		want            string
	}{
		"covered":                    {Limits{RequireFunds: FundsError}, 200, 0, 200, start, ""},
		"not covered":                {Limits{RequireFunds: FundsError}, 199, 0, 200, start, "NotEnoughFunds"},
		"not covered, warn":          {Limits{RequireFunds: FundsWarn}, 199, 0, 200, start, "NotEnoughFunds (warning)"},
		"not covered, off":           {Limits{RequireFunds: FundsOff}, 199, 0, 200, start, ""},
		"a replacement, not covered": {Limits{RequireFunds: FundsWarn}, 199, 0, 200, replace, "NotEnoughFunds"},
		"a replacement, off":         {Limits{RequireFunds: FundsOff}, 199, 0, 200, replace, ""},
		"one of three is covered":    {Limits{RequireFunds: FundsWarn}, 200, 0, 200, rolling, "NotEnoughFunds (warning)"},
		"none of three is covered":   {Limits{RequireFunds: FundsWarn}, 199, 0, 200, rolling, "NotEnoughFunds"},
		"within the limit":           {Limits{FundsOff, limit}, 0, 150, 200, start, ""},
		"above the limit":            {Limits{FundsOff, limit}, 0, 151, 200, start, "AboveBurnLimit (warning)"},
		"above the limit alone": {
			Limits{FundsOff, limit}, 0, 0, 200, Change{StartsKopH: limit + 1, AddedKopH: limit + 1}, "AboveBurnLimit",
		},
		"in place of another":        {Limits{FundsOff, limit}, 0, 190, 200, replace, ""},
		"above, in place of another": {Limits{FundsOff, limit}, 0, 191, 200, replace, "AboveBurnLimit"},
		"above before": {
			Limits{FundsOff, limit}, 0, 300, 200, Change{StartsKopH: 10}, "AboveBurnLimit (warning)",
		},
		"a stop while above": {Limits{FundsOff, limit}, 0, 300, 200, Change{AddedKopH: -10}, ""},
		"both": {
			Limits{FundsError, limit}, 0, 300, 200, start, "NotEnoughFunds, AboveBurnLimit (warning)",
		},
		"unreadable, error":       {Limits{RequireFunds: FundsError}, 0, 0, 403, start, "AccountUnreadable"},
		"unreadable, limit":       {Limits{FundsOff, limit}, 0, 0, 403, start, "AccountUnreadable"},
		"unreadable, warn":        {Limits{RequireFunds: FundsWarn}, 0, 0, 403, start, "AccountUnreadable (warning)"},
		"unreadable, invalid key": {Limits{RequireFunds: FundsWarn}, 0, 0, 401, start, "AccountUnreadable"},
		"unreadable, off":         {Limits{RequireFunds: FundsOff}, 0, 0, 403, start, ""},
		"nothing to check":        {Limits{FundsError, limit}, 0, 300, 403, Change{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			api := &fakeAccount{status: test.status, available: test.available}
			api.set(test.burn, running("old", 40))
			client := rentaltest.Client(t, api)
			account := NewAccount(test.limits, client)
			for range 2 { // a plan does not count for the next one
				if got := names(account.Check(t.Context(), test.change)); got != test.want {
					t.Errorf("%q, want %q", got, test.want)
				}
			}
		})
	}
}

// The API may bill a failed instance until it is destroyed, although its price is zero: its replacement makes room, and
// nothing else does.
func TestAccount_FailedInstance(t *testing.T) {
	failed := running("failed", 100)
	failed.Status = rental.StatusFailed
	for name, test := range map[string]struct {
		burn, price int64
		id          string
		want        string
	}{
		"billed":                            {200, 100, "failed", ""},
		"billed, a more expensive one":      {200, 101, "failed", "AboveBurnLimit"},
		"billed, not a replacement":         {200, 1, "", "AboveBurnLimit"},
		"not billed":                        {100, 100, "failed", ""},
		"not billed, not a replacement":     {100, 100, "", ""},
		"another one is billed in addition": {250, 51, "failed", "AboveBurnLimit"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 200, func(t *testing.T, api *fakeAccount, account *Account) {
				api.set(test.burn, running("other", 100), failed)
				if err := account.Spend(t.Context(), test.id, test.price, bills("")); errorName(err) != test.want {
					t.Errorf("apply: %v", err)
				}
				change := Change{StartsKopH: test.price, Replacements: []Replacement{{"failed", test.price}}}
				if test.id == "" {
					change.Replacements, change.AddedKopH = nil, test.price
				}
				if problems := account.Check(t.Context(), change); (len(problems) > 0) != (test.want != "") {
					t.Errorf("plan: %v", problems)
				}
			})
		})
	}
}

// A plan does not count what this process has destroyed, although the API returns it for a while.
func TestAccount_CheckAfterADestruction(t *testing.T) {
	inBubble(t, 250, func(t *testing.T, api *fakeAccount, account *Account) {
		api.set(200, running("old", 200))
		change := Change{StartsKopH: 100, AddedKopH: 100}
		for _, step := range []struct {
			does func()
			want string
		}{
			{func() {}, "AboveBurnLimit (warning)"},
			{func() { account.Destroyed("old") }, ""}, // the API returns it for a while
			{func() { time.Sleep(lag + time.Second) }, "AboveBurnLimit (warning)"},
		} {
			step.does()
			if got := names(account.Check(t.Context(), change)); got != step.want {
				t.Errorf("%q, want %q", got, step.want)
			}
		}
	})
}

// Instances that are rented in a few seconds share a reading of the account. A refusal needs another one.
func TestAccount_SharesReadings(t *testing.T) {
	inBubble(t, 200, func(t *testing.T, api *fakeAccount, account *Account) {
		for n := range 200 {
			if err := rent(t, account, fmt.Sprint(n), 1); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if api.readings != 1 {
			t.Errorf("%d readings in two seconds", api.readings)
		}
		var all []rental.Instance
		for n := range 200 {
			all = append(all, running(fmt.Sprint(n), 1))
		}
		api.set(200, all...)
		if err := rent(t, account, "more", 1); errorName(err) != "AboveBurnLimit" || api.readings != 2 {
			t.Errorf("%v after %d readings", err, api.readings)
		}
		api.set(199, all[1:]...)
		if err := rent(t, account, "more", 1); err != nil || api.readings != 3 {
			t.Errorf("%v after %d readings", err, api.readings)
		}
		time.Sleep(maxAge)
		api.set(200, append(all[1:], running("more", 1), running("foreign", 0))...)
		if err := rent(t, account, "last", 1); errorName(err) != "AboveBurnLimit" {
			t.Errorf("a reading is used for more than five seconds: %v", err)
		}
	})
}

// An instance that the API does not return as it is now counts once: neither twice nor not at all.
func TestAccount_LaggingAPI(t *testing.T) {
	const limit, price = 100, 60
	type answers struct { // of the API
		burn   int64
		listed []rental.Instance
	}
	old, rented, stopped := running("old", price), running("new", price), running("new", price)
	stopped.Status = rental.StatusStopped
	for name, test := range map[string]struct {
		destroyed  bool   // this process has destroyed the instance "old"
		rented     string // what it has rented; the key if the outcome is unknown
		kopH       int64
		now, later answers // later: nine seconds later
		want       string
		waits      time.Duration
	}{
		"a destroyed instance is in the list and the burn rate": {
			destroyed: true, now: answers{price, []rental.Instance{old}}, waits: 10 * time.Second,
		},
		"a destroyed instance is in the burn rate only": {destroyed: true, now: answers{price, nil}, waits: 10 * time.Second},
		"a destroyed instance is in the burn rate for good: another one": {
			destroyed: true, now: answers{price, nil}, later: answers{price, nil}, want: "AboveBurnLimit",
			waits: 35 * time.Second,
		},
		"a rented instance is in neither": {
			rented: "new", kopH: price, later: answers{price, []rental.Instance{rented}}, want: "AboveBurnLimit",
			waits: 10 * time.Second,
		},
		"a request had an unknown outcome, and rented": {
			rented: "key", kopH: 40, now: answers{40, []rental.Instance{running("new", 40)}},
			later: answers{40, []rental.Instance{running("new", 40)}}, waits: 35 * time.Second,
		},
		"a request had an unknown outcome, and rented nothing": {rented: "key", kopH: price, waits: 35 * time.Second},
		"a rented instance is in the burn rate only": {
			rented: "new", kopH: 40, now: answers{40, nil}, later: answers{40, []rental.Instance{running("new", 40)}},
			waits: 10 * time.Second,
		},
		"a rented instance was stopped": {rented: "new", kopH: price, now: answers{6, []rental.Instance{stopped}}},
		"others rented an instance that is in the burn rate only": {
			now: answers{price, nil}, later: answers{price, nil}, want: "AboveBurnLimit",
		},
		"others rented an instance that is in the list only": {
			now: answers{0, []rental.Instance{old}}, later: answers{0, []rental.Instance{old}}, want: "AboveBurnLimit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, limit, func(t *testing.T, api *fakeAccount, account *Account) {
				if test.rented != "" {
					if err := rent(t, account, test.rented, test.kopH); err != nil {
						t.Fatal(err)
					}
				}
				if test.destroyed {
					account.Destroyed("old")
				}
				api.set(test.now.burn, test.now.listed...)
				began := time.Now()
				time.AfterFunc(9*time.Second, func() { api.set(test.later.burn, test.later.listed...) })
				err := rent(t, account, "next", price)
				if took := time.Since(began); errorName(err) != test.want || took > test.waits {
					t.Errorf("%v after %s, want %q after %s", err, took, test.want, test.waits)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

// A refusal waits for requests in flight, which may not rent anything, or may be in the list already, but not for one
// that does not end.
func TestAccount_WaitsForRequestsInFlight(t *testing.T) {
	const ends = 20 * time.Second
	for name, test := range map[string]struct {
		burn   int64  // when the request ends
		id     string // that it returns
		lasts  time.Duration
		want   string
		waited time.Duration // at most, after the start of the request
	}{
		"refused":        {0, "", ends, "", ends + lagInterval},
		"listed already": {50, "first", ends, "", ends + lagInterval},
		"still there":    {50, "first", time.Hour, "AboveBurnLimit", maxAge + lag + 3*lagInterval},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 100, func(t *testing.T, api *fakeAccount, account *Account) {
				began := time.Now()
				first := make(chan error)
				go func() {
					first <- account.Spend(t.Context(), "", 50, func(context.Context) (string, error) {
						api.set(50, running("first", 50))
						time.Sleep(test.lasts)
						api.set(test.burn, running("first", test.burn))
						return test.id, nil
					})
				}()
				time.Sleep(maxAge)
				err := rent(t, account, "second", 50)
				if waited := time.Since(began); errorName(err) != test.want || waited > test.waited {
					t.Errorf("%v after %s", err, waited)
				}
				if err := <-first; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A rental that waits for the request limit is compared again before it is sent: others may have rented meanwhile.
func TestAccount_ComparesAgainBeforeTheRequestIsSent(t *testing.T) {
	for others, want := range map[int64]string{50: "", 51: "AboveBurnLimit"} {
		inBubble(t, 100, func(t *testing.T, api *fakeAccount, account *Account) {
			err := account.Spend(t.Context(), "", 50, func(ctx context.Context) (string, error) {
				time.Sleep(time.Minute)
				api.set(others, running("other", others))
				_, err := account.client.StartInstance(ctx, "new")
				return "", err
			})
			if sent := api.writes > 0; errorName(err) != want && want != "" || sent != (want == "") {
				t.Errorf("others cost %d: %v, %d writes", others, err, api.writes)
			}
			if err := rent(t, account, "next", 100-others); err != nil {
				t.Errorf("the price stays reserved: %v", err)
			}
		})
	}
}

// Requests that the limit allows together do not wait for each other.
func TestAccount_RequestsAreConcurrent(t *testing.T) {
	inBubble(t, 200, func(t *testing.T, _ *fakeAccount, account *Account) {
		began := time.Now()
		var all sync.WaitGroup
		for n := range 200 {
			all.Go(func() {
				err := account.Spend(t.Context(), "", 1, func(context.Context) (string, error) {
					time.Sleep(time.Minute)
					return fmt.Sprint(n), nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took != time.Minute {
			t.Errorf("200 requests of a minute took %s", took)
		}
	})
}

// A replacement counts in place of its instance, before and after that is destroyed.
func TestAccount_Replacement(t *testing.T) {
	inBubble(t, 100, func(t *testing.T, api *fakeAccount, account *Account) {
		api.set(100, running("old", 100))
		if err := account.Spend(t.Context(), "old", 101, bills("new")); errorName(err) != "AboveBurnLimit" {
			t.Errorf("an expensive one: %v", err)
		}
		err := account.Spend(t.Context(), "old", 90, func(context.Context) (string, error) {
			account.Destroyed("old")
			if _, _, err := account.ledger.reserve(reading{}, "", 11); errorName(err) != "AboveBurnLimit" {
				t.Errorf("another one took its place: %v", err)
			}
			return "new", nil
		})
		if err != nil {
			t.Fatal(err)
		}
		api.set(90, running("new", 90))
		if err := rent(t, account, "small", 10); err != nil {
			t.Error(err)
		}
	})
}

// The price of the next offer for a replacement takes the place of the first one's, even if it is higher, and does not
// wait for it. The higher of the two counts.
func TestAccount_SpendInSpend(t *testing.T) {
	inBubble(t, 100, func(t *testing.T, api *fakeAccount, account *Account) {
		api.set(90, running("old", 80), running("other", 10))
		began := time.Now()
		err := account.Spend(t.Context(), "old", 80, func(ctx context.Context) (string, error) {
			account.Destroyed("old")
			api.set(10, running("other", 10))
			if err := account.Spend(ctx, "old", 91, bills("new")); errorName(err) != "AboveBurnLimit" {
				t.Errorf("above the limit: %v", err)
			}
			return "new", account.Spend(ctx, "old", 90, bills("new"))
		})
		if took := time.Since(began); err != nil || took > 0 {
			t.Errorf("%v after %s", err, took)
		}
		if total := account.ledger.total(""); total != 100 {
			t.Errorf("the account costs %d", total)
		}
	})
}

// A reading that takes long is too old for a call that did not begin it.
func TestAccount_SlowReading(t *testing.T) {
	inBubble(t, 100, func(t *testing.T, api *fakeAccount, account *Account) {
		api.pause = 20 * time.Second
		go func() { _ = rent(t, account, "", 1) }() //nolint:errcheck // it begins the reading
		time.Sleep(39 * time.Second)                // the balance and the list
		api.set(100, running("other", 100))
		if err := rent(t, account, "new", 60); errorName(err) != "AboveBurnLimit" {
			t.Errorf("rented with a reading that began 40 seconds before: %v", err)
		}
	})
}

// While the account cannot be read, nothing may be rented or started.
func TestAccount_Unreadable(t *testing.T) {
	inBubble(t, 100, func(t *testing.T, api *fakeAccount, account *Account) {
		api.status = http.StatusForbidden
		for _, id := range []string{"", "a"} {
			err := account.Spend(t.Context(), id, 1, func(context.Context) (string, error) {
				t.Error("requested")
				return "", nil
			})
			if errorName(err) != "AccountUnreadable" || !rental.IsForbidden(err) {
				t.Errorf("got %v", err)
			}
		}
		unlimited := NewAccount(Limits{RequireFunds: FundsError}, account.client)
		if err := rent(t, unlimited, "a", 1); err != nil || unlimited.Limited() {
			t.Errorf("without max_burn_kop_h: %v", err)
		}
	})
}

// A reading that another one has overtaken does not return.
func TestLedger_OlderReading(t *testing.T) {
	l, began := &ledger{limit: 100}, time.Now()
	l.observe(reading{listed: map[string]int64{"a": 30}, began: began.Add(time.Second)})
	l.observe(reading{listed: map[string]int64{"a": 90}, began: began})
	if total := l.total(""); total != 30 {
		t.Errorf("the instances cost %d, want 30", total)
	}
}

// The error of an instance that the account contains already has the cost without it.
func TestSpend_CostWithoutTheInstance(t *testing.T) {
	inBubble(t, 200, func(t *testing.T, api *fakeAccount, account *Account) {
		api.set(310, running("ins_1", 300), running("ins_2", 10))
		err := account.Spend(t.Context(), "ins_1", 300, bills("ins_1"))
		if want := (AboveBurnLimit{NowKopH: 10, ThenKopH: 310, LimitKopH: 200}); err != want {
			t.Errorf("got %+v, want %+v", err, want)
		}
	})
}
