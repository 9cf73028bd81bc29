package rental

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestRetryAfter(t *testing.T) {
	busy := func(after string) reply {
		busy := failed(CodeProviderUnavailable)
		busy.header = "Retry-After: " + after
		return busy
	}
	// A test in a bubble begins at 2000-01-01.
	const first = time.Second // pause without Retry-After
	for name, test := range map[string]struct {
		reply           reply
		atLeast, atMost time.Duration
	}{
		"seconds": {rateLimited("40"), 40 * time.Second, 50 * time.Second},
		"date":    {rateLimited("Sat, 01 Jan 2000 00:01:30 GMT"), 90 * time.Second, 95 * time.Second},
		"date of the API's clock": {
			rateLimited("Sat, 01 Jan 2000 01:00:07 GMT\nDate: Sat, 01 Jan 2000 01:00:00 GMT"), 7 * time.Second, 9 * time.Second,
		},
		"past date":            {rateLimited("Sat, 01 Jan 1994 00:00:00 GMT"), first, first},
		"zero":                 {rateLimited("0"), first, first},
		"none":                 {failed(CodeRateLimited), first, first},
		"invalid":              {rateLimited("soon"), first, first},
		"negative":             {rateLimited("-3"), first, first},
		"exponent":             {rateLimited("1e3"), first, first},
		"503":                  {busy("20"), 20 * time.Second, 25 * time.Second},
		"503 without":          {failed(CodeProviderUnavailable), first, first},
		"502 with Retry-After": {reply{status: 502, header: "Retry-After: 500"}, first, first},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := newTestClient(t, inTurn(ok(userJSON), test.reply, ok(userJSON)), fixedPause(first))
			if err := getMe(t, client); err != nil { // after its first answer the client is patient
				t.Fatal(err)
			}
			start := time.Now()
			err := getMe(t, client)
			if took := time.Since(start); err != nil || took < test.atLeast || took > test.atMost {
				t.Errorf("%s: took %s (%v), want %s to %s", name, took, err, test.atLeast, test.atMost)
			}
		})
	}
}

// A wait that would exceed the deadline, or ten minutes without one, is not started: the call returns the 429.
func TestRetryAfter_TooLong(t *testing.T) {
	for name, test := range map[string]struct {
		retryAfter string
		deadline   time.Duration // 0: none
		atMost     time.Duration
	}{
		"a day, with deadline":       {"86400", time.Hour, 0},
		"overflow, with deadline":    {"99999999999999999999999", time.Hour, 0},
		"a day, without deadline":    {"86400", 0, 0},
		"date, with deadline":        {"Fri, 31 Dec 9999 23:59:59 GMT", time.Hour, 0},
		"repeated, with deadline":    {"60", time.Hour, time.Hour},
		"repeated, without deadline": {"60", 0, 10 * time.Minute},
		"without a header":           {"", 0, 10 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := newTestClient(t, inTurn(rateLimited(test.retryAfter)), defaultPauses)
			ctx := t.Context()
			if test.deadline > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.deadline)
				defer cancel()
			}
			start := time.Now()
			_, _, err := client.CreateInstance(ctx, "k", InstanceCreate{})
			took := time.Since(start)
			if e := asError(t, err); (test.retryAfter == "") != e.RetryAt.IsZero() {
				t.Errorf("%s: requests are accepted again at %s", name, e.RetryAt)
			}
			if !IsRateLimited(err) || IsOutcomeUnknown(err) || took > test.atMost || took < test.atMost*8/10 {
				t.Errorf("%s: %v after %s; want the 429 after %s", name, err, took, test.atMost)
			}
		})
	}
}

// One 429 blocks all calls with the key. After Retry-After, one call at a time finds out whether the limit is reset.
func TestRetryAfter_BlocksOtherCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const latency = 100 * time.Millisecond
		var mu sync.Mutex
		var sent []time.Duration // after the start
		start := time.Now()
		client := newTestClient(t, &script{answer: func(_ *http.Request, n int) reply {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, time.Since(start))
			answer := []reply{rateLimited("30"), ok(`{"id":"u","data":[]}`)}[min(n, 1)]
			answer.after = latency
			return answer
		}})
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
			if at < 30*time.Second || at > 45*time.Second || i > 0 && at-sent[i+1] < latency {
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
	get := func(ctx context.Context, c *Client) error { _, err := c.GetMe(ctx); return err }
	busy := failed(CodeProviderUnavailable)
	for name, test := range map[string]struct {
		call     func(context.Context, *Client) error
		reply    reply
		deadline bool  // instead of an interruption
		want     error // nil for a success
		took     time.Duration
		unknown  bool
	}{
		"in backoff after a 503":           {post, busy, false, context.Canceled, time.Second, true},
		"in backoff after a network error": {post, cut, false, context.Canceled, time.Second, true},
		"in Retry-After":                   {post, rateLimited("3000"), false, context.Canceled, time.Second, false},
		"write in flight, answered":        {post, late(ok(userJSON), 4*time.Second), false, nil, 4 * time.Second, false},
		"write in flight, lost":            {post, late(cut, 4*time.Second), false, context.Canceled, 4 * time.Second, true},
		"write in flight, no answer": {
			post, late(hangs, 2*time.Hour), false, context.Canceled, time.Second + writeGrace, true,
		},
		"write in flight at the deadline": {post, late(ok(userJSON), time.Minute), true, nil, time.Minute, false},
		"read in flight":                  {get, hangs, false, context.Canceled, time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := inTurn(test.reply)
			client := newTestClient(t, s, fixedPause(time.Hour), requestTimeout(time.Hour))
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
			if took := time.Since(start); !errors.Is(err, test.want) || took != test.took || s.attempts() != 1 {
				t.Errorf("%s: %v after %s and %d requests", name, err, took, s.attempts())
			}
			if last := test.reply.status == 503; last && !strings.Contains(err.Error(), CodeProviderUnavailable) {
				t.Errorf("%s: %v does not contain the last failure", name, err)
			}
			if IsOutcomeUnknown(err) != test.unknown || IsUnavailable(err) {
				t.Errorf("%s: unknown %t, unavailable %t: %v", name, IsOutcomeUnknown(err), IsUnavailable(err), err)
			}
		})
	}
}

func TestCancellation_DuringRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, s := scriptedClient(t, rateLimited("50"))
		limited := getMe(t, client.WithoutRetries())
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, _, err := client.CreateInstance(ctx, "k", InstanceCreate{})
		const want = "POST /instances: while waiting for the request limit: context deadline exceeded"
		if !IsRateLimited(limited) || err == nil || err.Error() != want || IsOutcomeUnknown(err) || !IsDefinitive(err) ||
			s.attempts() != 1 || time.Since(start) != 5*time.Second {
			t.Errorf("%d requests after %s: %v; want %s", s.attempts(), time.Since(start), err, want)
		}
	})
}

func TestDetached_OutlivesCancellationByTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		detached, stop := Detached(ctx)
		defer stop()
		stopped, stopNow := Detached(ctx)
		if stopNow(); stopped.Err() == nil {
			t.Error("stop does not end it")
		}
		time.Sleep(time.Hour)
		cancel()
		time.Sleep(detachedGrace - time.Second)
		if detached.Err() != nil {
			t.Error("it ended before the grace")
		}
		time.Sleep(time.Second)
		if synctest.Wait(); detached.Err() == nil {
			t.Error("it has not ended after the grace")
		}
	})
}
