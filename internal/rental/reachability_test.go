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

// A client gives up on an API that does not answer ten seconds after its first request: all calls, including those that
// wait for the rate limit, and all later ones. The errors name what happened and the address.
func TestReachability_GivesUpAfterTenSeconds(t *testing.T) {
	down := failed(CodeProviderUnavailable)
	down.header = "X-Request-Id: req_1"
	for name, test := range map[string]struct {
		reply reply
		want  string
	}{
		"closed port":  {refused, connectionRefused().Error()},
		"gateway page": {badGateway, "502 Bad Gateway"},
		"API is down":  {down, "503 provider_unavailable (request id req_1)"},
		"429 of proxy": {reply{status: 429, header: "Retry-After: 50", body: "<html>"}, "429 Too Many Requests"},
		"black hole":   {hangs, "no complete response within"},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			s := inTurn(test.reply)
			client := newTestClient(t, s, defaultPauses)
			check := func(err error) {
				if took := time.Since(start); took != firstAnswerTimeout || !IsUnreachable(err) || !IsUnavailable(err) ||
					errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), testURL) {
					t.Errorf("%s: %v after %s", name, err, took)
				}
			}
			var calls sync.WaitGroup
			for i := range 3 * initialRequests {
				calls.Go(func() {
					time.Sleep(time.Duration(i%3) * time.Second)
					check(getMe(t, client))
				})
			}
			calls.Wait()
			sent := s.attempts()
			_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
			check(err)
			if e := asError(t, err); s.attempts() != sent || e.Attempts != 0 || e.OutcomeUnknown ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: after giving up: %d requests, %+v; want %q", name, s.attempts()-sent, e, test.want)
			}
		})
	}
}

// After an answer, even a late one, retries last as long as configured, including those of a call that began before.
func TestReachability_PatienceAfterFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		listings := 0
		client := newTestClient(t, &script{answer: func(req *http.Request, _ int) reply {
			at := time.Since(start)
			switch {
			case strings.HasSuffix(req.URL.Path, "/gpus"):
				listings++
				return late(ok(onePage("")), 20*time.Second)
			case at < 9*time.Second || at > 10*time.Second && at < time.Minute:
				return badGateway
			}
			return ok(userJSON)
		}}, defaultPauses)
		var slow sync.WaitGroup
		slow.Go(func() {
			if _, err := collect(client.ListGPUs(t.Context(), ListOptions{})); err != nil || listings != 1 {
				t.Errorf("a call that was in flight at the first answer: %d requests, %v", listings, err)
			}
		})
		slow.Go(func() {
			if err := getMe(t, client); err != nil {
				t.Errorf("a call that was in a pause at the first answer: %v", err)
			}
		})
		time.Sleep(9500 * time.Millisecond)
		if err := getMe(t, client); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := getMe(t, client); err != nil || time.Since(start) < time.Minute {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		slow.Wait()
	})
}

// Only a response of the API is an answer, and a 5xx is none.
func TestReachability_Answers(t *testing.T) {
	for name, test := range map[string]struct {
		first  reply
		answer bool
	}{
		"success":          {ok(userJSON), true},
		"unauthorized":     {failed(CodeUnauthorized), true},
		"rate limited":     {failed(CodeRateLimited), true},
		"internal":         {failed(CodeInternal), false},
		"HTML, 200":        {ok("<html>"), false},
		"401 of a proxy":   {reply{status: 401, body: "<html>"}, false},
		"redirect":         {reply{status: 302, header: "Location: https://login.example/"}, false},
		"undocumented 500": {reply{status: 500, body: errorJSON(CodeNotFound)}, false},
		"network error":    {refused, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := newTestClient(t, inTurn(test.first, badGateway), defaultPauses)
			if err := getMe(t, client.WithoutRetries()); IsUnreachable(err) == test.answer {
				t.Errorf("%s: unreachable is %t: %v", name, test.answer, err)
			}
			time.Sleep(time.Hour)
			start := time.Now()
			err := getMe(t, client)
			patient := time.Since(start) > firstAnswerTimeout
			if patient != test.answer || IsUnreachable(err) == test.answer || !IsUnavailable(err) {
				t.Errorf("%s: after %s, %v", name, time.Since(start), err)
			}
		})
	}
}

// A write that is in flight when the client gives up is not cut off. Its answer ends the giving up.
func TestReachability_WriteInFlight(t *testing.T) {
	for name, test := range map[string]struct {
		reply reply
		lost  bool
	}{
		"answered": {reply{status: http.StatusCreated, body: `{"id":"i","type":"on_demand"}`}, false},
		"lost":     {badGateway, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			s := &script{answer: func(req *http.Request, _ int) reply {
				switch {
				case req.Method == http.MethodPost:
					return late(test.reply, 20*time.Second)
				case time.Since(start) < firstAnswerTimeout:
					return hangs
				}
				return ok(userJSON)
			}}
			client := newTestClient(t, s, defaultPauses)
			var write sync.WaitGroup
			write.Go(func() {
				_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
				if (err != nil) != test.lost || IsOutcomeUnknown(err) != test.lost || IsUnreachable(err) != test.lost {
					t.Errorf("%s: %v", name, err)
				}
			})
			for _, at := range []time.Duration{5 * time.Second, 15 * time.Second} {
				time.Sleep(at - time.Since(start))
				end := max(at, firstAnswerTimeout)
				if err := getMe(t, client); !IsUnreachable(err) || time.Since(start) != end || s.attempts() != 2 {
					t.Errorf("%s: a read during the write: %v after %s", name, err, time.Since(start))
				}
			}
			write.Wait()
			if err := getMe(t, client); IsUnreachable(err) != test.lost || time.Since(start) != 20*time.Second {
				t.Errorf("%s: a read after the write: %v after %s", name, err, time.Since(start))
			}
		})
	}
}

// The failure of one call is in the errors of others, and secrets stay hidden. An interruption is not a failure, and
// does not begin the ten seconds again.
func TestReachability_SharedFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := reply{err: errors.New("proxy said " + deviceSecret)}
		client, s := scriptedClient(t, failure, hangs, late(failure, firstAnswerTimeout-time.Second))
		if _, err := client.CreateDeviceToken(t.Context(), deviceSecret); err == nil {
			t.Fatal("no error")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := client.GetMe(ctx); !errors.Is(err, context.DeadlineExceeded) || IsUnreachable(err) {
			t.Errorf("an interrupted call: %v", err)
		}
		if text := client.reach.failure.Error(); !strings.Contains(text, "proxy said") {
			t.Errorf("after an interrupted call, the failure is %s", text)
		}
		if _, err := client.CreateDeviceToken(t.Context(), deviceSecret); err == nil {
			t.Fatal("no error")
		}
		err := getMe(t, client)
		if !IsUnreachable(err) || !strings.Contains(err.Error(), "proxy said") ||
			strings.Contains(err.Error(), deviceSecret) || s.attempts() != 3 {
			t.Errorf("got %v", err)
		}
	})
}
