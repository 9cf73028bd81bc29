package simulator_test

import (
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// TestClock_NeverOverflows moves clocks by extreme values. Time never goes back, stops at its end, and no request
// fails.
func TestClock_NeverOverflows(t *testing.T) {
	advance := func(d time.Duration) func(api *client) { return func(api *client) { api.Advance(d) } }
	seconds := func(number string, status int) func(api *client) {
		return func(api *client) {
			before := api.Now()
			a := api.control("POST", "/clock", `{"advance_seconds": `+number+`}`)
			a.request += " by " + number
			a.want(status)
			check(api.t, status == http.StatusOK || api.Now().Equal(before), "%s moved the clock", a.request)
		}
	}
	sleep := func(*client) { time.Sleep(5 * 365 * 24 * time.Hour) }
	moves := []func(api *client){
		advance(math.MinInt64), advance(-1), advance(0), advance(1), sleep, seconds("0.0000001", 200), seconds("-1", 422),
		seconds("-1e300", 422), seconds("1e300", 422), seconds("1e999", 422), seconds("9223372036854775807", 422),
		seconds("316224000.5", 422), seconds("316224000", 200), sleep, advance(100 * 365 * 24 * time.Hour),
		advance(math.MaxInt64), sleep, seconds("0", 200), advance(1),
	}
	manual := func(step time.Duration) simulator.Config {
		return simulator.Config{Clock: simulator.ClockManual, Step: step}
	}
	for _, config := range []simulator.Config{manual(0), manual(1), manual(10 * 365 * 24 * time.Hour), {TimeScale: 1},
		{TimeScale: 0.001}, {TimeScale: 1e6}, {TimeScale: 12345.678}} {
		config.APIKey, config.Market = testKey, simulator.MarketStill
		synctest.Test(t, func(t *testing.T) {
			api := uncheckedClient(t, config)
			api.SetRateLimit(1, 1)
			last := api.Now()
			for n, move := range moves {
				move(api)
				a := api.get("/me")
				check(t, a.status == http.StatusOK || a.status == http.StatusTooManyRequests, "move %d: %d", n, a.status)
				reset := a.headerNumber("X-Ratelimit-Reset")
				check(t, reset > 0 && reset <= 60_000, "move %d: X-RateLimit-Reset is %d", n, reset)
				now := api.Now()
				check(t, !now.Before(last), "move %d: the clock went from %v to %v", n, last, now)
				last = now
			}
			equal(t, "the time in the end", last, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))
		})
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
		check(t, good.Validate() == nil, "%+v: %v", good, good.Validate())
	}
	for _, bad := range []simulator.Config{{TimeScale: 0.0009}, {TimeScale: 1e6 + 1}, {TimeScale: math.NaN()},
		{TimeScale: -1}, {Boot: longestBoot + 1}, {Boot: -1}, step(longestStep + 1), step(-1), year(1969), year(2201),
		year(250_000), {Step: time.Second}, {Clock: simulator.ClockManual, TimeScale: 2}, {Clock: "sundial"},
		{Market: "frozen"}, {MarketScale: 1001}, {APIKey: "short"}} {
		check(t, bad.Validate() != nil, "%+v is accepted", bad)
	}
}

// An instance with the highest price is billed exactly for longer than 29 years, after which kopecks times milliseconds
// would overflow an int64.
func TestClock_LongRental(t *testing.T) {
	api := newClient(t)
	offer := api.instanceBody(nil).text("offer_id")
	api.setOffer(offer, object{"on_demand_kop_h": 10_000_000})
	api.setAccount(object{"balance_kop": int64(1_000_000_000_000)})
	api.get("/offers/" + offer).want(200) // shows the new price
	i := api.runningInstance(object{"offer_id": offer, "disk_gb": 20})
	const years, hours = 4, 10 * 365 * 24
	for range years {
		api.Advance(hours * time.Hour)
		api.setAccount(object{"balance_kop": int64(1_000_000_000_000)})
	}
	got := api.instance(i.text("id"))
	equal(t, "status", got.text("status"), "running")
	equal(t, "cost", got.integer("cost_so_far_kop"),
		i.integer("cost_so_far_kop")+years*hours*i.integer("price.running_kop_h"))
}
