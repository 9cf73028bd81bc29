package simulator_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// Chapter "Limits" without the bounds of fields.

// exhaustLimit sends requests up to the limit and checks the headers of each response.
func exhaustLimit(t *testing.T, limit int, ask func() response) {
	t.Helper()
	for n := 1; n <= limit; n++ {
		a := ask()
		check(t, a.status != http.StatusTooManyRequests, "request %d of %d: 429", n, limit)
		equal(t, fmt.Sprintf("request %d: X-RateLimit-Limit", n), a.headerNumber("X-Ratelimit-Limit"), limit)
		equal(t, fmt.Sprintf("request %d: X-RateLimit-Remaining", n), a.headerNumber("X-Ratelimit-Remaining"), limit-n)
		check(t, a.headerNumber("X-Ratelimit-Reset") > 0, "request %d: X-RateLimit-Reset is 0", n)
	}
	for range 3 {
		a := ask()
		a.failsWith("rate_limited")
		equal(t, "X-RateLimit-Remaining of a 429", a.headerNumber("X-Ratelimit-Remaining"), 0)
		wait := a.headerNumber("Retry-After")
		check(t, wait > 0 && wait <= 60, "Retry-After %d", wait)
	}
}

func TestLimit_PerKey(t *testing.T) {
	api := newFundedClient(t)
	api.control(http.MethodPost, "/reset", nil).want(http.StatusOK) // sets the default limits
	second, _ := api.newKey(scopes...)
	api.Advance(61 * time.Second)
	exhaustLimit(t, 120, func() response { return api.get("/me") })
	// Each key has its own limit, and so does the address.
	api.withKey(second).get("/me").ok()
	api.withKey("").get("/gpus").ok()
	// A request over the limit has no effect.
	api.post("/ssh-keys", object{"public_key": publicKey(9)}).failsWith("rate_limited")
	equal(t, "SSH keys made beyond the limit", len(api.withKey(second).list("/ssh-keys")), 0)
	// After Retry-After, a request succeeds.
	api.Advance(time.Duration(api.get("/me").headerNumber("Retry-After")) * time.Second)
	api.get("/me").ok()
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
