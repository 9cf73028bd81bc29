package simulator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// limited sends GET requests until one is refused, and returns how many succeeded and the seconds to wait: Retry-After
// and X-RateLimit-Reset.
func (api *client) limited() (succeeded int, wait string) {
	api.t.Helper()
	for {
		a := api.get("/gpus")
		if a.status != 200 {
			a.failsWith("rate_limited")
			return succeeded, a.header.Get("Retry-After") + " " + a.header.Get("X-RateLimit-Reset")
		}
		succeeded++
	}
}

// A window restores the limit a minute after its first request. A bucket restores it evenly. With a fast clock, clients
// wait in real time.
func TestLimiter_Kinds(t *testing.T) {
	type step struct {
		wait      time.Duration
		succeeded int
		headers   string
	}
	for name, c := range map[string]struct {
		config func(*simulator.Config)
		steps  []step
	}{
		"window": {func(*simulator.Config) {}, []step{{0, 12, "60 60"}, {20 * time.Second, 0, "40 40"},
			{40 * time.Second, 12, "60 60"}}},
		"bucket": {func(c *simulator.Config) { c.Limiter = simulator.LimiterBucket }, []step{{0, 12, "5 60"},
			{15 * time.Second, 3, "5 60"}, {time.Minute, 12, "5 60"}}},
		"fast clock": {func(c *simulator.Config) { c.TimeScale, c.Clock = 60, simulator.ClockReal }, []step{{0, 12, "1 1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			api := newClient(t, c.config)
			api.SetRateLimit(12, 6)
			equal(t, "limit of an address", api.withKey("").get("/gpus").header.Get("X-RateLimit-Limit"), "6")
			for _, s := range c.steps {
				api.Advance(s.wait)
				if n, headers := api.limited(); n != s.succeeded || headers != s.headers {
					t.Errorf("after %v: %d requests, headers %s, want %d, %s", s.wait, n, headers, s.succeeded, s.headers)
				}
			}
		})
	}
}

func TestLimiter_ResetAsEpoch(t *testing.T) {
	api := newClient(t, func(c *simulator.Config) { c.RateReset = simulator.ResetEpoch })
	api.SetRateLimit(120, 60)
	now := api.Now()
	reset := api.get("/gpus").want(200).header.Get("X-RateLimit-Reset")
	if want := fmt.Sprint(now.Add(time.Minute).Unix()); reset != want {
		t.Errorf("X-RateLimit-Reset %s, want %s", reset, want)
	}
}
