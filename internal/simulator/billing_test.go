package simulator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// TestBilling_FractionsAddUp stops and starts an instance so often that rounding after each change would show.
func TestBilling_FractionsAddUp(t *testing.T) {
	r := newRig(t)
	i := r.running("k", m{"disk_gb": 100}) // has been running for one boot time
	const cycles = 40
	for range cycles {
		r.do("POST", "/instances/"+i.ID+"/stop", nil).want(200)
		r.Advance(boot)
		r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
		r.Advance(bootComplete)
	}
	// A stop is billed as running until the status is stopped, after 24% of the boot time; a start is billed as stopped
	// until the status is running.
	lag := boot * 24 / 100
	running := boot + cycles*(lag+boot)
	stopped := cycles * (2*boot - lag)
	want := (i.Price.Running*running.Milliseconds() + i.Price.Stopped*stopped.Milliseconds()) / time.Hour.Milliseconds()
	if got := r.instance(i.ID).Cost; got != want {
		t.Errorf("cost %d, want %d", got, want)
	}
}

func TestBilling_FundsExhausted(t *testing.T) {
	t.Run("step by step", func(t *testing.T) { fundsExhausted(t, false) })
	t.Run("in one step", func(t *testing.T) { fundsExhausted(t, true) })
}

func fundsExhausted(t *testing.T, oneStep bool) {
	r := newRig(t)
	i := r.running("k", nil)
	patch := simulator.AccountPatch{BalanceKop: new(3 * i.Price.Running), CreditLimitKop: new(i.Price.Running / 2)}
	if err := r.SetAccount(patch); err != nil {
		t.Fatal(err)
	}
	const hour = int64(time.Hour / time.Millisecond)
	at := i.StartedAt.Add(3*time.Hour +
		time.Duration((i.Price.Running/2*hour+i.Price.Running-1)/i.Price.Running)*time.Millisecond)
	if oneStep {
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
	r.Advance(bootComplete)
	if got := r.instance(i.ID); got.Status != "stopped" {
		t.Errorf("status %s", got.Status)
	}
	var logs struct{ Lines []string }
	r.do("GET", "/instances/"+i.ID+"/logs", nil).want(200).into(&logs)
	stamp := at.UTC().Format("2006-01-02T15:04:05.000Z")
	if !slices.ContainsFunc(logs.Lines, func(l string) bool {
		return strings.HasPrefix(l, stamp) &&
			strings.Contains(l, "low_balance")
	}) {
		t.Errorf("no stop with low_balance at %s in %q", stamp, logs.Lines)
	}
	r.do("POST", "/instances/"+i.ID+"/start", nil).refused(402, "insufficient_funds")
	if err := r.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(1_000_000))}); err != nil {
		t.Fatal(err)
	}
	r.do("POST", "/instances/"+i.ID+"/start", nil).want(200)
}
