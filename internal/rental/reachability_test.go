package rental

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	refused     = reply{err: &net.OpError{Op: "dial", Net: "tcp", Err: connectionRefused()}}
	badGateway  = reply{status: http.StatusBadGateway, body: "<html>"}
	unavailable = reply{
		status: http.StatusServiceUnavailable, body: errorJSON(CodeProviderUnavailable), header: "X-Request-Id: req_1",
	}
	userResponse = reply{status: http.StatusOK, body: `{"id":"u","data":[]}`}
)

// waitingClient is a client with the default pauses.
func waitingClient(t *testing.T, transport http.RoundTripper) *Client {
	t.Helper()
	return newTestClient(t, testURL, func(c *Config) { c.Transport, c.Backoff = transport, defaultBackoff })
}

// hang waits until the request is cut off.
func hang(req *http.Request) { <-req.Context().Done() }

func getMe(t *testing.T, c *Client) error {
	t.Helper()
	_, err := c.GetMe(t.Context())
	return err
}

// A client gives up on an API that does not answer ten seconds after its first request: all calls, including those that
// wait for the rate limit, and all later ones. The errors name what happened and the address.
func TestReachability_GivesUpAfterTenSeconds(t *testing.T) {
	proxyLimit := reply{status: 429, header: "Retry-After: 50", body: "<html>"}
	for name, test := range map[string]struct {
		transport *scriptedTransport
		want      string
	}{
		"closed port":  {&scriptedTransport{replies: []reply{refused}}, connectionRefused().Error()},
		"gateway page": {&scriptedTransport{replies: []reply{badGateway}}, "502 Bad Gateway"},
		"API is down":  {&scriptedTransport{replies: []reply{unavailable}}, "503 provider_unavailable (request id req_1)"},
		"429 of proxy": {&scriptedTransport{replies: []reply{proxyLimit}}, "429 Too Many Requests"},
		"black hole": {
			&scriptedTransport{replies: []reply{{err: context.Canceled}}, onRequest: hang}, "no complete response within",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, late := time.Now(), atomic.Int32{}
				client := waitingClient(t, roundTrip(func(req *http.Request) (*http.Response, error) {
					if time.Since(start) >= firstAnswerTimeout {
						late.Add(1)
					}
					return test.transport.RoundTrip(req)
				}))
				check := func(err error) {
					took := time.Since(start)
					inTime := took == firstAnswerTimeout
					if !inTime || !IsUnreachable(err) || !IsUnavailable(err) ||
						errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), testURL) {
						t.Errorf("after %s: %v", took, err)
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
				if n := late.Load(); n > 1 { // its end shows that the API does not answer
					t.Errorf("%d attempts began after %s", n, firstAnswerTimeout)
				}
				sent := test.transport.attempts()
				_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
				check(err)
				if later := asError(t, err); test.transport.attempts() != sent || later.Attempts != 0 ||
					later.OutcomeUnknown || !strings.Contains(err.Error(), test.want) {
					t.Errorf("after giving up: %d requests, %+v; want %q", test.transport.attempts()-sent, later, test.want)
				}
			})
		})
	}
}

// After an answer, even a late one, retries last as long as configured, including those of a call that began before.
func TestReachability_PatienceAfterFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		listings := 0
		client := waitingClient(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			current := userResponse
			switch at := time.Since(start); {
			case strings.HasSuffix(req.URL.Path, "/gpus"): // a slow response
				listings++
				time.Sleep(20 * time.Second)
				if err := req.Context().Err(); err != nil {
					return nil, err
				}
			case at < 9*time.Second || at > 10*time.Second && at < time.Minute:
				current = badGateway
			}
			return (&scriptedTransport{replies: []reply{current}}).RoundTrip(req)
		}))
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
		"success":          {userResponse, true},
		"unauthorized":     {reply{status: 401, body: errorJSON(CodeUnauthorized)}, true},
		"rate limited":     {reply{status: 429, body: errorJSON(CodeRateLimited)}, true},
		"internal":         {reply{status: 500, body: errorJSON(CodeInternal)}, false},
		"unavailable":      {unavailable, false},
		"HTML, 200":        {reply{status: 200, body: "<html>"}, false},
		"401 of a proxy":   {reply{status: 401, body: "<html>"}, false},
		"redirect":         {reply{status: 302, header: "Location: https://login.example/"}, false},
		"undocumented 500": {reply{status: 500, body: errorJSON(CodeNotFound)}, false},
		"network error":    {refused, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			client := waitingClient(t, &scriptedTransport{replies: []reply{test.first, badGateway}})
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

// Calls that their callers interrupt end the waiting, too.
func TestReachability_InterruptedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := waitingClient(t, &scriptedTransport{replies: []reply{{err: context.Canceled}}, onRequest: hang})
		start := time.Now()
		for range 40 {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			if _, err := client.GetMe(ctx); err == nil {
				t.Error("no error")
			}
			cancel()
		}
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("40 calls take %s", took)
		}
	})
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
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				replies := []reply{test.reply, {err: context.Canceled}, userResponse} // to the write and to reads
				s := &scriptedTransport{replies: replies, onRequest: func(req *http.Request) {
					if req.Method != http.MethodPost {
						if time.Since(start) < firstAnswerTimeout {
							hang(req)
						}
						return
					}
					select {
					case <-req.Context().Done():
						t.Error("the write was cut off")
					case <-time.After(20 * time.Second):
					}
				}}
				client := waitingClient(t, s)
				var write sync.WaitGroup
				write.Go(func() {
					_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
					if (err != nil) != test.lost || IsOutcomeUnknown(err) != test.lost || IsUnreachable(err) != test.lost {
						t.Errorf("got %v", err)
					}
				})
				for _, at := range []time.Duration{5 * time.Second, 15 * time.Second} {
					time.Sleep(at - time.Since(start))
					end := max(at, firstAnswerTimeout)
					if err := getMe(t, client); !IsUnreachable(err) || time.Since(start) != end || s.attempts() != 2 {
						t.Errorf("a read during the write: %v after %s", err, time.Since(start))
					}
				}
				write.Wait()
				err := getMe(t, client)
				if IsUnreachable(err) != test.lost || time.Since(start) != 20*time.Second {
					t.Errorf("a read after the write: %v after %s", err, time.Since(start))
				}
			})
		})
	}
}

// The failure of one call is in the errors of others. An interruption is not a failure, and secrets stay hidden.
func TestReachability_SharedFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scriptedTransport{
			replies: []reply{{err: errors.New("proxy said " + deviceSecret)}},
		}
		client := waitingClient(t, s)
		if _, err := client.CreateDeviceToken(t.Context(), deviceSecret); err == nil {
			t.Fatal("no error")
		}
		s.onRequest = hang
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := client.GetMe(ctx); !errors.Is(err, context.DeadlineExceeded) || IsUnreachable(err) {
			t.Errorf("an interrupted call: %v", err)
		}
		if text := client.reach.failure.Error(); !strings.Contains(text, "proxy said") {
			t.Errorf("after an interrupted call, the failure is %s", text)
		}
		s.onRequest = func(*http.Request) { time.Sleep(firstAnswerTimeout) }
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
