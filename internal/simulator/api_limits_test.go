package simulator_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Chapter "Limits" without the bounds of fields.

// exhaustLimit sends requests up to the limit and checks the headers of each response. It returns the seconds until the
// limit is restored, which are at least 1.
func exhaustLimit(t *testing.T, limit int, ask func() response) (reset int) {
	t.Helper()
	for n := 1; n <= limit; n++ {
		a := ask()
		check(t, a.status != http.StatusTooManyRequests, "request %d of %d: 429", n, limit)
		equal(t, fmt.Sprintf("request %d: X-RateLimit-Limit", n), a.headerNumber("X-Ratelimit-Limit"), limit)
		equal(t, fmt.Sprintf("request %d: X-RateLimit-Remaining", n), a.headerNumber("X-Ratelimit-Remaining"), limit-n)
		check(t, a.headerNumber("X-Ratelimit-Reset") > 0, "request %d: X-RateLimit-Reset is 0", n)
	}
	a := ask()
	a.failsWith("rate_limited")
	equal(t, "X-RateLimit-Remaining of a 429", a.headerNumber("X-Ratelimit-Remaining"), 0)
	reset = a.headerNumber("X-Ratelimit-Reset")
	equal(t, "Retry-After", a.headerNumber("Retry-After"), reset)
	return reset
}

func TestLimit_PerKey(t *testing.T) {
	api := newFundedClient(t)
	api.control(http.MethodPost, "/reset", nil).want(http.StatusOK) // sets the default limits
	second, _ := api.newKey(scopes...)
	api.Advance(61 * time.Second)
	equal(t, "reset", exhaustLimit(t, 120, func() response { return api.get("/me") }), 60)
	// Each key has its own limit, and so does the address.
	api.withKey(second).get("/me").ok()
	api.withKey("").get("/gpus").ok()
	// A request over the limit has no effect.
	api.post("/ssh-keys", object{"public_key": publicKey(9)}).failsWith("rate_limited")
	equal(t, "SSH keys made beyond the limit", len(api.withKey(second).list("/ssh-keys")), 0)
	// The limit is restored a minute after the first request.
	api.Advance(20 * time.Second)
	equal(t, "Retry-After", api.get("/me").headerNumber("Retry-After"), 40)
	api.Advance(40 * time.Second)
	equal(t, "reset of the next minute", exhaustLimit(t, 120, func() response { return api.get("/me") }), 60)
}

func TestLimit_PerAddress(t *testing.T) {
	api := newFundedClient(t)
	api.control(http.MethodPost, "/reset", nil).want(http.StatusOK) // sets the default limits
	anonymous := api.withKey("")
	paths := []string{"/gpus", "/offers?limit=1", "/templates?limit=1", "/me", "/nothing"}
	n := 0
	exhaustLimit(t, 60, func() response { n++; return anonymous.get(paths[n%len(paths)]) })
	anonymous.post("/auth/device", object{}).failsWith("rate_limited")
	anonymous.withHeader("Authorization", "Bearer wrong").get("/gpus").failsWith("rate_limited")
	api.get("/me").ok()
	api.Advance(time.Minute)
	anonymous.get("/gpus").ok()
}

// With a fast clock, clients wait in real time.
func TestLimit_FastClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := uncheckedClient(t, simulator.Config{TimeScale: 60, APIKey: testKey})
		api.SetRateLimit(12, 6)
		equal(t, "reset", exhaustLimit(t, 12, func() response { return api.get("/gpus") }), 1)
	})
}
