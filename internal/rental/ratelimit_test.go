package rental

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// limitKind is how a limitedAPI counts requests and reports the rate limit.
type limitKind struct {
	bucket bool // token bucket; else a fixed window that starts with a request
	epoch  bool // X-RateLimit-Reset is a time since 1970, and Retry-After a date, of a clock that is slow; else seconds
}

// limitedAPI is a script that only applies a rate limit.
type limitedAPI struct {
	limitKind
	latency time.Duration // on average

	mu      sync.Mutex
	began   time.Time     // of the window; of debt for a bucket
	debt    time.Duration // time until the bucket is full
	used    int           // requests in the window
	served  int
	refused int
}

func (l *limitedAPI) answer(*http.Request, int) reply {
	time.Sleep(rand.N(l.latency + 1))
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now().UTC()
	allowed, remaining, full, next := l.count(now)
	reset, retryAfter := strconv.Itoa(int(full.Seconds())), strconv.Itoa(int(next.Seconds()))
	if l.epoch {
		now = now.Add(-time.Hour)
		reset = strconv.FormatInt(now.Add(full).Unix()+1, 10)
		retryAfter = now.Add(next + time.Second).Format(http.TimeFormat)
	}
	answer := ok(`{"id":"x"}`)
	if allowed {
		l.served++
	} else {
		l.refused++
		answer = rateLimited(retryAfter)
	}
	answer.header += fmt.Sprintf("\nX-RateLimit-Limit: %d\nX-RateLimit-Remaining: %d\nX-RateLimit-Reset: %s\nDate: %s",
		limitPerKey, remaining, reset, now.Format(http.TimeFormat))
	answer.after = rand.N(l.latency + 1)
	return answer
}

// count counts a request. It returns whether the limit allows it, how many requests remain, and the time until all
// requests and the next request are available.
func (l *limitedAPI) count(now time.Time) (allowed bool, remaining int, full, next time.Duration) {
	const perToken = time.Minute / limitPerKey
	if l.bucket {
		l.debt, l.began = max(l.debt-now.Sub(l.began), 0), now
		if allowed = l.debt <= time.Minute-perToken; allowed {
			l.debt += perToken
		}
		return allowed, int((time.Minute - l.debt) / perToken), l.debt, max(l.debt-(time.Minute-perToken), 0)
	}
	if now.Sub(l.began) >= time.Minute {
		l.began, l.used = now, 0
	}
	if allowed = l.used < limitPerKey; allowed {
		l.used++
	}
	full = l.began.Add(time.Minute).Sub(now)
	return allowed, limitPerKey - l.used, full, full
}

func (l *limitedAPI) client(t *testing.T) *Client {
	return newTestClient(t, &script{answer: l.answer}, defaultPauses)
}

