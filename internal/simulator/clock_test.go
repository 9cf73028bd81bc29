package simulator_test

import (
	"fmt"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// clockEnd is the documented end of simulated time.
var clockEnd = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// clockMove moves the clock in one of three ways.
type clockMove struct {
	advance time.Duration // Advance
	seconds string        // POST /control/clock, as a JSON number
	sleep   time.Duration // real time
}

func drawClockMove(rt *rapid.T) clockMove {
	switch rapid.IntRange(0, 2).Draw(rt, "move") {
	case 0:
		return clockMove{advance: rapid.OneOf(
			rapid.Just[time.Duration](math.MaxInt64),
			rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) }),
		).Draw(rt, "advance")}
	case 1:
		return clockMove{seconds: rapid.OneOf(
			rapid.SampledFrom([]string{"0", "316224000", "316224000.5", "1e300", "1e999", "-1", "-1e300", "0.0000001",
				"9223372036854775807"}),
			rapid.Map(rapid.Float64Range(0, 316_224_000), func(s float64) string { return fmt.Sprint(s) }),
		).Draw(rt, "seconds")}
	}
	return clockMove{sleep: time.Duration(rapid.Int64Range(0, int64(5*365*24*time.Hour)).Draw(rt, "sleep"))}
}

// TestClock_NeverOverflows moves clocks by any values. Time never goes back, never passes its end, and no request
// fails.
func TestClock_NeverOverflows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		config := simulator.Config{APIKey: testKey, Market: simulator.MarketStill}
		if rapid.Bool().Draw(rt, "manual") {
			config.Clock = simulator.ClockManual
			config.Step = rapid.SampledFrom([]time.Duration{0, time.Nanosecond, 10 * 365 * 24 * time.Hour,
				math.MaxInt64}).Draw(rt, "step")
		} else {
			config.TimeScale = rapid.OneOf(
				rapid.SampledFrom([]float64{1, 0.001, 1e6, math.MaxFloat64, math.SmallestNonzeroFloat64}),
				rapid.Float64Range(0, 1e6),
			).Draw(rt, "scale")
		}
		moves := rapid.SliceOfN(rapid.Custom(drawClockMove), 1, 12).Draw(rt, "moves")
		var problem string
		synctest.Test(t, func(t *testing.T) { problem = moveClock(t, config, moves) })
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}

// moveClock returns a description of the first problem, "" for none.
func moveClock(t *testing.T, config simulator.Config, moves []clockMove) string {
	sim, err := simulator.New(config)
	if err != nil {
		return "" // refused with an error
	}
	sim.SetRateLimit(1, 1)
	r := &rig{Simulator: sim, t: t, key: testKey, header: http.Header{}}
	last := sim.Now()
	for n, move := range moves {
		before := sim.Now()
		switch {
		case move.seconds != "":
			a := r.control("POST", "/clock", `{"advance_seconds": `+move.seconds+`}`)
			if a.status != http.StatusOK && a.status != http.StatusUnprocessableEntity {
				return fmt.Sprintf("move %d: %+v: %d %s", n, move, a.status, a.raw)
			}
			if a.status == http.StatusUnprocessableEntity && !sim.Now().Equal(before) {
				return fmt.Sprintf("move %d: %+v was refused and moved the clock from %v to %v", n, move, before,
					sim.Now())
			}
		case move.sleep > 0:
			time.Sleep(move.sleep)
		default:
			sim.Advance(move.advance)
		}
		a := r.do("GET", "/me", nil)
		if a.status != http.StatusOK && a.status != http.StatusTooManyRequests {
			return fmt.Sprintf("move %d: %+v: GET /me: %d %s", n, move, a.status, a.raw)
		}
		for _, name := range []string{"Retry-After", "X-RateLimit-Reset"} {
			var seconds int64
			if value := a.header.Get(name); value != "" {
				if _, err := fmt.Sscan(value, &seconds); err != nil || seconds < 1 || seconds > 60_000 {
					return fmt.Sprintf("move %d: %+v: %s is %q", n, move, name, value)
				}
			}
		}
		if now := sim.Now(); now.Before(last) || now.After(clockEnd) {
			return fmt.Sprintf("move %d: %+v: the clock went from %v to %v", n, move, last, now)
		}
		last = sim.Now()
	}
	return ""
}

// A request to move the clock past its end is refused with the remaining time.
func TestClock_AdvancePastEnd(t *testing.T) {
	r := newRig(t)
	r.Advance(clockEnd.Sub(r.Now()) - 90*time.Second)
	a := r.with("Accept-Language", "en").control("POST", "/clock", m{"advance_seconds": 91})
	p := a.refused(http.StatusUnprocessableEntity, "validation_error")
	want := "simulated time ends at 2200-01-01T00:00:00Z, and 90 seconds are left"
	if got := p.Error.Details.Issues; len(got) != 1 || got[0].Field != "advance_seconds" || got[0].Message != want {
		t.Errorf("issues %+v, want %q", got, want)
	}
	r.control("POST", "/clock", m{"advance_seconds": 90}).want(http.StatusOK)
	r.control("POST", "/clock", m{"advance_seconds": 0}).want(http.StatusOK)
	if now := r.Advance(time.Hour); !now.Equal(clockEnd) {
		t.Errorf("it is %v, want %v", now, clockEnd)
	}
}

func TestConfig_Bounds(t *testing.T) {
	year := func(y int) simulator.Config {
		return simulator.Config{Clock: simulator.ClockManual, Start: time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)}
	}
	step := func(d time.Duration) simulator.Config { return simulator.Config{Clock: simulator.ClockManual, Step: d} }
	const longestBoot, longestStep = 365 * 24 * time.Hour, 3660 * 24 * time.Hour
	for _, good := range []simulator.Config{{}, {TimeScale: 0.001}, {TimeScale: 1e6}, {Boot: longestBoot},
		step(longestStep), year(1970), year(2200)} {
		if err := good.Validate(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	for _, bad := range []simulator.Config{{TimeScale: 0.0009}, {TimeScale: 1e6 + 1}, {TimeScale: math.NaN()},
		{TimeScale: -1}, {Boot: longestBoot + 1}, {Boot: -1}, step(longestStep + 1), step(-1), year(1969), year(2201),
		year(250_000), {Step: time.Second}, {Clock: simulator.ClockManual, TimeScale: 2}, {Clock: "sundial"},
		{Market: "frozen"}, {Limiter: "leaky"}, {RateReset: "never"}, {MarketScale: 1001}, {APIKey: "short"}} {
		if err := bad.Validate(); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// An instance with the highest price is billed exactly for longer than 29 years, after which kopecks times milliseconds
// would overflow an int64.
func TestClock_LongRental(t *testing.T) {
	r := newRig(t)
	o := r.cheapest()[0]
	r.control("PATCH", "/offers/"+o.ID, m{"on_demand_kop_h": 10_000_000}).want(200)
	money := func() { r.control("PATCH", "/account", m{"balance_kop": 1_000_000_000_000}).want(200) }
	money()
	r.do("GET", "/offers/"+o.ID, nil).want(200) // shows the new price
	i := r.running("k", m{"offer_id": o.ID, "disk_gb": 20})
	before := r.instance(i.ID).Cost
	const years, hours = 4, 10 * 365 * 24
	for range years {
		r.Advance(hours * time.Hour)
		money()
	}
	got := r.instance(i.ID)
	if want := before + years*hours*i.Price.Running; got.Status != "running" || got.Cost != want {
		t.Errorf("%s, and costs %d kopecks, want %d", got.Status, got.Cost, want)
	}
}
