package fleet_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/lifecycle"
	"github.com/gpurent/terraform-provider-gpurent/internal/quirks"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// The price of a planned member counts once in the burn limit, even after a wait for offers, and if the API bills the
// failed member that it replaces until that is destroyed.
func TestApply_BurnCountsOnce(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		offers := e.Offers()
		e.AddOffer(e.LimitOffers(1)[0], 3*time.Minute)
		two := spec(2)
		two.Offers.Wait = time.Hour
		limit := burnLimit(priceOf(offers[:2]...))
		e.want(e.engine(limit).Apply(t.Context(), two, nil, 2*time.Hour), 2)
	})
	run(t, simulator.Config{Hooks: quirks.New("failed-is-billed")}, func(t *testing.T, e *env) {
		first := e.create(spec(2))
		e.fail(first[0])
		e.taken(first...)
		limit := burnLimit(priceOf(e.Offers()[0]) + first[1].Instance.Price.RunningKopH)
		e.want(e.engine(limit).Apply(t.Context(), spec(2), e.read(first), time.Hour), 2)
	})
}

// The restart of an outbid member stays within the burn limit, even if the market price exceeds its old bid.
func TestApply_RestartWithinBurnLimit(t *testing.T) {
	for name, headroom := range map[string]int64{"within": 0, "above": -1} {
		subtest(t, name, simulator.Config{}, func(t *testing.T, e *env) {
			first := e.create(interruptible(2))
			outbid, other := first[0].Instance.Price, first[1].Instance.Price
			e.outbid(10, first[0])
			limit := other.RunningKopH + 10*outbid.RunningKopH + outbid.StoppedKopH + headroom
			result := e.engine(burnLimit(limit)).Apply(t.Context(), interruptible(2), e.read(first), time.Hour)
			burn, started := int64(0), len(result.Failures) == 0
			for _, inst := range e.Active() {
				burn += inst.BurnKopH()
			}
			if started != (headroom == 0) || burn > limit {
				t.Errorf("started %t, the account burns %d of %d: %s", started, burn, limit, describe(result))
			}
		})
	}
}

// A member stays if a limit does not allow its replacement. The plan did not find out: there were no offers.
func TestApply_LimitForbidsReplacement(t *testing.T) {
	run(t, simulator.Config{}, func(_ *testing.T, e *env) {
		train := interruptible(2)
		train.Target.OnOutbid, train.Offers.Wait = lifecycle.OutbidReplace, time.Hour
		first := e.create(train)
		e.outbid(20, first...)
		for _, id := range e.LimitOffers(0) {
			e.AddOffer(id, 5*time.Minute)
		}
		result := e.engine(burnLimit(200)).Apply(e.t.Context(), train, e.read(first), 2*time.Hour)
		e.wantLeft(result, 2, 2)
	})
}

// A replacement does not wait for the price that it has reserved itself: with the limit exceeded by others after the
// destruction, it fails at once. The failure names what was destroyed.
func TestApply_ReplacementDoesNotWaitForItself(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(1))
		e.Proxy.Set(deletes.Once().Do(simtest.Before(func(*http.Request) {
			for range 3 {
				e.Rent("other")
			}
		})))
		limit := burnLimit(2 * first[0].Instance.Price.RunningKopH)
		began := time.Now()
		result := e.engine(limit).Apply(t.Context(), rolling(1, 1), first, 30*time.Minute)
		if kinds(result)[0] != "AboveBurnLimit" || time.Since(began) > 5*time.Minute ||
			result.Failures[0].Replaced != first[0].Instance.ID {
			t.Errorf("after %s: %s", time.Since(began), describe(result))
		}
	})
}

// A list of offers that the plan has read some seconds before does not end an apply.
func TestApply_OldListOfOffers(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		withheld, engine := e.LimitOffers(0), e.engine()
		if choice := must(engine.Market.Estimate(t.Context(), spec(1).Demand(1, nil))); len(choice.Candidates) > 0 {
			t.Errorf("%+v", choice)
		}
		e.AddOffer(withheld[0], 0)
		time.Sleep(25 * time.Second)
		e.want(engine.Apply(t.Context(), spec(1), nil, time.Hour), 1)
	})
}

// A destruction takes a minute, during which the server is billed, and the account lags after it: the replacement has
// its room.
func TestApply_SlowDestructionMakesRoom(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		first := e.create(spec(1))
		old := first[0].Instance
		limit := old.Price.RunningKopH + priceOf(e.Offers()[0])*2/3
		var began time.Time
		within := func(d time.Duration) bool { return !began.IsZero() && time.Since(began) < d }
		destroying := func(inst map[string]any) {
			if inst["id"] == old.ID && within(time.Minute) {
				inst["status"] = "destroying"
			}
		}
		e.Proxy.Set(
			deletes.Once().Do(simtest.Before(func(*http.Request) { began = time.Now() })),
			simtest.Request("GET", "/balance").Do(simtest.Rewrite(func(b map[string]any) {
				if within(70 * time.Second) {
					b["burn_kop_h"] = old.Price.RunningKopH
				}
			})),
			simtest.Request("GET", "/instances.*").Do(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
				if within(time.Minute) {
					r.URL.RawQuery = "status=all"
				}
				simtest.RewriteItems(destroying)(w, r, api)
			}),
		)
		e.want(e.engine(burnLimit(limit)).Apply(t.Context(), rolling(1, 1), first, 30*time.Minute), 1)
	})
}
