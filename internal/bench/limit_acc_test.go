package main

import (
	"sync"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Four runs with one key, when somebody has just spent its limit: all of them come to
// their end, and all that they rented is in their states.
func TestAccOneKeyForFourRuns(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	const runs, each = 4, 40
	for _, limiter := range []string{simulator.LimiterWindow, simulator.LimiterBucket} {
		if limiter == simulator.LimiterBucket && !acctest.Whole() {
			continue // unit tests of the client cover both limiters
		}
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
			offers := rentable(env, runs*each)
			env.SetRateLimit(perKey, perAddress)
			for range perKey { // somebody else
				acctest.Fetch[struct{}](env, "me")
			}
			var all sync.WaitGroup
			for run := range runs {
				w := env.Workspace(servers("provider \"gpurent\" {\n  poll_interval = \"250ms\"\n}\n", "", offers[run*each:(run+1)*each]))
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
			made := count(env.Requests())
			t.Logf("%d servers, %d of %d requests refused", rented, made.Limited, made.All)
			if rented != runs*each {
				t.Errorf("%d servers are rented, want %d", rented, runs*each)
			}
		})
	}
}
