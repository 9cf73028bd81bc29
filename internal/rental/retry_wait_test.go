package rental

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func rateLimited(retryAfter string) reply {
	return reply{status: 429, header: "Retry-After: " + retryAfter, body: errorJSON("rate_limited")}
}

func TestRetryAfter(t *testing.T) {
	ok := reply{status: 200, body: `{"id":"u"}`}
	unavailable := func(after string) reply {
		return reply{status: 503, header: "Retry-After: " + after, body: errorJSON("provider_unavailable")}
	}
	tests := []struct {
		name            string
		first           reply
		atLeast, atMost time.Duration
	}{
		{"seconds", rateLimited("40"), 40 * time.Second, 50 * time.Second},
		{"date", rateLimited(httpDate(90 * time.Second)), 90 * time.Second, 95 * time.Second},
		{"date of the API's clock", reply{status: 429, body: errorJSON(CodeRateLimited), header: "Retry-After: " +
			httpDate(time.Hour+7*time.Second), date: httpDate(time.Hour)}, 7 * time.Second, 9 * time.Second},
		{"past date", rateLimited("Sat, 01 Jan 1994 00:00:00 GMT"), time.Second, time.Second},
		{"zero", rateLimited("0"), time.Second, time.Second},
		{"none", reply{status: 429}, time.Second, time.Second},
		{"invalid", rateLimited("soon"), time.Second, time.Second},
		{"negative", rateLimited("-3"), time.Second, time.Second},
		{"exponent", rateLimited("1e3"), time.Second, time.Second},
		{"503", unavailable("20"), 20 * time.Second, 25 * time.Second},
		{"503 without", reply{status: 503}, time.Second, time.Second},
		{"502 with Retry-After", reply{status: 502, header: "Retry-After: 500"}, time.Second, time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scriptedTransport{replies: []reply{ok, test.first, ok}}
				client := newTestClient(t, testURL, func(c *Config) {
					c.Transport, c.Backoff = s, fixedPause(time.Second)
				})
				if err := getMe(t, client); err != nil { // after its first answer the client is patient
					t.Fatal(err)
				}
				start := time.Now()
				_, err := client.GetMe(t.Context())
				if took := time.Since(start); err != nil || took < test.atLeast || took > test.atMost {
					t.Errorf("took %s (%v), want %s to %s", took, err, test.atLeast, test.atMost)
				}
			})
		})
	}
}

// httpDate returns a date relative to the start of a synctest bubble, 2000-01-01 UTC.
func httpDate(after time.Duration) string {
	return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(after).Format(http.TimeFormat)
}

// A wait that would exceed the deadline, or ten minutes without one, is not started: the call returns the 429.
func TestRetryAfter_TooLong(t *testing.T) {
	tests := []struct {
		name       string
		retryAfter string
		deadline   time.Duration // 0: none
		atMost     time.Duration
	}{
		{"a day, with deadline", "86400", time.Hour, 0},
		{"overflow, with deadline", "99999999999999999999999", time.Hour, 0},
		{"a day, without deadline", "86400", 0, 0},
		{"date, with deadline", "Fri, 31 Dec 9999 23:59:59 GMT", time.Hour, 0},
		{"repeated, with deadline", "60", time.Hour, time.Hour},
		{"repeated, without deadline", "60", 0, 10 * time.Minute},
		{"without a header", "", 0, 10 * time.Minute},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scriptedTransport{replies: []reply{rateLimited(test.retryAfter)}}
				client := newTestClient(t, testURL, func(c *Config) { c.Transport, c.Backoff = s, defaultBackoff })
				ctx := t.Context()
				if test.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.deadline)
					defer cancel()
				}
				start := time.Now()
				_, _, err := client.CreateInstance(ctx, "k", InstanceCreate{})
				took := time.Since(start)
				if e, _ := errors.AsType[*Error](err); (test.retryAfter == "") != e.RetryAt.IsZero() {
					t.Errorf("requests are accepted again at %s", e.RetryAt)
				}
				if !IsRateLimited(err) || IsOutcomeUnknown(err) || took > test.atMost || took < test.atMost*8/10 {
					t.Errorf("after %s: %v; want the 429 after %s", took, err, test.atMost)
				}
			})
		})
	}
}

// One 429 blocks all calls with the key. After Retry-After, one call at a time finds out whether the limit is reset.
func TestRetryAfter_BlocksOtherCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := scriptedClient(t, rateLimited("30"), userResponse)
		var mu sync.Mutex
		var sent []time.Duration // after the start
		start := time.Now()
		s.onRequest = func(*http.Request) {
			mu.Lock()
			sent = append(sent, time.Since(start))
			mu.Unlock()
			time.Sleep(100 * time.Millisecond)
		}
		var calls sync.WaitGroup
		for range 11 {
			calls.Go(func() {
				if err := getMe(t, client); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Second)
		}
		if _, err := collect(client.ListGPUs(t.Context(), ListOptions{})); err != nil || time.Since(start) > 12*time.Second {
			t.Errorf("a public request was blocked, too: %s, %v", time.Since(start), err)
		}
		calls.Wait()
		for i, at := range sent[2:] {
			if at < 30*time.Second || at > 45*time.Second || i > 0 && at-sent[i+1] < 100*time.Millisecond {
				t.Errorf("sent after %s and %s, want one after the other between 30 s and 45 s", sent[i+1], at)
			}
		}
	})
}

