package conformance

import (
	"fmt"
	"net/http"
	"testing"
)

// The document's chapter "Limits"; the bounds of fields are judged with their operations.

// counted makes the requests of a limit, and holds each one's headers against the count.
func counted(t *testing.T, limit int, ask func() answer) {
	t.Helper()
	for n := 1; n <= limit; n++ {
		a := ask()
		check(t, a.status != http.StatusTooManyRequests, "request %d of %d: 429", n, limit)
		equal(t, fmt.Sprintf("request %d: X-RateLimit-Limit", n), a.number("X-Ratelimit-Limit"), limit)
		equal(t, fmt.Sprintf("request %d: X-RateLimit-Remaining", n), a.number("X-Ratelimit-Remaining"), limit-n)
		check(t, a.number("X-Ratelimit-Reset") > 0, "request %d: X-RateLimit-Reset is 0", n)
	}
	for range 3 {
		a := ask()
		a.fails("rate_limited")
		equal(t, "X-RateLimit-Remaining of a 429", a.number("X-Ratelimit-Remaining"), 0)
		wait := a.number("Retry-After")
		check(t, wait > 0 && wait <= 60, "Retry-After %d", wait)
	}
}

func TestLimitPerKey(t *testing.T) {
	s := untouched(t)
	second, _ := s.newKey(scopes...)
	s.advance(61)
	counted(t, 120, func() answer { return s.get("/me") })
	// Every key has a budget of its own, and so has the address.
	s.as(second).get("/me").ok()
	s.as("").get("/gpus").ok()
	// What is refused has not happened.
	s.post("/ssh-keys", object{"public_key": publicKey(9)}).fails("rate_limited")
	equal(t, "SSH keys made beyond the limit", len(s.as(second).list("/ssh-keys")), 0)
	// Whoever waits as long as was asked for may go on.
	wait := s.get("/me").number("Retry-After")
	s.advance(float64(wait))
	a := s.get("/me")
	a.ok()
	check(t, a.number("X-Ratelimit-Remaining") > 0, "after the wait %d requests are left",
		a.number("X-Ratelimit-Remaining"))
}

func TestLimitPerAddress(t *testing.T) {
	s := untouched(t)
	bare := s.as("")
	paths := []string{"/gpus", "/offers?limit=1", "/templates?limit=1", "/me", "/nothing"}
	n := 0
	counted(t, 60, func() answer { n++; return bare.get(paths[n%len(paths)]) })
	bare.post("/auth/device", object{}).fails("rate_limited")
	bare.with("Authorization", "Bearer wrong").get("/gpus").fails("rate_limited")
	s.get("/me").ok()
	s.advance(60)
	bare.get("/gpus").ok()
}

func TestLimitOfInstances(t *testing.T) {
	s := start(t)
	s.account(object{"max_instances": 2})
	first := text(s.rent(nil), "id")
	s.rent(nil)
	s.order(fresh("key"), s.ready()).fails("conflict")
	s.delete("/instances/" + first).ok()
	s.settle(first, "destroyed")
	s.rent(nil)
	s.order(fresh("key"), s.ready()).fails("conflict")
}
