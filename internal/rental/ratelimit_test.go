package rental

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// limitKind is how a limitedAPI counts requests and reports the rate limit.
type limitKind struct {
	bucket      bool // token bucket; else a fixed window that starts with a request
	epoch       bool // X-RateLimit-Reset is a time since 1970; else seconds
	nextToken   bool // X-RateLimit-Reset of a bucket is when the next request is available; else when all are
	roundDown   bool // seconds are rounded down; else up
	retryAtDate bool // Retry-After is a date
}

// limitedAPI is a transport that only applies a rate limit.
type limitedAPI struct {
	limitKind
	perMinute int
	latency   func() time.Duration
	budgets   *Budgets // shared by all clients; nil: each has its own

	mu          sync.Mutex
	windowStart time.Time     // for a bucket, the time of debt
	debt        time.Duration // time until the bucket is full
	used        int           // requests in the window
	refused     int
	served      int
	methods     []string // of the served requests, in order
}

// newLimitedAPI returns an API with a full rate limit and random latencies around the given one.
func newLimitedAPI(kind limitKind, latency time.Duration) *limitedAPI {
	return &limitedAPI{
		limitKind: kind, perMinute: 120, windowStart: time.Now().Add(-time.Hour),
		latency: func() time.Duration { return latency/2 + rand.N(latency+1) },
	}
}

func (l *limitedAPI) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(l.latency() / 2)
	resp := l.respond(req)
	time.Sleep(l.latency() / 2)
	return resp, req.Context().Err()
}

func (l *limitedAPI) respond(req *http.Request) *http.Response {
	l.mu.Lock()
	defer l.mu.Unlock()
	ok, remaining, full, next := l.count(time.Now())
	header := http.Header{"Content-Type": {"application/json"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}}
	header.Set("X-RateLimit-Limit", strconv.Itoa(l.perMinute))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
	reset := full
	if l.nextToken {
		reset = next
	}
	if l.epoch {
		header.Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(reset).Unix()+1, 10))
	} else {
		header.Set("X-RateLimit-Reset", l.seconds(reset))
	}
	status, body := http.StatusOK, `{"id":"x"}`
	if ok {
		l.served++
		l.methods = append(l.methods, req.Method)
	} else {
		l.refused++
		status, body = http.StatusTooManyRequests, errorJSON(CodeRateLimited)
		header.Set("Retry-After", l.seconds(next+time.Second))
		if l.retryAtDate {
			header.Set("Retry-After", time.Now().UTC().Add(next+time.Second).Format(http.TimeFormat))
		}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: req}
}

func (l *limitedAPI) seconds(d time.Duration) string {
	if l.roundDown {
		return strconv.Itoa(int(d.Seconds()))
	}
	return strconv.Itoa(int(math.Ceil(d.Seconds())))
}

// count counts a request. It returns whether the limit allows it, how many requests remain, and the time until all
// requests and the next request are available.
func (l *limitedAPI) count(now time.Time) (ok bool, remaining int, full, next time.Duration) {
	if l.bucket {
		perToken := time.Minute / time.Duration(l.perMinute)
		l.debt, l.windowStart = max(l.debt-now.Sub(l.windowStart), 0), now
		if ok = l.debt <= time.Minute-perToken; ok {
			l.debt += perToken
		}
		return ok, int((time.Minute - l.debt) / perToken), l.debt, max(l.debt-(time.Minute-perToken), 0)
	}
	if now.Sub(l.windowStart) >= time.Minute {
		l.windowStart, l.used = now, 0
	}
	if ok = l.used < l.perMinute; ok {
		l.used++
	}
	full = l.windowStart.Add(time.Minute).Sub(now)
	return ok, l.perMinute - l.used, full, full
}