// An interruption ends every wait at once. Only a write that was sent goes on for a short time, so that its answer is
// read, and nothing is sent again.
func TestCancellation(t *testing.T) {
	post := func(ctx context.Context, c *Client) error {
		_, _, err := c.CreateInstance(ctx, "k", InstanceCreate{})
		return err
	}
	get := func(ctx context.Context, c *Client) error {
		_, err := c.GetMe(ctx)
		return err
	}
	tests := []struct {
		name     string
		call     func(context.Context, *Client) error
		reply    reply
		answered time.Duration // how long the answer takes
		deadline bool          // instead of an interruption
		want     error         // nil for a success
		took     time.Duration
		unknown  bool
	}{
		{
			name: "in backoff after a 503", call: post, reply: reply{status: 503, body: errorJSON(CodeProviderUnavailable)},
			want: context.Canceled, took: time.Second, unknown: true,
		},
		{
			name: "in backoff after a network error", call: post, reply: reply{err: io.EOF}, want: context.Canceled,
			took: time.Second, unknown: true,
		},
		{name: "in Retry-After", call: post, reply: rateLimited("3000"), want: context.Canceled, took: time.Second},
		{
			name: "write in flight, answered", call: post, reply: userResponse, answered: 4 * time.Second,
			took: 4 * time.Second,
		},
		{
			name: "write in flight, lost", call: post, reply: reply{err: io.EOF}, answered: 4 * time.Second,
			want: context.Canceled, took: 4 * time.Second, unknown: true,
		},
		{
			name: "write in flight, no answer", call: post, answered: 2 * time.Hour, want: context.Canceled,
			took: time.Second + writeGrace, unknown: true,
		},
		{
			name: "write in flight at the deadline", call: post, reply: userResponse, answered: time.Minute, deadline: true,
			took: time.Minute,
		},
		{name: "read in flight", call: get, answered: time.Minute, want: context.Canceled, took: time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				transport := roundTrip(func(req *http.Request) (*http.Response, error) {
					sent++
					select {
					case <-time.After(test.answered):
						return (&scriptedTransport{replies: []reply{test.reply}}).RoundTrip(req)
					case <-req.Context().Done():
						return nil, req.Context().Err()
					}
				})
				client := newTestClient(t, testURL, func(c *Config) {
					c.Transport, c.Backoff, c.RequestTimeout = transport, fixedPause(time.Hour), time.Hour
				})
				start := time.Now()
				// Without a deadline, the call would return the 429 at once.
				ctx, cancel := context.WithTimeout(t.Context(), 48*time.Hour)
				defer cancel()
				if test.deadline {
					ctx, cancel = context.WithTimeout(ctx, time.Second)
					defer cancel()
				} else {
					time.AfterFunc(time.Second, cancel)
				}
				err := test.call(ctx, client)
				if took := time.Since(start); !errors.Is(err, test.want) || took != test.took || sent != 1 {
					t.Errorf("after %s and %d requests: %v", took, sent, err)
				}
				if last := test.reply.status == 503; last && !strings.Contains(err.Error(), CodeProviderUnavailable) {
					t.Errorf("%v does not contain the last failure", err)
				}
				if IsOutcomeUnknown(err) != test.unknown || IsUnavailable(err) {
					t.Errorf("unknown %t, unavailable %t: %v", IsOutcomeUnknown(err), IsUnavailable(err), err)
				}
			})
		})
	}
}

func TestCancellation_DuringRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := scriptedClient(t, rateLimited("50"), userResponse)
		var first sync.WaitGroup
		first.Go(func() {
			if err := getMe(t, client); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, _, err := client.CreateInstance(ctx, "k", InstanceCreate{})
		const want = "POST /instances: while waiting for the request limit: context deadline exceeded"
		if err == nil || err.Error() != want || IsOutcomeUnknown(err) || !IsDefinitive(err) || s.attempts() != 1 ||
			time.Since(start) != 5*time.Second {
			t.Errorf("%d requests after %s: %v; want %s", s.attempts(), time.Since(start), err, want)
		}
		first.Wait()
	})
}

func TestDefaultBackoff(t *testing.T) {
	for attempt, seconds := range map[int]float64{0: 0.5, 1: 1, 2: 2, 3: 4, 4: 8, 5: 16, 6: 30, 7: 30, math.MaxInt: 30} {
		longest := time.Duration(seconds * float64(time.Second))
		for range 100 {
			if pause := defaultBackoff.Pause(attempt); pause < longest/2-1 || pause > longest+1 {
				t.Fatalf("attempt %d: %s, want %s to %s", attempt, pause, longest/2, longest)
			}
		}
	}
}

// A write counts when its call ends, with or without an error.
func TestWrites(t *testing.T) {
	notFound := reply{status: 404, body: errorJSON(CodeNotFound)}
	client, s := scriptedClient(t, reply{status: 200, body: `{"id":"x"}`}, notFound)
	s.onRequest = func(*http.Request) {
		if s.attempts() == 1 && client.Writes("instances") != 0 {
			t.Error("a write counts before its end")
		}
	}
	_, stopErr := client.StopInstance(t.Context(), "x")
	_, failedErr := client.StopInstance(t.Context(), "x")
	_, readErr := client.GetInstance(t.Context(), "x")
	if stopErr != nil || !IsNotFound(failedErr) || !IsNotFound(readErr) {
		t.Errorf("got %v, %v, %v", stopErr, failedErr, readErr)
	}
	if got := client.Writes("instances"); got != 2 || client.Writes("templates") != 0 {
		t.Errorf("%d writes, want 2: a failed call counts, and a read does not", got)
	}
}
