package simulator_test

import (
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

// The limit is restored a minute after the first request. With a fast clock, clients wait in real time.
func TestLimiter(t *testing.T) {
	api := newClient(t)
	api.SetRateLimit(12, 6)
	equal(t, "limit of an address", api.withKey("").get("/gpus").header.Get("X-RateLimit-Limit"), "6")
	for _, step := range []struct {
		wait      time.Duration
		succeeded int
		headers   string
	}{{0, 12, "60 60"}, {20 * time.Second, 0, "40 40"}, {40 * time.Second, 12, "60 60"}} {
		api.Advance(step.wait)
		if n, headers := api.limited(); n != step.succeeded || headers != step.headers {
			t.Errorf("after %v: %d requests, headers %s, want %d, %s", step.wait, n, headers, step.succeeded, step.headers)
		}
	}
	fast := newClient(t, func(c *simulator.Config) { c.TimeScale, c.Clock = 60, simulator.ClockReal })
	fast.SetRateLimit(12, 6)
	n, headers := fast.limited()
	check(t, n == 12 && headers == "1 1", "with a fast clock: %d requests, headers %s", n, headers)
}
