package spending_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

// Documented in account.go: how old a reading can be, how long the API may lag, and the pause between readings.
const (
	maxAge      = 5 * time.Second
	lag         = 30 * time.Second
	lagInterval = 5 * time.Second
)

var errorName = rentaltest.ErrorName

// api is a simulator whose account costs what a test sets.
type api struct{ *simtest.Bubble }

// set sets the burn rate and the active instances that the API returns.
func (a api) set(burn int64, instances ...rental.Instance) {
	a.Proxy.Set(
		simtest.Request("GET", "/balance").Do(simtest.SetField("burn_kop_h", burn)),
		simtest.Request("GET", "/instances").Do(simtest.SetField("data", append([]rental.Instance{}, instances...))),
	)
}

// readings returns how often the account was read.
func (a api) readings() int { return a.CountRequests("GET", "/balance") }

func running(id string, kopH int64) rental.Instance {
	return rental.Instance{
		ID: id, Status: rental.StatusRunning, Type: rental.OnDemand,
		Price: rental.InstancePrice{RunningKopH: kopH, StoppedKopH: kopH / 10},
	}
}

// run runs a test in a bubble with an account that has a burn limit.
func run(t *testing.T, limit int64, test func(*testing.T, api, *spending.Account)) {
	t.Helper()
	simtest.InBubble(t, simulator.Config{}, func(t *testing.T, b *simtest.Bubble) {
		test(t, api{b}, spending.NewAccount(burnLimit(limit), b.Client))
	})
}

// subtest runs a subtest with an account that has a burn limit.
func subtest(t *testing.T, name string, limit int64, test func(*testing.T, api, *spending.Account)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { run(t, limit, test) })
}

func burnLimit(kopH int64) spending.Limits {
	return spending.Limits{RequireFunds: spending.FundsOff, MaxBurnKopH: kopH}
}

// bills is a request that rents or starts an instance; nothing without an id.
func bills(id string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return id, nil }
}

// rent rents a new instance.
func rent(t *testing.T, account *spending.Account, id string, kopH int64) error {
	t.Helper()
	return account.Spend(t.Context(), "", kopH, bills(id))
}

