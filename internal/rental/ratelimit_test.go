package rental

import (
	"context"
	"fmt"
	"math"
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
	early  bool // seconds are rounded down; else up
}

// limitedAPI is a script that only applies a rate limit.
type limitedAPI struct {
	limitKind
	latency time.Duration // on average

	mu      sync.Mutex
	began   time.Time     // of the window; of debt for a bucket
	debt    time.Duration // time until the bucket is full
	used    int           // requests in the window
	refused int
	served  map[string]int // by method
}

func newLimitedAPI(kind limitKind, latency time.Duration) *limitedAPI {
	return &limitedAPI{limitKind: kind, latency: latency, served: map[string]int{}}
}

func (l *limitedAPI) answer(req *http.Request, _ int) reply {
	time.Sleep(rand.N(l.latency + 1))
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now().UTC()
	allowed, remaining, full, next := l.count(now)
	reset, retryAfter := l.seconds(full), l.seconds(next)
	if l.epoch {
		now = now.Add(-time.Hour)
		reset = strconv.FormatInt(now.Add(full).Unix()+1, 10)
		retryAfter = now.Add(next + time.Second).Format(http.TimeFormat)
	}
	answer := ok(`{"id":"x"}`)
	switch {
	case !allowed:
		l.refused++
		answer = rateLimited(retryAfter)
	case req.Method == http.MethodDelete:
		answer.status = http.StatusNoContent
	}
	if allowed {
		l.served[req.Method]++
	}
	answer.header += fmt.Sprintf("\nX-RateLimit-Limit: %d\nX-RateLimit-Remaining: %d\nX-RateLimit-Reset: %s\nDate: %s",
		limitPerKey, remaining, reset, now.Format(http.TimeFormat))
	answer.after = rand.N(l.latency + 1)
	return answer
}

func (l *limitedAPI) seconds(d time.Duration) string {
	if l.early {
		return strconv.Itoa(int(d.Seconds()))
	}
	return strconv.Itoa(int(math.Ceil(d.Seconds())))
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
	for _, kind := range []limitKind{{}, {early: true}, {epoch: true}, {bucket: true}, {bucket: true, early: true}} {
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
	l := newLimitedAPI(kind, latency)
	for range spent {
		l.count(time.Now())
	}
	start := time.Now()
	var all sync.WaitGroup
	for range processes {
		all.Go(func() { send(t, l.client(t), parallel, requests/processes) })
	}
	all.Wait()
	took, served := time.Since(start), l.served[http.MethodGet]
	byLimit := time.Duration((requests+spent)/limitPerKey) * time.Minute
	byLatency := time.Duration(requests/processes/parallel) * latency
	atMost := byLimit + byLatency*11/10 + 20*time.Second + 10*latency
	if served != requests || took > atMost || processes == 1 && l.refused > 20 || l.refused > requests {
		t.Errorf("%+v, parallel %d, latency %s, processes %d, spent %d: %d of %d served in %s, at most %s; %d refused",
			kind, parallel, latency, processes, spent, served, requests, took, atMost, l.refused)
	}
}

// A run with few requests gets through beside a run that always has many, and a write beside reads of the same process.
func TestRateLimit_StarvesNoOne(t *testing.T) {
	for name, shared := range map[string]bool{"one process": true, "two processes": false} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimitedAPI(limitKind{}, 50*time.Millisecond)
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
		const calls, hanging = 100, initialRequests
		s := &script{answer: func(_ *http.Request, n int) reply {
			if n < hanging {
				return hangs
			}
			return ok(userJSON)
		}}
		client := newTestClient(t, s, retries(-1), requestTimeout(5*time.Second))
		errs := make(chan error, calls)
		for range calls {
			go func() { errs <- getMe(t, client) }()
		}
		time.Sleep(2 * time.Second)
		if s.attempts() != calls {
			t.Errorf("%d of %d requests were sent", s.attempts(), calls)
		}
		failures := 0
		for range calls {
			if err := <-errs; err != nil {
				failures++
			}
		}
		if failures != hanging {
			t.Errorf("%d requests failed, want the %d that hang", failures, hanging)
		}
	})
}

// A revocation is sent at once while others wait for the rate limit.
func TestRateLimit_RevocationDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newLimitedAPI(limitKind{}, 10*time.Millisecond).client(t)
		var all sync.WaitGroup
		all.Go(func() { send(t, client, 50, 300) })
		time.Sleep(2 * time.Second) // the last requests of the window are sent one by one
		start := time.Now()
		if err := client.DeleteAPIKey(t.Context(), "x"); err != nil || time.Since(start) > time.Second {
			t.Errorf("the revocation took %s: %v", time.Since(start), err)
		}
		all.Wait()
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
func TestCachedResponse_HeadersAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cached := reply{status: 200, body: userJSON, header: "Date: Sat, 01 Jan 1994 00:00:00 GMT\nAge: 30"}
		client, _ := scriptedClient(t, cached)
		if err := getMe(t, client); err != nil || !client.Now().Equal(time.Now()) {
			t.Errorf("after a cached response it is %s, %v", client.Now(), err)
		}
		now := time.Now()
		l := newLimiter(limitPerKey)
		spent := rateResponse("120", "0", "60", "")
		spent.Header.Set("Age", "59")
		l.done(now, now, spent)
		if wait := l.take(now); wait > 0 {
			t.Errorf("the rate-limit headers of a cached response block requests for %s", wait)
		}
	})
}

func TestNow_FollowsDateHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		apiTime := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
		notFound := failed(CodeNotFound)
		notFound.header = "Date: " + apiTime.Format(http.TimeFormat)
		client, _ := scriptedClient(t,
			reply{status: 200, body: onePage(""), header: "Date: Sat, 01 Jan 1994 00:00:00 GMT"}, notFound,
			reply{status: 200, body: userJSON, header: "Date: yesterday"},
		)
		if _, err := collect(client.ListGPUs(t.Context(), ListOptions{})); err != nil || !client.Now().Equal(time.Now()) {
			t.Errorf("after a public response: %s, %v", client.Now(), err)
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
