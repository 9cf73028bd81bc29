package simulator_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestLimiter_Window(t *testing.T) {
	r := newRig(t)
	r.SetRateLimit(3, 2)
	for range 3 {
		r.do("GET", "/gpus", nil).want(200)
	}
	r.Advance(20 * time.Second)
	a := r.do("GET", "/no/such/path", nil)
	a.refused(429, "rate_limited")
	if a.header.Get("Retry-After") != "40" || a.header.Get("X-RateLimit-Reset") != "40" {
		t.Errorf("headers %v", a.header)
	}
	r.Advance(40 * time.Second)
	r.do("GET", "/gpus", nil).want(200)
	// A request with an unknown key counts for the address.
	r.as("gpr_bad").do("GET", "/me", nil).want(401)
	r.as("").do("GET", "/gpus", nil).want(200)
	r.as("gpr_bad").do("GET", "/me", nil).want(429)
}

// A bucket allows the whole limit at once and refills evenly.
func TestLimiter_TokenBucket(t *testing.T) {
	r := newRig(t, func(c *simulator.Config) { c.Limiter = simulator.LimiterBucket })
	r.SetRateLimit(120, 60)
	for n := range 120 {
		a := r.do("GET", "/gpus", nil).want(200)
		if got, want := a.header.Get("X-RateLimit-Remaining"), fmt.Sprint(119-n); got != want {
			t.Fatalf("request %d: remaining %s, want %s", n, got, want)
		}
	}
	a := r.do("GET", "/gpus", nil)
	a.refused(429, "rate_limited")
	if a.header.Get("Retry-After") != "1" || a.header.Get("X-RateLimit-Reset") != "60" ||
		a.header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("headers %v", a.header)
	}
	r.Advance(3 * time.Second)
	for left := 5; left >= 0; left-- {
		a := r.do("GET", "/gpus", nil).want(200)
		if got := a.header.Get("X-RateLimit-Remaining"); got != fmt.Sprint(left) {
			t.Errorf("remaining %s, want %d", got, left)
		}
	}
	r.do("GET", "/gpus", nil).want(429)
	r.Advance(time.Minute)
	a = r.do("GET", "/gpus", nil).want(200)
	if a.header.Get("X-RateLimit-Remaining") != "119" || a.header.Get("X-RateLimit-Reset") != "1" {
		t.Errorf("a minute later: headers %v", a.header)
	}
}

func TestLimiter_ResetAsEpoch(t *testing.T) {
	r := newRig(t, func(c *simulator.Config) { c.RateReset = simulator.ResetEpoch })
	r.SetRateLimit(120, 60)
	a := r.do("GET", "/gpus", nil).want(200)
	date, err := time.Parse(time.RFC1123, a.header.Get("Date"))
	if err != nil {
		t.Fatal(err)
	}
	reset, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
	if ahead := reset - date.Unix(); err != nil || ahead < 59 || ahead > 61 {
		t.Errorf("X-RateLimit-Reset is %d s after Date, %v: want a minute", ahead, err)
	}
}

// Clients wait in real time.
func TestLimiter_ScaledTime(t *testing.T) {
	r := newRig(t, func(c *simulator.Config) { c.TimeScale, c.Clock = 60, simulator.ClockReal })
	r.SetRateLimit(1, 1)
	r.do("GET", "/gpus", nil).want(200)
	a := r.do("GET", "/gpus", nil)
	a.refused(429, "rate_limited")
	if a.header.Get("Retry-After") != "1" || a.header.Get("X-RateLimit-Reset") != "1" {
		t.Errorf("a minute that takes a second: headers %v", a.header)
	}
}

func TestConfig_UnknownLimiter(t *testing.T) {
	for _, config := range []simulator.Config{{Limiter: "leaky"}, {RateReset: "never"}} {
		if _, err := simulator.New(config); err == nil {
			t.Errorf("%+v was taken", config)
		}
	}
}
