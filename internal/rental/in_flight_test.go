package rental

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// serveThenRefuse is a service that answers the first request, does the work of the second one on the same connection, closes it without
// an answer, and accepts no other connection. It returns how many requests it has read.
func serveThenRefuse(t *testing.T, first string) (base string, requests func() int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan int, 1)
	go func() {
		count := 0
		defer func() { read <- count }()
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		reader := bufio.NewReader(conn)
		for count < 2 {
			req, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return
			}
			if count++; count == 2 {
				if err := listener.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			if _, err := io.WriteString(conn, first); err != nil {
				return
			}
		}
	}()
	return "http://" + listener.Addr().String() + "/api/v1", func() int { return <-read }
}

// net/http sends a request with an idempotency key again when a reused connection breaks. That nothing listens any more then does not
// prove that the request was never sent.
func TestReplayedByTransport(t *testing.T) {
	answer := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{\"id\":\"u\"}"
	base, requests := serveThenRefuse(t, answer)
	client := newTestClient(t, base, func(c *Config) { c.MaxRetries = -1 })
	if _, err := client.GetMe(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
	if got := requests(); got != 2 {
		t.Fatalf("the service read %d requests, want 2: the connection was not reused", got)
	}
	if !isDialError(err) {
		t.Fatalf("got %v, want the error of dialling again", err)
	}
	if !IsOutcomeUnknown(err) || !IsInFlight(err) {
		t.Errorf("outcome unknown %t, in flight %t: want both, for the request was sent", IsOutcomeUnknown(err), IsInFlight(err))
	}
}

// roundTrip is a transport of one function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// A refusal after a replay by net/http says nothing about the first request.
func TestRefusedAfterReplayByTransport(t *testing.T) {
	transport := roundTrip(func(req *http.Request) (*http.Response, error) {
		trace := httptrace.ContextClientTrace(req.Context())
		trace.GetConn("")
		trace.WroteHeaders()
		trace.WroteHeaders()
		return (&scriptedTransport{replies: []reply{{status: 402, body: errorJSON(CodeInsufficientFunds)}}}).RoundTrip(req)
	})
	client := newTestClient(t, "https://rent.example/api/v1", func(c *Config) { c.Transport = transport })
	if _, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{}); !IsInsufficientFunds(err) || !IsInFlight(err) {
		t.Errorf("got %v, in flight %t", err, IsInFlight(err))
	}
}

// An answer that was lost in any way leaves work in flight for one request timeout, whatever is answered later.
func TestInFlightAfterLostAnswer(t *testing.T) {
	const timeout = 20 * time.Second
	refusal := reply{status: 402, body: errorJSON(CodeInsufficientFunds)}
	for name, test := range map[string]struct {
		first    reply
		inFlight bool
	}{
		"reset":         {reply{err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}, true},
		"cut":           {reply{err: io.ErrUnexpectedEOF}, true},
		"time-out":      {reply{err: context.DeadlineExceeded}, true},
		"502":           {reply{status: 502, body: "<html>"}, true},
		"504":           {reply{status: 504, body: "<html>"}, true},
		"own 500":       {reply{status: 500, body: errorJSON(CodeInternal)}, true},
		"own 503":       {reply{status: 503, body: errorJSON(CodeProviderUnavailable)}, true},
		"foreign 404":   {reply{status: 404, body: "<html>"}, true},
		"foreign 200":   {reply{status: 200, body: "<html>"}, true},
		"foreign 429":   {reply{status: 429, body: "<html>"}, true},
		"no connection": {reply{err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, false},
		"own 429":       {reply{status: 429, body: errorJSON(CodeRateLimited)}, false},
		"own 402":       {refusal, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scriptedTransport{replies: []reply{test.first, refusal}}
				client := newTestClient(t, "https://rent.example/api/v1", func(c *Config) { c.Transport, c.RequestTimeout = s, timeout })
				_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
				if !IsInsufficientFunds(err) || IsInFlight(err) != test.inFlight {
					t.Errorf("got %v, in flight %t; want a refusal, in flight %t", err, IsInFlight(err), test.inFlight)
				}
				time.Sleep(timeout)
				if IsInFlight(err) {
					t.Errorf("still in flight after %s", timeout)
				}
			})
		})
	}
}
