package spending_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/spending"
)

var seeds = flag.Uint64("spending.seeds", 4, "run TestAccount_Random with this `number` of seeds")

// What this process rents and starts at the same time never exceeds the limit, whatever the API returns late or not at
// all.
func TestAccount_Random(t *testing.T) {
	for seed := range *seeds {
		config := simulator.Config{Seed: seed, MarketScale: 2, Hooks: quirks.New()}
		if seed%2 > 0 {
			config.Hooks = quirks.New("lagging-list", "lagging-get", "lagging-status", "status-after-work", "small-pages")
		}
		simtest.InBubble(t, config, func(t *testing.T, b *simtest.Bubble) {
			b.SetRateLimit(0, 0)
			b.SetAccount(simulator.AccountPatch{MaxInstances: new(int64(100)), BalanceKop: new(int64(1e9))})
			account := spending.NewAccount(burnLimit(1000), b.Client)
			var all sync.WaitGroup
			for n, offer := range b.Offers()[:12] {
				actor := &randomActor{Bubble: b, account: account, offer: offer.ID, kopH: 50 + int64(n)*37%200}
				actor.random = rand.New(rand.NewPCG(seed, uint64(n)))
				b.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: &actor.kopH})
				all.Go(func() { actor.act(t) })
			}
			all.Wait()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		})
	}
}

// randomActor rents an offer again and again, and stops, starts and destroys the instance at random times.
type randomActor struct {
	*simtest.Bubble
	account *spending.Account
	random  *rand.Rand
	offer   string
	kopH    int64
}

func (a *randomActor) sleep(most time.Duration) {
	time.Sleep(time.Duration(a.random.Int64N(int64(most))))
}

func (a *randomActor) act(t *testing.T) {
	for range 4 {
		a.sleep(20 * time.Second)
		var id string
		a.spend(t, "", func(ctx context.Context) (string, error) {
			order := rental.InstanceCreate{OfferID: a.offer, Template: "ubuntu", DiskGB: 10, Type: rental.OnDemand}
			key := fmt.Sprint(a.offer, "-", a.random.Uint64())
			inst, _, err := a.Client.CreateInstance(ctx, key, order)
			id = inst.ID
			return id, err
		})
		if id == "" {
			continue
		}
		a.sleep(time.Minute)
		if _, err := a.Client.StopInstance(t.Context(), id); err == nil {
			a.sleep(time.Minute)
			a.spend(t, id, func(ctx context.Context) (string, error) {
				_, err := a.Client.StartInstance(ctx, id)
				return id, err
			})
		}
		a.sleep(time.Minute)
		if _, err := a.Client.DeleteInstance(t.Context(), id); err == nil {
			a.account.Destroyed(id)
		}
	}
}

// spend rents or starts the instance if the limit allows it, and compares the cost of the account with the limit.
func (a *randomActor) spend(t *testing.T, id string, request func(context.Context) (string, error)) {
	_ = a.account.Spend(t.Context(), id, a.kopH, request) //nolint:errcheck // the limit or the API can refuse it
	var sum int64
	for _, i := range a.Overview().Instances {
		switch i.Status {
		case "destroying":
		case "stopped":
			sum += i.Price.StoppedKopH
		default:
			sum += i.Price.RunningKopH
		}
	}
	if sum > 1000 {
		t.Errorf("the account costs %d", sum)
	}
}