// send sends reads one after the other in each of this many goroutines.
func send(t *testing.T, client *Client, parallel, requests int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var all sync.WaitGroup
	for i := range parallel {
		all.Go(func() {
			for n := i; n < requests; n += parallel {
				if _, err := client.GetMe(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// For every kind of rate limit, alone, with other processes, or after others have used it up: no request fails, one
// process is hardly refused, and the limit is used.
func TestRateLimit_Grid(t *testing.T) {
	for _, kind := range []limitKind{{}, {epoch: true}, {bucket: true}} {
		for _, processes := range []int{1, 4} {
			for _, spent := range []int{0, limitPerKey} {
				synctest.Test(t, func(t *testing.T) {
					testRateLimit(t, kind, 1, 50*time.Millisecond, processes, spent)
					testRateLimit(t, kind, 50, 50*time.Millisecond, processes, spent)
					testRateLimit(t, kind, 50, time.Second, processes, spent)
				})
			}
		}
	}
}

func testRateLimit(t *testing.T, kind limitKind, parallel int, latency time.Duration, processes, spent int) {
	const requests = 260
	l := &limitedAPI{limitKind: kind, latency: latency}
	for range spent {
		l.count(time.Now())
	}
	start := time.Now()
	var all sync.WaitGroup
	for range processes {
		all.Go(func() { send(t, l.client(t), parallel, requests/processes) })
	}
	all.Wait()
	took := time.Since(start)
	byLimit := time.Duration((requests+spent)/limitPerKey) * time.Minute
	byLatency := time.Duration(requests/processes/parallel) * latency
	atMost := byLimit + byLatency*11/10 + 20*time.Second + 10*latency
	if l.served != requests || took > atMost || processes == 1 && l.refused > 20 || l.refused > requests {
		t.Errorf("%+v, parallel %d, latency %s, processes %d, spent %d: %d of %d served in %s, at most %s; %d refused",
			kind, parallel, latency, processes, spent, l.served, requests, took, atMost, l.refused)
	}
}

// A run with few requests gets through beside a run that always has many, and a write beside reads of the same process.
func TestRateLimit_StarvesNoOne(t *testing.T) {
	for name, shared := range map[string]bool{"one process": true, "two processes": false} {
		synctest.Test(t, func(t *testing.T) {
			l := &limitedAPI{latency: 50 * time.Millisecond}
			busy := l.client(t)
			other := busy
			if !shared {
				other = l.client(t)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var reads sync.WaitGroup
			for range 50 {
				reads.Go(func() {
					for ctx.Err() == nil {
						if _, err := busy.GetMe(ctx); err != nil && ctx.Err() == nil {
							t.Error(err)
						}
					}
				})
			}
			for range 20 {
				start := time.Now()
				if _, err := other.StartInstance(t.Context(), "x"); err != nil || time.Since(start) > 3*time.Minute {
					t.Errorf("%s: a write took %s: %v", name, time.Since(start), err)
				}
			}
			cancel()
			reads.Wait()
		})
	}
}

// Without rate-limit headers only the first requests are limited. They do not block the others if they hang.
func TestRateLimit_NoHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 100
		s := &script{answer: func(_ *http.Request, n int) reply {
			if n < initialRequests {
				return hangs
			}
			return ok(userJSON)
		}}
		client := newTestClient(t, s, retries(-1), requestTimeout(5*time.Second))
		for range calls {
			go getMe(t, client) //nolint:errcheck // only the time of the request counts
		}
		time.Sleep(2 * time.Second)
		if s.attempts() != calls {
			t.Errorf("%d of %d requests were sent", s.attempts(), calls)
		}
	})
}

// A revocation is sent at once while others wait for the rate limit.
func TestRateLimit_RevocationDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := scriptedClient(t, rateLimited("30"), reply{status: http.StatusNoContent})
		limited, start := getMe(t, client.WithoutRetries()), time.Now()
		err := client.DeleteAPIKey(t.Context(), "x")
		if !IsRateLimited(limited) || err != nil || time.Since(start) > 0 {
			t.Errorf("the revocation took %s: %v", time.Since(start), err)
		}
	})
}

// Rate-limit headers of any content block requests for a minute at most.
func FuzzRateHeaders(f *testing.F) {
	for _, seed := range [][4]string{
		{"120", "0", "60", ""}, {"120", "-1", "60", "-5"}, {"0", "0", "0", "0"},
		{"9223372036854775807", "9223372036854775807", "9223372036854775807", "1e9"},
		{"120", "120", "99999999999999", "31536000"}, {"NaN", "Inf", "-0", "Mon, 01 Jan 0001 00:00:00 GMT"},
		{"1", "0", "100000000", "Fri, 31 Dec 9999 23:59:59 GMT"}, {"", "", "", "\x00"},
		{"120", "0", "50000000", ""}, {"120", "0", "9999999999", ""}, // seconds and a time, both years ahead
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[0] == "0")
		f.Add(seed[0], seed[1], seed[2], seed[3], true)
	}
	f.Fuzz(func(t *testing.T, limit, left, reset, after string, refused bool) {
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		resp := rateResponse(limit, left, reset, after)
		if refused {
			resp.StatusCode = http.StatusTooManyRequests
		}
		l := newLimiter(limitPerKey)
		for range 3 {
			l.done(now, now.Add(time.Millisecond), resp)
			if wait := l.take(now.Add(time.Millisecond)); wait > time.Minute {
				t.Fatalf("blocked for %s", wait)
			}
			now = now.Add(time.Second)
		}
		if wait, valid := retryAfter(resp.Header, now); valid && (wait < 0 || wait > 366*24*time.Hour) {
			t.Errorf("Retry-After %q: %s", after, wait)
		}
	})
}

func rateResponse(limit, left, reset, after string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{
		"X-Ratelimit-Limit": {limit}, "X-Ratelimit-Remaining": {left}, "X-Ratelimit-Reset": {reset}, "Retry-After": {after},
	}}
}

// The headers of a response from a cache belong to an earlier response.
func TestLimiter_IgnoresCachedResponse(t *testing.T) {
	now, l := time.Now(), newLimiter(limitPerKey)
	spent := rateResponse("120", "0", "60", "")
	spent.Header.Set("Age", "59")
	l.done(now, now, spent)
	if wait := l.take(now); wait > 0 {
		t.Errorf("requests are blocked for %s", wait)
	}
}

// The Date header of a private response that is not from a cache sets the clock of the client.
func TestNow_FollowsDateHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const old = "Date: Sat, 01 Jan 1994 00:00:00 GMT"
		apiTime := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
		dated := func(r reply, header string) reply { r.header = header; return r }
		client, _ := scriptedClient(t,
			dated(ok(onePage("")), old), dated(ok(userJSON), old+"\nAge: 30"),
			dated(failed(CodeNotFound), "Date: "+apiTime.Format(http.TimeFormat)), dated(ok(userJSON), "Date: yesterday"),
		)
		_, public := collect(client.ListGPUs(t.Context(), ListOptions{}))
		if err := errors.Join(public, getMe(t, client)); err != nil || !client.Now().Equal(time.Now()) {
			t.Errorf("after a public and a cached response: %s, %v", client.Now(), err)
		}
		if err := getMe(t, client); !IsNotFound(err) || !client.Now().Equal(apiTime) {
			t.Errorf("API time %s, now %s, %v", apiTime, client.Now(), err)
		}
		time.Sleep(time.Hour)
		if err := getMe(t, client); err != nil || !client.Now().Equal(apiTime.Add(time.Hour)) {
			t.Errorf("an hour after %s it is %s, %v", apiTime, client.Now(), err)
		}
	})
}
