package rental

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
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

// limitedAPI is a transport that only applies a rate limit.
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

func (l *limitedAPI) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(rand.N(l.latency + 1))
	resp := l.respond(req)
	time.Sleep(rand.N(l.latency + 1))
	return resp, req.Context().Err()
}

func (l *limitedAPI) respond(req *http.Request) *http.Response {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now().UTC()
	ok, remaining, full, next := l.count(now)
	if l.epoch {
		now = now.Add(-time.Hour)
	}
	header := http.Header{"Content-Type": {"application/json"}, "Date": {now.Format(http.TimeFormat)}}
	header.Set("X-RateLimit-Limit", strconv.Itoa(limitPerKey))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
	header.Set("X-RateLimit-Reset", l.seconds(full))
	if l.epoch {
		header.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(full).Unix()+1, 10))
	}
	status, body := http.StatusOK, `{"id":"x"}`
	switch {
	case !ok:
		l.refused++
		status, body = http.StatusTooManyRequests, errorJSON(CodeRateLimited)
		header.Set("Retry-After", l.seconds(next))
		if l.epoch {
			header.Set("Retry-After", now.Add(next+time.Second).Format(http.TimeFormat))
		}
	case req.Method == http.MethodDelete:
		status = http.StatusNoContent
	}
	if ok {
		l.served[req.Method]++
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: req}
}

func (l *limitedAPI) seconds(d time.Duration) string {
	if l.early {
		return strconv.Itoa(int(d.Seconds()))
	}
	return strconv.Itoa(int(math.Ceil(d.Seconds())))
}

// count counts a request. It returns whether the limit allows it, how many requests remain, and the time until all
// requests and the next request are available.
func (l *limitedAPI) count(now time.Time) (ok bool, remaining int, full, next time.Duration) {
	const perToken = time.Minute / limitPerKey
	if l.bucket {
		l.debt, l.began = max(l.debt-now.Sub(l.began), 0), now
		if ok = l.debt <= time.Minute-perToken; ok {
			l.debt += perToken
		}
		return ok, int((time.Minute - l.debt) / perToken), l.debt, max(l.debt-(time.Minute-perToken), 0)
	}
	if now.Sub(l.began) >= time.Minute {
		l.began, l.used = now, 0
	}
	if ok = l.used < limitPerKey; ok {
		l.used++
	}
	full = l.began.Add(time.Minute).Sub(now)
	return ok, limitPerKey - l.used, full, full
}

// spend uses up the limit.
func (l *limitedAPI) spend() {
	for range limitPerKey {
		l.count(time.Now())
	}
}

func (l *limitedAPI) client(t *testing.T) *Client {
	return newTestClient(t, testURL, func(c *Config) { c.Transport, c.Backoff = l, defaultBackoff })
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
	const requests = 400
	for _, kind := range []limitKind{{}, {early: true}, {epoch: true}, {bucket: true}, {bucket: true, early: true}} {
		for _, parallel := range []int{1, 50} {
			for _, latency := range []time.Duration{50 * time.Millisecond, time.Second} {
				for _, processes := range []int{1, 4} {
					for _, spent := range []bool{false, true} {
						name := fmt.Sprintf("%+v/parallel %d/latency %s/processes %d/spent %t", kind, parallel, latency, processes, spent)
						t.Run(name, func(t *testing.T) {
							synctest.Test(t, func(t *testing.T) {
								l := newLimitedAPI(kind, latency)
								if spent {
									l.spend()
								}
								start := time.Now()
								var all sync.WaitGroup
								for range processes {
									all.Go(func() { send(t, l.client(t), parallel, requests/processes) })
								}
								all.Wait()
								took := time.Since(start)
								windows := requests / limitPerKey
								if spent {
									windows++
								}
								byLatency := time.Duration(requests/processes/parallel) * latency
								atMost := time.Duration(windows)*time.Minute + byLatency*11/10 + 20*time.Second + 10*latency
								if l.served[http.MethodGet] != requests || took > atMost {
									t.Errorf("%d of %d served in %s, at most %s", l.served[http.MethodGet], requests, took, atMost)
								}
								if processes == 1 && l.refused > 20 || l.refused > requests {
									t.Errorf("%d refused", l.refused)
								}
							})
						})
					}
				}
			}
		}
	}
}

// A run with few requests gets through beside a run that always has many, and a write beside reads of the same process.
func TestRateLimit_StarvesNoOne(t *testing.T) {
	for name, shared := range map[string]bool{"one process": true, "two processes": false} {
		t.Run(name, func(t *testing.T) {
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
				var longest time.Duration
				for range 20 {
					start := time.Now()
					if _, err := other.StartInstance(t.Context(), "x"); err != nil {
						t.Error(err)
					}
					longest = max(longest, time.Since(start))
				}
				cancel()
				reads.Wait()
				t.Logf("a write took up to %s", longest)
				if longest > 3*time.Minute {
					t.Errorf("a write took %s", longest)
				}
			})
		})
	}
}

// Without rate-limit headers only the first requests are limited. They do not block the others if they hang.
func TestRateLimit_NoHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls, hanging = 100, initialRequests
		var mu sync.Mutex
		sent := 0
		transport := roundTrip(func(req *http.Request) (*http.Response, error) {
			mu.Lock()
			sent++
			hangs := sent <= hanging
			mu.Unlock()
			if hangs {
				hang(req)
				return nil, req.Context().Err()
			}
			return (&scriptedTransport{replies: []reply{{status: 200, body: userJSON}}}).RoundTrip(req)
		})
		client := newTestClient(t, testURL, func(c *Config) {
			c.Transport, c.RequestTimeout, c.MaxRetries = transport, 5*time.Second, -1
		})
		var all sync.WaitGroup
		failed := 0
		for range calls {
			all.Go(func() {
				if _, err := client.GetMe(t.Context()); err != nil {
					mu.Lock()
					failed++
					mu.Unlock()
				}
			})
		}
		time.Sleep(2 * time.Second)
		if mu.Lock(); sent != calls {
			t.Errorf("%d of %d requests were sent", sent, calls)
		}
		mu.Unlock()
		if all.Wait(); failed != hanging {
			t.Errorf("%d requests failed, want the %d that hang", failed, hanging)
		}
	})
}

// A revocation is sent at once while others wait for the rate limit.
func TestRateLimit_RevocationDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimitedAPI(limitKind{}, 10*time.Millisecond)
		client := l.client(t)
		var all sync.WaitGroup
		all.Go(func() { send(t, client, 50, 300) })
		time.Sleep(2 * time.Second) // the last requests of the window are sent one by one
		start := time.Now()
		if err := client.DeleteAPIKey(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("the revocation took %s", took)
		}
		all.Wait()
	})
}
