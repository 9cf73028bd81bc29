package rental

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// closeAfterSecondRequest starts a server that responds to the first request, reads the second one on the same
// connection, closes it without a response, and accepts no other connection. requests returns how many requests it has
// read.
func closeAfterSecondRequest(t *testing.T, first string) (base string, requests func() int) {
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

// When a reused connection breaks, net/http sends a request with an idempotency key again. If the second connection
// fails, the first request may still have reached the API.
func TestInFlight_AfterReplayByNetHTTP(t *testing.T) {
	response := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{\"id\":\"u\"}"
	base, requests := closeAfterSecondRequest(t, response)
	client := newTestClient(t, base, func(c *Config) { c.MaxRetries = -1 })
	if _, err := client.GetMe(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
	if got := requests(); got != 2 {
		t.Fatalf("the server read %d requests, want 2: the connection was not reused", got)
	}
	if operation, ok := errors.AsType[*net.OpError](err); !ok || operation.Op != "dial" {
		t.Fatalf("got %v, want the error of the second connection", err)
	}
	if !IsOutcomeUnknown(err) || !IsInFlight(err) {
		t.Errorf("outcome unknown %t, in flight %t: want both", IsOutcomeUnknown(err), IsInFlight(err))
	}
}

// roundTrip is a transport that calls a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// An error of the API after a replay by net/http shows nothing about the first request.
func TestInFlight_RejectedAfterReplayByNetHTTP(t *testing.T) {
	transport := roundTrip(func(req *http.Request) (*http.Response, error) {
		trace := httptrace.ContextClientTrace(req.Context())
		trace.GetConn("")
		trace.WroteHeaders()
		trace.WroteHeaders()
		return (&scriptedTransport{replies: []reply{{status: 402, body: errorJSON(CodeInsufficientFunds)}}}).RoundTrip(req)
	})
	client := newTestClient(t, testURL, func(c *Config) { c.Transport = transport })
	_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
	if !IsInsufficientFunds(err) || !IsInFlight(err) {
		t.Errorf("got %v, in flight %t", err, IsInFlight(err))
	}
}

// After a lost response the request is in flight for one request timeout, whatever the response to the retry is.
func TestInFlight_AfterLostResponse(t *testing.T) {
	const timeout = 20 * time.Second
	rejection := reply{status: 402, body: errorJSON(CodeInsufficientFunds)}
	for name, test := range map[string]struct {
		first    reply
		inFlight bool
	}{
		"reset":          {reply{err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}, true},
		"cut":            {reply{err: io.ErrUnexpectedEOF}, true},
		"timeout":        {reply{err: context.DeadlineExceeded}, true},
		"502":            {reply{status: 502, body: "<html>"}, true},
		"504":            {reply{status: 504, body: "<html>"}, true},
		"500 of the API": {reply{status: 500, body: errorJSON(CodeInternal)}, true},
		"503 of the API": {reply{status: 503, body: errorJSON(CodeProviderUnavailable)}, true},
		"foreign 404":    {reply{status: 404, body: "<html>"}, true},
		"foreign 200":    {reply{status: 200, body: "<html>"}, true},
		"foreign 429":    {reply{status: 429, body: "<html>"}, true},
		"no connection":  {reply{err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, false},
		"429 of the API": {reply{status: 429, body: errorJSON(CodeRateLimited)}, false},
		"402 of the API": {rejection, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scriptedTransport{replies: []reply{test.first, rejection}}
				client := newTestClient(t, testURL, func(c *Config) { c.Transport, c.RequestTimeout = s, timeout })
				_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
				if !IsInsufficientFunds(err) || IsInFlight(err) != test.inFlight {
					t.Errorf("got %v, in flight %t; want a 402, in flight %t", err, IsInFlight(err), test.inFlight)
				}
				time.Sleep(timeout)
				if IsInFlight(err) {
					t.Errorf("still in flight after %s", timeout)
				}
			})
		})
	}
}
