package simulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

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
	price := newRig(t).running("k", nil).Price.Running // the same in the market of one seed
	r := newRig(t)
	if err := r.SetAccount(simulator.AccountPatch{BalanceKop: new(3 * price), CreditLimitKop: new(price / 2)}); err != nil {
		t.Fatal(err)
	}
	i := r.running("k", nil)
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

// TestLedger drives random histories through two simulators, one of which is looked at more often. The ledger always
// sums to the balance, every kopeck of usage belongs to a server, and looking changes nothing.
func TestLedger(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		start := func(c *simulator.Config) {
			c.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			c.Wrap = nil // the contract is checked elsewhere, and checking takes most of the time
		}
		often, seldom := newRig(t, start), newRig(t, start)
		both := func(do func(r *rig)) { do(often); do(seldom) }
		var ids, rented []string
		rt.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { checkLedger(rt, often) },
			"rent": func(rt *rapid.T) {
				open := seldom.cheapest()
				if len(open) == 0 {
					return
				}
				o := rapid.SampledFrom(open).Draw(rt, "offer")
				body := m{
					"offer_id": o.ID, "disk_gb": rapid.IntRange(20, 150).Draw(rt, "disk"),
					"type": rapid.SampledFrom([]string{"on_demand", "interruptible"}).Draw(rt, "type"),
				}
				key := fmt.Sprint("key", len(ids))
				often.rent(key, body)
				if a := seldom.rent(key, body); a.status == 201 {
					var i instance
					a.into(&i)
					ids, rented = append(ids, i.ID), append(rented, o.ID)
				}
			},
			"act": func(rt *rapid.T) {
				if len(ids) == 0 {
					return
				}
				id := rapid.SampledFrom(ids).Draw(rt, "instance")
				switch rapid.IntRange(0, 4).Draw(rt, "action") {
				case 0, 1:
					both(func(r *rig) { r.do("POST", "/instances/"+id+"/start", nil) })
				case 2, 3:
					both(func(r *rig) { r.do("POST", "/instances/"+id+"/stop", nil) })
				default:
					both(func(r *rig) { r.do("DELETE", "/instances/"+id, nil) })
				}
			},
			"market": func(rt *rapid.T) {
				if len(rented) == 0 {
					return
				}
				id := rapid.SampledFrom(rented).Draw(rt, "offer")
				price := rapid.Int64Range(1000, 9000).Draw(rt, "price")
				both(func(r *rig) {
					if err := r.SetOffer(id, simulator.OfferPatch{InterruptibleKopH: &price}); err != nil {
						rt.Fatal(err)
					}
				})
			},
			"money": func(rt *rapid.T) {
				kop := rapid.Int64Range(-1000, 60_000).Draw(rt, "kop")
				both(func(r *rig) {
					if err := r.SetAccount(simulator.AccountPatch{BalanceKop: &kop}); err != nil {
						rt.Fatal(err)
					}
				})
			},
			"wait": func(rt *rapid.T) {
				d := time.Duration(rapid.Int64Range(1, int64(5*time.Hour/time.Millisecond)).Draw(rt, "ms")) * time.Millisecond
				seldom.Advance(d)
				for left := d; left > 0; {
					part := min(left, max((d/3).Truncate(time.Millisecond), time.Millisecond))
					often.Advance(part)
					checkLedger(rt, often)
					left -= part
				}
			},
		})
		paths := []string{"/balance", "/transactions?limit=200", "/instances?status=all&limit=200"}
		for _, id := range ids {
			paths = append(paths, "/instances/"+id+"/logs?tail=1000")
		}
		for _, path := range paths {
			if a, b := often.do("GET", path, nil), seldom.do("GET", path, nil); string(a.raw) != string(b.raw) {
				rt.Fatalf("%s depends on how often it is read:\n%s\n%s", path, a.raw, b.raw)
			}
		}
	})
}

func checkLedger(t interface{ Fatalf(string, ...any) }, r *rig) {
	b := r.balance()
	entries := list[transaction](r, "/transactions", 200)
	instances := list[instance](r, "/instances?status=all", 200)
	var sum, used, cost, burn int64
	for _, e := range entries {
		sum += e.Amount
		if e.Type == "usage" {
			used -= e.Amount
		}
	}
	for _, i := range instances {
		cost += i.Cost
		switch i.Status {
		case "running", "stopping":
			burn += i.Price.Running
		case "stopped", "outbid":
			burn += i.Price.Stopped
		}
	}
	if sum != b.Balance {
		t.Fatalf("the ledger sums to %d, the balance is %d", sum, b.Balance)
	}
	if b.Available != b.Balance-(cost-used) {
		t.Fatalf("available %d, want %d less %d accrued and not posted", b.Available, b.Balance, cost-used)
	}
	if b.Burn < burn {
		t.Fatalf("burn %d, the servers cost %d", b.Burn, burn)
	}
	if !slices.IsSortedFunc(entries, func(a, b transaction) int { return b.At.Compare(a.At) }) {
		t.Fatalf("the ledger is not newest first")
	}
}