// wantError fails unless an error has this type; without a type, unless there is none.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if errorName(err) != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func names(problems []spending.Problem) string {
	var names []string
	for _, problem := range problems {
		name := errorName(problem.Err)
		if funds, ok := errors.AsType[spending.NotEnoughFunds](problem.Err); ok {
			name = fmt.Sprintf("%d of %d", funds.HaveKop, funds.NeedKop)
		}
		if problem.Warning {
			name += " (warning)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// A plan compares each resource alone with the account. The balance and the credit limit must cover two hours. That of
// a replacement is an error unless it is ignored, because its instance is destroyed before the API refuses another one.
func TestAccount_Check(t *testing.T) {
	const off, warn, fails, limit = spending.FundsOff, spending.FundsWarn, spending.FundsError, 250
	start := spending.Change{StartsKopH: 100, AddedKopH: 100}
	replace := spending.Change{StartsKopH: 100, AddedKopH: 100, Replaced: []string{"old"}}
	rolling := spending.Change{
		StartsKopH: 300, AddedKopH: 100, Replacements: []spending.Replacement{{ID: "a", KopH: 120}, {ID: "b", KopH: 100}},
	}
	alone := spending.Change{StartsKopH: limit + 1, AddedKopH: limit + 1}
	for name, test := range map[string]struct {
		funds         spending.FundsPolicy
		limit         int64
		balance, burn int64 // with a credit limit of 50 in the balance
		unreadable    int   // status of the balance
		change        spending.Change
		want          string
	}{
		"covered":                    {fails, 0, 200, 0, 0, start, ""},
		"not covered":                {fails, 0, 199, 0, 0, start, "199 of 200"},
		"a debt":                     {fails, 0, -50, 0, 0, start, "-50 of 200"},
		"not covered, warn":          {warn, 0, 199, 0, 0, start, "199 of 200 (warning)"},
		"not covered, off":           {off, 0, 199, 0, 0, start, ""},
		"a replacement, not covered": {warn, 0, 199, 0, 0, replace, "199 of 200"},
		"a replacement, off":         {off, 0, 199, 0, 0, replace, ""},
		"one of three is covered":    {warn, 0, 200, 0, 0, rolling, "200 of 600 (warning)"},
		"none of three is covered":   {warn, 0, 199, 0, 0, rolling, "199 of 200"},
		"within the limit":           {off, limit, 0, 150, 0, start, ""},
		"above the limit":            {off, limit, 0, 151, 0, start, "AboveBurnLimit (warning)"},
		"above the limit alone":      {off, limit, 0, 0, 0, alone, "AboveBurnLimit"},
		"in place of another":        {off, limit, 0, 190, 0, replace, ""},
		"above, in place of another": {off, limit, 0, 191, 0, replace, "AboveBurnLimit"},
		"above before":               {off, limit, 0, 300, 0, spending.Change{StartsKopH: 10}, "AboveBurnLimit (warning)"},
		"a stop while above":         {off, limit, 0, 300, 0, spending.Change{AddedKopH: -10}, ""},
		"both":                       {fails, limit, 0, 300, 0, start, "0 of 200, AboveBurnLimit (warning)"},
		"unreadable, error":          {fails, 0, 0, 0, 403, start, "AccountUnreadable"},
		"unreadable, limit":          {off, limit, 0, 0, 403, start, "AccountUnreadable"},
		"unreadable, warn":           {warn, 0, 0, 0, 403, start, "AccountUnreadable (warning)"},
		"unreadable, invalid key":    {warn, 0, 0, 0, 401, start, "AccountUnreadable"},
		"unreadable, off":            {off, 0, 0, 0, 403, start, ""},
		"nothing to check":           {fails, limit, 0, 300, 403, spending.Change{}, ""},
	} {
		subtest(t, name, 0, func(t *testing.T, api api, _ *spending.Account) {
			api.SetAccount(simulator.AccountPatch{BalanceKop: new(test.balance - 50), CreditLimitKop: new(int64(50))})
			api.set(test.burn, running("old", 40))
			if test.unreadable != 0 {
				api.Proxy.Set(simtest.Request("GET", "/balance").Do(simtest.Fail(test.unreadable)))
			}
			limits := spending.Limits{RequireFunds: test.funds, MaxBurnKopH: test.limit}
			account := spending.NewAccount(limits, api.Client)
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
		subtest(t, name, 200, func(t *testing.T, api api, account *spending.Account) {
			api.set(test.burn, running("other", 100), failed)
			wantError(t, account.Spend(t.Context(), test.id, test.price, bills("")), test.want)
			replacement := spending.Replacement{ID: "failed", KopH: test.price}
			change := spending.Change{StartsKopH: test.price, Replacements: []spending.Replacement{replacement}}
			if test.id == "" {
				change.Replacements, change.AddedKopH = nil, test.price
			}
			if problems := account.Check(t.Context(), change); (len(problems) > 0) != (test.want != "") {
				t.Errorf("plan: %v", problems)
			}
		})
	}
}

// A plan does not count what this process has destroyed, although the API returns it for a while.
func TestAccount_CheckAfterADestruction(t *testing.T) {
	run(t, 250, func(t *testing.T, api api, account *spending.Account) {
		api.set(200, running("old", 200))
		check := func(want string) {
			t.Helper()
			change := spending.Change{StartsKopH: 100, AddedKopH: 100}
			if got := names(account.Check(t.Context(), change)); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		check("AboveBurnLimit (warning)")
		account.Destroyed("old")
		check("")
		time.Sleep(lag + time.Second)
		check("AboveBurnLimit (warning)")
	})
}

// Instances that are rented in a few seconds share a reading of the account. A refusal needs another one.
func TestAccount_SharesReadings(t *testing.T) {
	run(t, 200, func(t *testing.T, api api, account *spending.Account) {
		api.set(0)
		for n := range 200 {
			wantError(t, rent(t, account, fmt.Sprint(n), 1), "")
			time.Sleep(10 * time.Millisecond)
		}
		if api.readings() != 1 {
			t.Errorf("%d readings in two seconds", api.readings())
		}
		var all []rental.Instance
		for n := range 200 {
			all = append(all, running(fmt.Sprint(n), 1))
		}
		api.set(200, all...)
		if err := rent(t, account, "more", 1); errorName(err) != "AboveBurnLimit" || api.readings() != 2 {
			t.Errorf("%v after %d readings", err, api.readings())
		}
		api.set(199, all[1:]...)
		if err := rent(t, account, "more", 1); err != nil || api.readings() != 3 {
			t.Errorf("%v after %d readings", err, api.readings())
		}
		time.Sleep(maxAge)
		api.set(200, append(all[1:], running("more", 1), running("foreign", 0))...)
		wantError(t, rent(t, account, "last", 1), "AboveBurnLimit")
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
		now, later answers // later: at the end of the lag
		want       string
		waits      time.Duration
	}{
		"a destroyed instance is in the list and the burn rate": {
			destroyed: true, now: answers{price, []rental.Instance{old}}, waits: lag,
		},
		"a destroyed instance is in the burn rate only": {destroyed: true, now: answers{price, nil}, waits: lag},
		"a destroyed instance is in the burn rate for good: another one": {
			destroyed: true, now: answers{price, nil}, later: answers{price, nil}, want: "AboveBurnLimit",
			waits: lag + lagInterval,
		},
		"a rented instance is in neither": {
			rented: "new", kopH: price, later: answers{price, []rental.Instance{rented}}, want: "AboveBurnLimit",
			waits: lag,
		},
		"a request had an unknown outcome, and rented": {
			rented: "key", kopH: 40, now: answers{40, []rental.Instance{running("new", 40)}},
			later: answers{40, []rental.Instance{running("new", 40)}}, waits: lag + lagInterval,
		},
		"a request had an unknown outcome, and rented nothing": {rented: "key", kopH: price, waits: lag + lagInterval},
		"a rented instance is in the burn rate only": {
			rented: "new", kopH: 40, now: answers{40, nil}, later: answers{40, []rental.Instance{running("new", 40)}},
			waits: lag,
		},
		"a rented instance was stopped": {rented: "new", kopH: price, now: answers{6, []rental.Instance{stopped}}},
		"others rented an instance that is in the burn rate only": {
			now: answers{price, nil}, later: answers{price, nil}, want: "AboveBurnLimit",
		},
		"others rented an instance that is in the list only": {
			now: answers{0, []rental.Instance{old}}, later: answers{0, []rental.Instance{old}}, want: "AboveBurnLimit",
		},
	} {
		subtest(t, name, limit, func(t *testing.T, api api, account *spending.Account) {
			if test.rented != "" {
				wantError(t, rent(t, account, test.rented, test.kopH), "")
			}
			if test.destroyed {
				account.Destroyed("old")
			}
			api.set(test.now.burn, test.now.listed...)
			began := time.Now()
			time.AfterFunc(lag-time.Second, func() { api.set(test.later.burn, test.later.listed...) })
			err := rent(t, account, "next", price)
			if took := time.Since(began); errorName(err) != test.want || took > test.waits+time.Second {
				t.Errorf("%v after %s, want %q after %s", err, took, test.want, test.waits)
			}
			time.Sleep(time.Minute)
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
		subtest(t, name, 100, func(t *testing.T, api api, account *spending.Account) {
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
			time.Sleep(maxAge + time.Second)
			err := rent(t, account, "second", 50)
			if waited := time.Since(began); errorName(err) != test.want || waited > test.waited+2*time.Second {
				t.Errorf("%v after %s", err, waited)
			}
			wantError(t, <-first, "")
		})
	}
}

// A rental that waits for the request limit is compared again before it is sent: others may have rented meanwhile.
func TestAccount_ComparesAgainBeforeTheRequestIsSent(t *testing.T) {
	for others, want := range map[int64]string{50: "", 51: "AboveBurnLimit"} {
		run(t, 100, func(t *testing.T, api api, account *spending.Account) {
			err := account.Spend(t.Context(), "", 50, func(ctx context.Context) (string, error) {
				time.Sleep(time.Minute)
				api.set(others, running("other", others))
				_, err := api.Client.StartInstance(ctx, "new")
				return "", err
			})
			if sent := api.CountRequests("POST", "") > 0; errorName(err) != want && want != "" || sent != (want == "") {
				t.Errorf("others cost %d: %v, sent %t", others, err, sent)
			}
			wantError(t, rent(t, account, "next", 100-others), "") // nothing stays reserved
		})
	}
}

// Requests that the limit allows together do not wait for each other.
func TestAccount_RequestsAreConcurrent(t *testing.T) {
	run(t, 200, func(t *testing.T, _ api, account *spending.Account) {
		began := time.Now()
		var all sync.WaitGroup
		for n := range 200 {
			all.Go(func() {
				err := account.Spend(t.Context(), "", 1, func(context.Context) (string, error) {
					time.Sleep(time.Minute)
					return fmt.Sprint(n), nil
				})
				wantError(t, err, "")
			})
		}
		all.Wait()
		if took := time.Since(began); took > time.Minute+time.Second {
			t.Errorf("200 requests of a minute took %s", took)
		}
	})
}

// A replacement counts in place of its instance, before and after that is destroyed.
func TestAccount_Replacement(t *testing.T) {
	run(t, 100, func(t *testing.T, api api, account *spending.Account) {
		api.set(100, running("old", 100))
		wantError(t, account.Spend(t.Context(), "old", 101, bills("new")), "AboveBurnLimit")
		err := account.Spend(t.Context(), "old", 90, func(ctx context.Context) (string, error) {
			account.Destroyed("old")
			api.set(0)
			wantError(t, account.Spend(ctx, "", 11, bills("other")), "AboveBurnLimit")
			return "new", nil
		})
		wantError(t, err, "")
		api.set(90, running("new", 90))
		wantError(t, rent(t, account, "small", 10), "")
	})
}

// The price of the next offer for a replacement takes the place of the first one's, even if it is higher, and does not
// wait for it. The higher of the two counts.
func TestAccount_SpendInSpend(t *testing.T) {
	run(t, 100, func(t *testing.T, api api, account *spending.Account) {
		api.set(90, running("old", 80), running("other", 10))
		began := time.Now()
		err := account.Spend(t.Context(), "old", 80, func(ctx context.Context) (string, error) {
			account.Destroyed("old")
			api.set(10, running("other", 10))
			wantError(t, account.Spend(ctx, "old", 91, bills("new")), "AboveBurnLimit")
			return "new", account.Spend(ctx, "old", 90, bills("new"))
		})
		if took := time.Since(began); err != nil || took > time.Second {
			t.Errorf("%v after %s", err, took)
		}
		ctx := rentaltest.Within(t, lag/2)
		if err := account.Spend(ctx, "", 1, bills("more")); err == nil {
			t.Error("the lower of the two prices counts")
		}
	})
}

// A reading that takes long is too old for a call that did not begin it.
func TestAccount_SlowReading(t *testing.T) {
	slow := simulator.Config{Wrap: func(service http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(20 * time.Second)
			service.ServeHTTP(w, r)
		})
	}}
	simtest.InBubble(t, slow, func(t *testing.T, b *simtest.Bubble) {
		account := spending.NewAccount(burnLimit(100), b.Client)
		api{b}.set(0)
		go func() { _ = rent(t, account, "", 1) }() //nolint:errcheck // it begins the reading
		time.Sleep(39 * time.Second)                // the balance and the list
		api{b}.set(100, running("other", 100))
		wantError(t, rent(t, account, "new", 60), "AboveBurnLimit")
	})
}

// While the account cannot be read, nothing may be rented or started.
func TestAccount_Unreadable(t *testing.T) {
	run(t, 100, func(t *testing.T, api api, account *spending.Account) {
		api.Proxy.Set(simtest.Request("GET", "/balance").Do(simtest.Fail(http.StatusForbidden)))
		for _, id := range []string{"", "a"} {
			err := account.Spend(t.Context(), id, 1, func(context.Context) (string, error) {
				t.Error("requested")
				return "", nil
			})
			if errorName(err) != "AccountUnreadable" || !rental.IsForbidden(err) {
				t.Errorf("got %v", err)
			}
		}
		unlimited := spending.NewAccount(spending.Limits{RequireFunds: spending.FundsError}, api.Client)
		if err := rent(t, unlimited, "a", 1); err != nil || unlimited.Limited() {
			t.Errorf("without max_burn_kop_h: %v", err)
		}
	})
}

// The error of an instance that the account contains already has the cost without it.
func TestSpend_CostWithoutTheInstance(t *testing.T) {
	run(t, 200, func(t *testing.T, api api, account *spending.Account) {
		api.set(310, running("ins_1", 300), running("ins_2", 10))
		err := account.Spend(t.Context(), "ins_1", 300, bills("ins_1"))
		if want := (spending.AboveBurnLimit{NowKopH: 10, ThenKopH: 310, LimitKopH: 200}); err != want {
			t.Errorf("got %+v, want %+v", err, want)
		}
	})
}

// The price that the account lists for a started instance counts, if it is higher than the one that was compared.
func TestAccount_StartedInstanceCostsMore(t *testing.T) {
	run(t, 100, func(t *testing.T, api api, account *spending.Account) {
		api.set(0)
		wantError(t, account.Spend(t.Context(), "a", 40, bills("a")), "")
		api.set(60, running("a", 60))
		time.Sleep(maxAge + time.Second)
		wantError(t, rent(t, account, "b", 50), "AboveBurnLimit")
	})
}
