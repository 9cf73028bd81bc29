package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Four runs with one key, when somebody has just spent its limit: all of them come to
// their end, and all that they rented is in their states.
func TestAccOneKeyForFourRuns(t *testing.T) {
	t.Parallel()
	const runs, each = 4, 40
	for _, limiter := range []string{simulator.LimiterWindow, simulator.LimiterBucket} {
		t.Run(limiter, func(t *testing.T) {
			t.Parallel()
			// A minute of the service takes three seconds.
			env := acctest.Start(t, func(c *simulator.Config) {
				c.Clock, c.Step, c.TimeScale, c.MarketScale, c.Limiter = simulator.ClockReal, 0, 20, 4, limiter
			})
			if err := env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(900_000_000_000)), MaxInstances: new(int64(runs * each))}); err != nil {
				t.Fatal(err)
			}
			env.SetRateLimit(0, 0)
			var offers []string
			acctest.List(env, "offers?limit=200", func(o acctest.Offer) { offers = append(offers, o.ID) })
			env.SetRateLimit(120, 60)
			spend(t, env, 120)
			var all sync.WaitGroup
			for run := range runs {
				list, err := json.Marshal(offers[run*each : (run+1)*each])
				if err != nil {
					t.Fatal(err)
				}
				w := env.Workspace(fmt.Sprintf("provider \"gpurent\" {\n  poll_interval = \"250ms\"\n}\nlocals {\n  offers = %s\n}\n"+
					"resource \"gpurent_instance\" \"gpu\" {\n  count = %d\n  offer_id = local.offers[count.index]\n  template = \"ubuntu\"\n  disk_gb = 20\n}\n", list, each))
				all.Go(func() {
					if out, err := w.Try("apply", "-auto-approve", "-parallelism=50"); err != nil {
						t.Errorf("run %d: %v\n%s", run, err, out)
					}
					if out, err := w.Try("plan", "-detailed-exitcode"); err != nil {
						t.Errorf("run %d plans a change: %v\n%s", run, err, out)
					}
				})
			}
			all.Wait()
			env.SetRateLimit(0, 0)
			rented := acctest.List(env, "instances?limit=200", func(struct{}) {})
			refused := 0
			for _, r := range env.Requests() {
				if r.Status == http.StatusTooManyRequests {
					refused++
				}
			}
			t.Logf("%d servers, %d of %d requests refused", rented, refused, len(env.Requests()))
			if rented != runs*each {
				t.Errorf("%d servers are rented, want %d", rented, runs*each)
			}
		})
	}
}

// spend is somebody else who uses the key.
func spend(t *testing.T, env *acctest.Env, requests int) {
	t.Helper()
	for range requests {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, env.BaseURL+"/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+env.APIKey)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}