// send sends requests through a new client, up to parallel at the same time.
func (l *limitedAPI) send(t *testing.T, parallel, requests int, method string) {
	client := newTestClient(t, testURL, func(c *Config) {
		c.Transport, c.Backoff, c.Budgets = l, defaultBackoff, l.budgets
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	jobs := make(chan struct{}, requests)
	for range requests {
		jobs <- struct{}{}
	}
	close(jobs)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for range jobs {
				var err error
				if method == http.MethodGet {
					_, err = client.GetMe(ctx)
				} else {
					_, err = client.StartInstance(ctx, "x")
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
}

// minDuration returns how long requests take at least, because of the limit or of the latency.
func (l *limitedAPI) minDuration(requests, parallel int, latency time.Duration) time.Duration {
	limit := time.Duration((requests-1)/l.perMinute) * time.Minute
	if l.bucket {
		limit = time.Duration(max(requests-l.perMinute, 0)) * time.Minute / time.Duration(l.perMinute)
	}
	return max(limit, time.Duration(requests/parallel)*latency)
}

// For every kind of rate limit: no request fails, one process is refused rarely or never, and the client uses the
// limit.
func TestRateBudgetGrid(t *testing.T) {
	const requests = 400
	for _, api := range []struct {
		name string
		limitKind
	}{
		{"window", limitKind{}},
		{"window, rounded down", limitKind{roundDown: true}},
		{"window, epoch", limitKind{epoch: true}},
		{"window, dates", limitKind{retryAtDate: true}},
		{"bucket", limitKind{bucket: true}},
		{"bucket, rounded down", limitKind{bucket: true, roundDown: true}},
		{"bucket, epoch", limitKind{bucket: true, epoch: true}},
		{"bucket, next token", limitKind{bucket: true, nextToken: true}},
		{"bucket, next token, rounded down", limitKind{bucket: true, nextToken: true, roundDown: true}},
		{"bucket, next token, epoch, dates", limitKind{bucket: true, nextToken: true, epoch: true, retryAtDate: true}},
	} {
		for _, parallel := range []int{1, 10, 50, 200} {
			for _, latency := range []time.Duration{0, 50 * time.Millisecond, 2 * time.Second} {
				for _, processes := range []int{1, 4} {
					name := fmt.Sprintf("%s/parallel %d/latency %s/processes %d", api.name, parallel, latency, processes)
					t.Run(name, func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							l := newLimitedAPI(api.limitKind, latency)
							start := time.Now()
							var all sync.WaitGroup
							for range processes {
								all.Go(func() { l.send(t, parallel, requests/processes, http.MethodGet) })
							}
							all.Wait()
							took, atLeast := time.Since(start), l.minDuration(requests, processes*parallel, latency)
							if l.served != requests {
								t.Errorf("%d requests were served, want %d", l.served, requests)
							}
							maxRefused, atMost := 0, atLeast*11/10+15*time.Second+10*latency
							if l.nextToken || l.roundDown {
								maxRefused = 10 // the reported reset is too early
							}
							if processes > 1 {
								maxRefused, atMost = requests, atMost+atLeast/2
							}
							if l.refused > maxRefused || took > atMost {
								t.Errorf("%d refused (at most %d) in %s (at most %s)", l.refused, maxRefused, took, atMost)
							}
						})
					})
				}
			}
		}
	}
}

func TestRateLimit_UsedUpByOtherProcess(t *testing.T) {
	for _, kind := range []limitKind{{}, {epoch: true}, {bucket: true}, {bucket: true, nextToken: true}} {
		t.Run(fmt.Sprintf("%+v", kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimitedAPI(kind, 10*time.Millisecond)
				l.windowStart = time.Now()
				for range l.perMinute {
					l.count(time.Now())
				}
				start := time.Now()
				l.send(t, 10, 20, http.MethodGet)
				if took := time.Since(start); l.served != 20 || l.refused > 10 || took > 80*time.Second {
					t.Errorf("%d served, %d refused, %s", l.served, l.refused, took)
				}
			})
		})
	}
}

// Writes go before earlier reads, but only for maxReadDelay.
func TestRateLimit_WritesBeforeReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimitedAPI(limitKind{}, 0)
		l.budgets = &Budgets{}
		l.send(t, 10, l.perMinute, http.MethodGet)
		l.methods = nil
		var all sync.WaitGroup
		all.Go(func() { l.send(t, 20, 20, http.MethodGet) })
		time.Sleep(time.Second)
		all.Go(func() { l.send(t, 60, 600, http.MethodPost) })
		all.Wait()
		if firstRead := slices.Index(l.methods, http.MethodGet); firstRead < 200 || firstRead > 500 {
			t.Errorf("the first read was sent after %d of 600 writes, want 200 to 500", firstRead)
		}
	})
}

