package simulator_test

import (
	"math"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// clockEnd is the documented end of simulated time.
var clockEnd = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// TestClock_NeverOverflows moves clocks by extreme values. Time never goes back, never passes its end, and no request
// fails.
func TestClock_NeverOverflows(t *testing.T) {
	advance := func(d time.Duration) func(api *client) { return func(api *client) { api.Advance(d) } }
	seconds := func(number string, status int) func(api *client) {
		return func(api *client) {
			before := api.Now()
			a := api.control("POST", "/clock", `{"advance_seconds": `+number+`}`)
			if a.status != status && a.status != http.StatusUnprocessableEntity {
				api.t.Errorf("%s: %d %s", number, a.status, a.body)
			}
			if a.status == http.StatusUnprocessableEntity && !api.Now().Equal(before) {
				api.t.Errorf("%s was refused and moved the clock from %v to %v", number, before, api.Now())
			}
		}
	}
	sleep := func(api *client) { time.Sleep(5 * 365 * 24 * time.Hour) }
	moves := []func(api *client){
		advance(math.MinInt64), advance(-1), advance(0), advance(1), sleep, seconds("0.0000001", 200), seconds("-1", 422),
		seconds("-1e300", 422), seconds("1e300", 422), seconds("1e999", 422), seconds("9223372036854775807", 422),
		seconds("316224000.5", 422), seconds("316224000", 200), sleep, advance(100 * 365 * 24 * time.Hour),
		seconds("316224000", 200), advance(math.MaxInt64), sleep, seconds("0", 200), advance(math.MaxInt64), advance(1),
	}
	manual := func(step time.Duration) simulator.Config {
		return simulator.Config{Clock: simulator.ClockManual, Step: step}
	}
	for _, config := range []simulator.Config{manual(0), manual(1), manual(10 * 365 * 24 * time.Hour), {TimeScale: 1},
		{TimeScale: 0.001}, {TimeScale: 1e6}, {TimeScale: 12345.678}} {
		config.APIKey, config.Market = testKey, simulator.MarketStill
		synctest.Test(t, func(t *testing.T) { moveClock(t, uncheckedClient(t, config), moves) })
	}
}

func moveClock(t *testing.T, api *client, moves []func(api *client)) {
	api.SetRateLimit(1, 1)
	last := api.Now()
	for n, move := range moves {
		move(api)
		a := api.get("/me")
		if a.status != http.StatusOK && a.status != http.StatusTooManyRequests {
			t.Errorf("move %d: GET /me: %d %s", n, a.status, a.body)
		}
		reset, err := strconv.Atoi(a.header.Get("X-RateLimit-Reset"))
		if err != nil || reset < 1 || reset > 60_000 {
			t.Errorf("move %d: X-RateLimit-Reset is %d, %v", n, reset, err)
		}
		now := api.Now()
		if now.Before(last) || now.After(clockEnd) {
			t.Errorf("move %d: the clock went from %v to %v", n, last, now)
		}
		last = now
	}
}

// The clock stops at its end.
func TestClock_AdvancePastEnd(t *testing.T) {
	api := newClient(t)
	api.Advance(clockEnd.Sub(api.Now()) - 90*time.Second)
	now := api.control("POST", "/clock", object{"advance_seconds": 91}).ok().time("now")
	equal(t, "now", now, clockEnd)
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
		{Market: "frozen"}, {MarketScale: 1001}, {APIKey: "short"}} {
		if err := bad.Validate(); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// An instance with the highest price is billed exactly for longer than 29 years, after which kopecks times milliseconds
// would overflow an int64.
func TestClock_LongRental(t *testing.T) {
	api := newClient(t)
	offer := api.instanceBody(nil)["offer_id"].(string)
	api.setOffer(offer, object{"on_demand_kop_h": 10_000_000})
	money := func() { api.setAccount(object{"balance_kop": int64(1_000_000_000_000)}) }
	money()
	api.get("/offers/" + offer).want(200) // shows the new price
	i := api.runningInstance(object{"offer_id": offer, "disk_gb": 20})
	const years, hours = 4, 10 * 365 * 24
	for range years {
		api.Advance(hours * time.Hour)
		money()
	}
	got := api.instance(i.text("id"))
	equal(t, "status", got.text("status"), "running")
	equal(t, "cost", got.integer("cost_so_far_kop"),
		i.integer("cost_so_far_kop")+years*hours*i.integer("price.running_kop_h"))
}
