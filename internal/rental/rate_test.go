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

// The service of these tests counts requests in one of two ways and tells of it in one of several.

// manner is how it counts and tells.
type manner struct {
	bucket     bool // fills steadily; else a window that begins with the first request after the last
	epoch      bool // X-RateLimit-Reset is a moment
	nextOnly   bool // of a bucket: X-RateLimit-Reset is when one request more is earned, not all
	roundsDown bool // seconds are
	dates      bool // Retry-After is a date
}

// limits is a service that does nothing but count.
type limits struct {
	manner
	perMinute int
	latency   func() time.Duration
	budgets   *Budgets // that all its clients share; nil: each has its own

	mu      sync.Mutex
	began   time.Time     // of the window
	debt    time.Duration // of the bucket at the moment began
	used    int
	refused int
	served  int
	order   []string // the methods of what was served
}

func (l *limits) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(l.latency() / 2)
	resp := l.take(req)
	time.Sleep(l.latency() / 2)
	return resp, req.Context().Err()
}

func (l *limits) take(req *http.Request) *http.Response {
	l.mu.Lock()
	defer l.mu.Unlock()
	ok, left, renews, earned := l.count(time.Now())
	header := http.Header{"Content-Type": {"application/json"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}}
	header.Set("X-RateLimit-Limit", strconv.Itoa(l.perMinute))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	if l.nextOnly {
		renews = earned
	}
	if l.epoch {
		header.Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(renews).Unix()+1, 10))
	} else {
		header.Set("X-RateLimit-Reset", l.seconds(renews))
	}
	if !ok {
		l.refused++
		header.Set("Retry-After", l.seconds(earned+time.Second))
		if l.dates {
			header.Set("Retry-After", time.Now().UTC().Add(earned+time.Second).Format(http.TimeFormat))
		}
		return &http.Response{StatusCode: 429, Header: header, Body: io.NopCloser(strings.NewReader(errorJSON(CodeRateLimited))), Request: req}
	}
	l.served++
	l.order = append(l.order, req.Method)
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(`{"id":"x"}`)), Request: req}
}

func (l *limits) seconds(d time.Duration) string {
	if l.roundsDown {
		return strconv.Itoa(int(d.Seconds()))
	}
	return strconv.Itoa(int(math.Ceil(d.Seconds())))
}

// count is what is left, when all is there again, and when one is.
func (l *limits) count(now time.Time) (ok bool, left int, renews, earned time.Duration) {
	each := time.Minute / time.Duration(l.perMinute)
	if !l.bucket {
		if now.Sub(l.began) >= time.Minute {
			l.began, l.used = now, 0
		}
		if ok = l.used < l.perMinute; ok {
			l.used++
		}
		renews = l.began.Add(time.Minute).Sub(now)
		return ok, l.perMinute - l.used, renews, renews
	}
	l.debt, l.began = max(l.debt-now.Sub(l.began), 0), now
	if ok = l.debt <= time.Minute-each; ok {
		l.debt += each
	}
	return ok, int((time.Minute - l.debt) / each), l.debt, max(l.debt-(time.Minute-each), 0)
}