// Without rate-limit headers only the first requests are limited. They do not block the others if they hang.
func TestRateLimit_NoHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls, hanging, latency = 100, 10, 5 * time.Second
		var mu sync.Mutex
		sent := 0
		transport := roundTrip(func(req *http.Request) (*http.Response, error) {
			mu.Lock()
			sent++
			hang := sent <= hanging
			mu.Unlock()
			if hang {
				<-req.Context().Done()
			}
			time.Sleep(latency)
			return (&scriptedTransport{replies: []reply{{status: 200, body: userJSON}}}).RoundTrip(req)
		})
		client := newTestClient(t, testURL, func(c *Config) {
			c.Transport, c.RequestTimeout, c.MaxRetries = transport, time.Hour, -1
		})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				if _, err := client.GetMe(ctx); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(10 * time.Second)
		if mu.Lock(); sent != calls {
			t.Errorf("%d of %d requests were sent", sent, calls)
		}
		mu.Unlock()
		cancel()
		all.Wait()
	})
}

// Reserved requests are available for urgent calls while others use the limit, and others still get half of it.
func TestReserve(t *testing.T) {
	for _, kind := range []limitKind{{}, {epoch: true, roundDown: true}, {bucket: true}} {
		for _, reserved := range []int{1, 20, 60, 300} {
			t.Run(fmt.Sprintf("%+v/%d", kind, reserved), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLimitedAPI(kind, 10*time.Millisecond)
					l.budgets = &Budgets{}
					client := newTestClient(t, testURL, func(c *Config) {
						c.Transport, c.Budgets = l, l.budgets
					})
					var releases []func()
					for range reserved {
						releases = append(releases, client.Reserve())
					}
					var all sync.WaitGroup
					all.Go(func() { l.send(t, 50, 300, http.MethodGet) })
					time.Sleep(45 * time.Second)
					l.mu.Lock()
					served := l.served
					l.mu.Unlock()
					if served < l.perMinute/2 {
						t.Errorf("%d requests that are not urgent were served", served)
					}
					for range min(reserved, l.perMinute/2) {
						all.Go(func() {
							ctx, cancel := context.WithTimeout(Urgent(t.Context()), time.Second)
							defer cancel()
							if _, err := client.StartInstance(ctx, "x"); err != nil {
								t.Error(err)
							}
						})
					}
					start := time.Now()
					time.Sleep(time.Second)
					for _, release := range releases {
						release()
					}
					all.Wait()
					if took := time.Since(start); l.refused > 0 || took > 4*time.Minute {
						t.Errorf("%d refused, %s", l.refused, took)
					}
				})
			})
		}
	}
}

// An urgent call is sent at once while others wait. If its 429 cannot be waited out, it returns at once.
func TestUrgent_DoesNotWaitForRateLimit(t *testing.T) {
	for _, test := range []struct {
		name  string
		reply reply
		took  time.Duration
		check func(error) bool
	}{
		{"success", reply{status: 204}, 0, func(err error) bool { return err == nil }},
		{"long Retry-After", rateLimited("30"), 0, IsRateLimited},
		{"short Retry-After", rateLimited("1"), time.Second, IsRateLimited},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scriptedTransport{replies: []reply{rateLimited("3000"), test.reply}}
				client := newTestClient(t, testURL, func(c *Config) { c.Transport = s })
				others, cancelOthers := context.WithCancel(t.Context())
				var waiting sync.WaitGroup
				for range 5 {
					waiting.Go(func() {
						if _, err := client.GetMe(others); err == nil {
							t.Error("a call that is not urgent was sent")
						}
					})
					time.Sleep(time.Second)
				}
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
				defer cancel()
				err := client.DeleteAPIKey(Urgent(ctx), "key")
				if took := time.Since(start).Truncate(time.Second); !test.check(err) || took != test.took {
					t.Errorf("after %s: %v", took, err)
				}
				cancelOthers()
				waiting.Wait()
			})
		})
	}
}
