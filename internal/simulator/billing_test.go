package simulator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestBilling(t *testing.T) {
	r := newRig(t)
	i := r.running("k", m{"disk_gb": 100})
	id := "/instances/" + i.ID
	first := r.balance()
	if first.Burn != i.Price.Running || first.Runway == nil {
		t.Errorf("balance %+v, running price %d", first, i.Price.Running)
	}
	up := i.StartedAt
	cost := func() int64 { return r.instance(i.ID).Cost }
	r.Advance(up.Add(30 * time.Minute).Sub(r.Now()))
	if got, want := cost(), i.Price.Running/2; got != want {
		t.Errorf("half an hour costs %d, want %d", got, want)
	}
	if b := r.balance(); b.Balance != 5_000_000 || b.Available != b.Balance-cost() {
		t.Errorf("before the first posting: %+v", b)
	}
	r.Advance(30 * time.Minute)
	if b := r.balance(); b.Balance != 5_000_000-i.Price.Running || b.Available != b.Balance {
		t.Errorf("after an hour: %+v, price %d", b, i.Price.Running)
	}
	newest := list[transaction](r, "/transactions", 2)[0]
	if newest.Type != "usage" || newest.Amount != -i.Price.Running || *newest.InstanceID != i.ID || !newest.At.Equal(up.Add(time.Hour)) {
		t.Errorf("newest entry %+v", newest)
	}
	r.do("POST", id+"/stop", nil).want(200)
	r.Advance(settled)
	stopped := cost()
	if b := r.balance(); b.Burn != i.Price.Stopped {
		t.Errorf("burn %d while stopped, want %d", b.Burn, i.Price.Stopped)
	}
	r.Advance(10 * time.Hour)
	if got, want := cost()-stopped, 10*i.Price.Stopped; got != want {
		t.Errorf("ten hours of disk cost %d, want %d", got, want)
	}
	r.do("DELETE", id, nil).want(200)
	end := cost()
	r.Advance(24 * time.Hour)
	if b := r.balance(); cost() != end || b.Balance != 5_000_000-end || b.Available != b.Balance || b.Runway != nil {
		t.Errorf("after the end: cost %d then %d, %+v", end, cost(), b)
	}
}

// TestFractionsOfAKopeckAddUp stops and starts a server so often that rounding each stretch would show.
func TestFractionsOfAKopeckAddUp(t *testing.T) {
	r := newRig(t)
	i := r.running("k", m{"disk_gb": 100}) // has been running for one boot time
	const cycles = 40
	for range cycles {
		r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
		r.Advance(boot)
		r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
		r.Advance(settled)
	}
	// A stop bills as running until the status says stopped, after 24% of the boot time; a start bills the disk until running.
	lag := boot * 24 / 100
	running := boot + cycles*(lag+boot)
	stopped := cycles * (2*boot - lag)
	want := (i.Price.Running*running.Milliseconds() + i.Price.Stopped*stopped.Milliseconds()) / time.Hour.Milliseconds()
	if got := r.instance(i.ID).Cost; got != want {
		t.Errorf("cost %d, want %d", got, want)
	}
}

func TestMoneyRunsOut(t *testing.T) {
	t.Run("watched", func(t *testing.T) { moneyRunsOut(t, false) })
	t.Run("unwatched", func(t *testing.T) { moneyRunsOut(t, true) })
}

func moneyRunsOut(t *testing.T, jump bool) {
	r := newRig(t)
	i := r.running("k", nil)
	if err := r.SetAccount(simulator.AccountPatch{BalanceKop: new(3 * i.Price.Running), CreditLimitKop: new(i.Price.Running / 2)}); err != nil {
		t.Fatal(err)
	}
	const hour = int64(time.Hour / time.Millisecond)
	at := i.StartedAt.Add(3*time.Hour + time.Duration((i.Price.Running/2*hour+i.Price.Running-1)/i.Price.Running)*time.Millisecond)
	if jump {
		r.Advance(24 * time.Hour)
	} else {
		r.Advance(at.Add(-time.Millisecond).Sub(r.Now()))
		if got := r.instance(i.ID); got.DesiredState != "running" {
			t.Fatalf("stopped too early: %+v", got)
		}
		r.Advance(time.Millisecond)
	}
	if got := r.instance(i.ID); got.DesiredState != "stopped" || *got.StopReason != "low_balance" {
		t.Fatalf("not stopped: %+v", got)
	}
	r.Advance(settled)
	if got := r.instance(i.ID); got.Status != "stopped" {
		t.Errorf("status %s", got.Status)
	}
	// Whoever is not looking finds the same story afterwards.
	var told struct{ Lines []string }
	r.do("GET", "/instances/"+i.ID+"/logs", nil).want(200).into(&told)
	stamp := at.UTC().Format("2006-01-02T15:04:05.000Z")
	if !slices.ContainsFunc(told.Lines, func(l string) bool { return strings.HasPrefix(l, stamp) && strings.Contains(l, "low_balance") }) {
		t.Errorf("no stop for money at %s in %q", stamp, told.Lines)
	}
	r.do("POST", "/instances/"+i.ID+"/start", nil).refused(402, "insufficient_funds")
	if err := r.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(1_000_000))}); err != nil {
		t.Fatal(err)
	}
	r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
}