// process is a client with budgets of its own, that makes requests in parallel.
func (l *limits) process(t *testing.T, parallel, requests int, method func(int) string) {
	client := newTestClient(t, "https://rent.example/api/v1", func(c *Config) { c.Transport, c.Backoff, c.Budgets = l, defaultBackoff, l.budgets })
	var workers sync.WaitGroup
	jobs := make(chan int, requests)
	for i := range requests {
		jobs <- i
	}
	close(jobs)
	for range parallel {
		workers.Go(func() {
			for i := range jobs {
				if err := l.one(client, method(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
}

func (l *limits) one(client *Client, method string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if method == http.MethodGet {
		_, err = client.GetMe(ctx)
	} else {
		_, err = client.StartInstance(ctx, "x")
	}
	return err
}

func reads(int) string { return http.MethodGet }

// floor is how long so many requests take at the least: the limit allows no more, or their latency does not.
func (l *limits) floor(requests, parallel int, latency time.Duration) time.Duration {
	allowed := time.Duration((requests-1)/l.perMinute) * time.Minute
	if l.bucket {
		allowed = time.Duration(max(requests-l.perMinute, 0)) * time.Minute / time.Duration(l.perMinute)
	}
	return max(allowed, time.Duration(requests/parallel)*latency)
}

// Whatever the service says of its limit, and however it counts: one process is hardly ever refused, several settle, none fails, and
// what is allowed is used.
func TestRateBudgetGrid(t *testing.T) {
	const requests = 400
	for _, service := range []struct {
		name string
		manner
	}{
		{"window", manner{}},
		{"window, rounded down", manner{roundsDown: true}},
		{"window, epoch", manner{epoch: true}},
		{"window, dates", manner{dates: true}},
		{"bucket", manner{bucket: true}},
		{"bucket, rounded down", manner{bucket: true, roundsDown: true}},
		{"bucket, epoch", manner{bucket: true, epoch: true}},
		{"bucket, next token", manner{bucket: true, nextOnly: true}},
		{"bucket, next token, rounded down", manner{bucket: true, nextOnly: true, roundsDown: true}},
		{"bucket, next token, epoch, dates", manner{bucket: true, nextOnly: true, epoch: true, dates: true}},
	} {
		for _, parallel := range []int{1, 10, 50, 200} {
			for _, late := range []time.Duration{0, 50 * time.Millisecond, 2 * time.Second} {
				for _, processes := range []int{1, 4} {
					t.Run(fmt.Sprintf("%s/parallel %d/latency %s/processes %d", service.name, parallel, late, processes), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							l := newLimits(service.manner, late)
							start := time.Now()
							var all sync.WaitGroup
							for range processes {
								all.Go(func() { l.process(t, parallel, requests/processes, reads) })
							}
							all.Wait()
							took, floor := time.Since(start), l.floor(requests, processes*parallel, late)
							t.Logf("%d refused, %s of at least %s", l.refused, took, floor)
							if l.served != requests {
								t.Errorf("%d requests were served, want %d", l.served, requests)
							}
							mostRefused, mostTime := 0, floor*11/10+15*time.Second+10*late
							if l.nextOnly || l.roundsDown {
								mostRefused = 10 // it tells to come back before there is anything
							}
							if processes > 1 {
								mostRefused, mostTime = requests, mostTime+floor/2
							}
							if l.refused > mostRefused || took > mostTime {
								t.Errorf("%d refused (most %d), %s (most %s)", l.refused, mostRefused, took, mostTime)
							}
						})
					})
				}
			}
		}
	}
}

// newLimits is a service with nothing spent, that answers after about so long.
func newLimits(m manner, late time.Duration) *limits {
	return &limits{
		manner: m, perMinute: 120, began: time.Now().Add(-time.Hour),
		latency: func() time.Duration { return late/2 + rand.N(late+1) },
	}
}

// A budget that somebody else has spent is waited out, however it is told.
func TestRateBudgetSpentByOthers(t *testing.T) {
	for _, m := range []manner{{}, {epoch: true}, {bucket: true}, {bucket: true, nextOnly: true}} {
		t.Run(fmt.Sprintf("%+v", m), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimits(m, 10*time.Millisecond)
				l.began = time.Now()
				for range l.perMinute {
					l.count(time.Now())
				}
				start := time.Now()
				l.process(t, 10, 20, reads)
				if took := time.Since(start); l.served != 20 || l.refused > 10 || took > 80*time.Second {
					t.Errorf("%d served, %d refused, %s", l.served, l.refused, took)
				}
			})
		})
	}
}

// When it is tight, writes go before reads that came earlier, and no read waits for ever.
func TestWritesGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(manner{}, 10*time.Millisecond)
		l.budgets, l.latency = &Budgets{}, func() time.Duration { return 10 * time.Millisecond }
		l.process(t, 10, l.perMinute, reads)
		l.order = nil
		var all sync.WaitGroup
		all.Go(func() { l.process(t, 20, 20, reads) })
		time.Sleep(time.Second)
		all.Go(func() { l.process(t, 60, 60, func(int) string { return http.MethodPost }) })
		all.Wait()
		if firstRead := slices.Index(l.order, http.MethodGet); firstRead < 30 {
			t.Errorf("a read was made after only %d of 60 writes: %v", firstRead, l.order)
		}
	})
}

// The log tells why nothing happens.
func TestWaitingIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(manner{}, 0)
		var mu sync.Mutex
		told := 0
		client := newTestClient(t, "https://rent.example/api/v1", func(c *Config) {
			c.Transport = l
			c.Log = func(_ context.Context, message string, _ map[string]any) {
				mu.Lock()
				defer mu.Unlock()
				if strings.HasPrefix(message, "Waiting") {
					told++
				}
			}
		})
		for range l.perMinute + 1 {
			if _, err := client.GetMe(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if told != 1 {
			t.Errorf("told %d times, want once", told)
		}
	})
}
