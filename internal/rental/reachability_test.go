package rental

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var (
	refused      = reply{err: &net.OpError{Op: "dial", Net: "tcp", Err: connectionRefused()}}
	badGateway   = reply{status: http.StatusBadGateway, body: "<html>"}
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

// A client gives up on an API that does not answer, remembers it, and names what happened and the address.
func TestReachability_GivesUpAfterTenSeconds(t *testing.T) {
	accepted := pipeTransport(func(conn net.Conn) { time.Sleep(time.Hour) })
	for name, test := range map[string]struct {
		transport http.RoundTripper
		want      string
	}{
		"closed port":  {&scriptedTransport{replies: []reply{refused}}, "connection refused"},
		"gateway page": {&scriptedTransport{replies: []reply{badGateway}}, "502 Bad Gateway"},
		"black hole": {
			&scriptedTransport{replies: []reply{{err: context.Canceled}}, onRequest: hang}, "no complete response within 10s",
		},
		"accepted and never answered": {plainHTTP{accepted}, "no complete response within 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				client := waitingClient(t, roundTripFunc(func(req *http.Request) (*http.Response, error) {
					sent++
					return test.transport.RoundTrip(req)
				}))
				start := time.Now()
				first := asError(t, getMe(t, client))
				if took := time.Since(start); took != firstAnswerTimeout || first.Attempts != sent {
					t.Errorf("after %s and %d requests: %+v", took, sent, first)
				}
				before := sent
				_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
				later := asError(t, err)
				if time.Since(start) != firstAnswerTimeout || sent != before || later.Attempts != 0 || later.OutcomeUnknown {
					t.Errorf("after giving up: %d requests, %+v", sent-before, later)
				}
				for _, e := range []*Error{first, later} {
					text := e.Error()
					if !IsUnreachable(e) || !IsUnavailable(e) || errors.Is(e, context.Canceled) ||
						!strings.Contains(text, test.want) || !strings.Contains(text, testURL) {
						t.Errorf("got %v, want it to contain %q and the address", e, test.want)
					}
				}
				accepted.CloseIdleConnections()
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Calls at the same time share the ten seconds, also those that wait for the rate limit.
func TestReachability_SharedByConcurrentCalls(t *testing.T) {
	for name, s := range map[string]*scriptedTransport{
		"black hole":   {replies: []reply{{err: context.Canceled}}, onRequest: hang},
		"closed port":  {replies: []reply{refused}},
		"429 of proxy": {replies: []reply{{status: 429, header: "Retry-After: 50", body: "<html>"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				client := waitingClient(t, roundTripFunc(func(req *http.Request) (*http.Response, error) {
					if time.Since(start) >= firstAnswerTimeout {
						t.Error("a request was sent after the ten seconds")
					}
					return s.RoundTrip(req)
				}))
				var calls sync.WaitGroup
				for i := range 3 * initialRequests {
					calls.Go(func() {
						time.Sleep(time.Duration(i%3) * time.Second)
						if err := getMe(t, client); !IsUnreachable(err) || time.Since(start) != firstAnswerTimeout {
							t.Errorf("after %s: %v", time.Since(start), err)
						}
					})
				}
				calls.Wait()
				sent := s.attempts()
				if err := getMe(t, client); !IsUnreachable(err) || s.attempts() != sent {
					t.Errorf("%d more requests, %v", s.attempts()-sent, err)
				}
			})
		})
	}
}

// After an answer, even a late one, retries last as long as configured, also those of a call that began before.
func TestReachability_PatienceAfterFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		listings := 0
		client := waitingClient(t, roundTripFunc(func(req *http.Request) (*http.Response, error) {
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
			if _, err := collect(client.ListGPUs(t.Context(), ListOptions{})); err != nil {
				t.Errorf("a call that was in flight at the first answer: %v", err)
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
		if listings != 1 {
			t.Errorf("the call that was in flight at the first answer was sent %d times", listings)
		}
	})
}

// Only a response of the API is an answer.
func TestReachability_Answers(t *testing.T) {
	for name, test := range map[string]struct {
		first  reply
		answer bool
	}{
		"success":          {userResponse, true},
		"not found":        {reply{status: 404, body: errorJSON(CodeNotFound)}, true},
		"unauthorized":     {reply{status: 401, body: errorJSON(CodeUnauthorized)}, true},
		"rate limited":     {reply{status: 429, body: errorJSON(CodeRateLimited)}, true},
		"internal":         {reply{status: 500, body: errorJSON(CodeInternal)}, true},
		"unavailable":      {reply{status: 503, body: errorJSON(CodeProviderUnavailable)}, true},
		"HTML, 200":        {reply{status: 200, body: "<html>"}, false},
		"401 of a proxy":   {reply{status: 401, body: "<html>"}, false},
		"429 of a proxy":   {reply{status: 429}, false},
		"500 of a proxy":   {reply{status: 500, body: "<html>"}, false},
		"redirect":         {reply{status: 302, header: "Location: https://login.example/"}, false},
		"undocumented 500": {reply{status: 500, body: errorJSON(CodeNotFound)}, false},
		"network error":    {refused, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, s := scriptedClient(t, test.first, badGateway)
				_, err := client.WithoutRetries().GetMe(t.Context())
				if IsUnreachable(err) == test.answer {
					t.Errorf("unreachable is %t: %v", test.answer, err)
				}
				time.Sleep(firstAnswerTimeout)
				_, err = client.WithoutRetries().GetMe(t.Context())
				if sent := s.attempts() == 2; sent != test.answer || IsUnreachable(err) == test.answer || !IsUnavailable(err) {
					t.Errorf("%d requests, %v", s.attempts(), err)
				}
			})
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
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scriptedTransport{replies: []reply{test.reply, userResponse}, onRequest: func(req *http.Request) {
					if req.Method != http.MethodPost {
						return
					}
					select {
					case <-req.Context().Done():
						t.Error("the write was cut off")
					case <-time.After(20 * time.Second):
					}
				}}
				client := waitingClient(t, s)
				start := time.Now()
				var write sync.WaitGroup
				write.Go(func() {
					_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
					if (err != nil) != test.lost || IsOutcomeUnknown(err) != test.lost || IsUnreachable(err) != test.lost {
						t.Errorf("got %v", err)
					}
				})
				time.Sleep(15 * time.Second)
				if err := getMe(t, client); !IsUnreachable(err) || time.Since(start) != 15*time.Second {
					t.Errorf("a read during the write: %v after %s", err, time.Since(start))
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
	const secret = "device-code-with-20-characters"
	synctest.Test(t, func(t *testing.T) {
		s := &scriptedTransport{replies: []reply{{err: errors.New("proxy said " + secret)}, {err: context.Canceled}}}
		client := waitingClient(t, s)
		if _, err := client.CreateDeviceToken(t.Context(), secret); err == nil {
			t.Fatal("no error")
		}
		s.onRequest = hang
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := client.GetMe(ctx); !errors.Is(err, context.DeadlineExceeded) || IsUnreachable(err) {
			t.Errorf("an interrupted call: %v", err)
		}
		time.Sleep(firstAnswerTimeout)
		err := getMe(t, client)
		if !IsUnreachable(err) || !strings.Contains(err.Error(), "proxy said") || strings.Contains(err.Error(), secret) {
			t.Errorf("got %v", err)
		}
	})
}
