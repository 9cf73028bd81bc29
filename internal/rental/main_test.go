package rental

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
)

// The tests of the client have one fake of the API: a script, which returns any response. A server listens only where a
// real connection is tested.
//
//	client, script := scriptedClient(t, failed(CodeConflict), ok(userJSON))
//	_, err := client.GetMe(t.Context()) // a conflict, which is not retried
//	... script.attempts() ...

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const testURL = "https://rent.example/api/v1"

// canary is the API key of all tests. No text of the client may contain it.
const canary = "gpr_CANARYcanaryCANARYcanaryCANARYcanary1234"

// reply is the end of one attempt.
type reply struct {
	status int
	header string // lines of "Name: value"; may be empty
	body   string
	stream io.Reader     // instead of body; may be nil
	err    error         // instead of a response; may be nil
	after  time.Duration // how long the attempt takes, unless its context ends before
}

// script is the transport of a client: answer returns the end of attempt n, which is counted from 0.
type script struct {
	answer func(req *http.Request, n int) reply
	sent   atomic.Int32
}

// inTurn returns the replies in turn, and the last one again and again.
func inTurn(replies ...reply) *script {
	return &script{answer: func(_ *http.Request, n int) reply { return replies[min(n, len(replies)-1)] }}
}

func (s *script) attempts() int { return int(s.sent.Load()) }

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	end := s.answer(req, int(s.sent.Add(1))-1)
	if end.after > 0 {
		if err := backoff.Sleep(req.Context(), end.after); err != nil {
			return nil, err
		}
	}
	if end.err != nil {
		if operation, ok := errors.AsType[*net.OpError](end.err); ok && operation.Op == "dial" {
			httptrace.ContextClientTrace(req.Context()).GetConn("")
		}
		return nil, end.err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	for line := range strings.SplitSeq(end.header, "\n") {
		if name, value, found := strings.Cut(line, ": "); found {
			header.Set(name, value)
		}
	}
	if end.stream == nil {
		end.stream = strings.NewReader(end.body)
	}
	return &http.Response{StatusCode: end.status, Header: header, Body: io.NopCloser(end.stream), Request: req}, nil
}

// newTestClient returns a client without pauses between retries.
func newTestClient(t *testing.T, transport http.RoundTripper, change ...func(*Config)) *Client {
	t.Helper()
	config := Config{BaseURL: testURL, APIKey: canary, UserAgent: "test/1", Transport: transport}
	config.Backoff = backoff.Exponential{Factor: 1} // a zero one would select the default
	for _, c := range change {
		c(&config)
	}
	client, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// scriptedClient returns a client that receives the replies in turn.
func scriptedClient(t *testing.T, replies ...reply) (*Client, *script) {
	t.Helper()
	s := inTurn(replies...)
	return newTestClient(t, s), s
}

// Changes for newTestClient.
func retries(n int) func(*Config)    { return func(c *Config) { c.MaxRetries = n } }
func defaultPauses(c *Config)        { c.Backoff = defaultBackoff }
func baseURL(s string) func(*Config) { return func(c *Config) { c.BaseURL = s + versionSuffix } }

func requestTimeout(d time.Duration) func(*Config) { return func(c *Config) { c.RequestTimeout = d } }

func fixedPause(d time.Duration) func(*Config) {
	return func(c *Config) { c.Backoff = backoff.Exponential{First: d, Max: d} }
}

func ok(body string) reply { return reply{status: http.StatusOK, body: body} }

// failed is an error of the API.
func failed(code string) reply { return reply{status: statusOfCode[code], body: errorJSON(code)} }

func errorJSON(code string) string {
	return `{"error":{"code":"` + code + `","message":"no"}}`
}

func rateLimited(retryAfter string) reply {
	limited := failed(CodeRateLimited)
	limited.header = "Retry-After: " + retryAfter
	return limited
}

var (
	refused    = reply{err: &net.OpError{Op: "dial", Net: "tcp", Err: connectionRefused()}}
	cut        = reply{err: io.ErrUnexpectedEOF}
	badGateway = reply{status: http.StatusBadGateway, body: "<html>"}
	hangs      = reply{after: time.Hour}
)

// late is a reply after some time.
func late(r reply, after time.Duration) reply {
	r.after = after
	return r
}

// collect returns the entries of a list until its end or first error.
func collect[T any](sequence func(func(T, error) bool)) ([]T, error) {
	var all []T
	for item, err := range sequence {
		if err != nil {
			return all, err
		}
		all = append(all, item)
	}
	return all, nil
}

func getMe(t *testing.T, c *Client) error {
	t.Helper()
	_, err := c.GetMe(t.Context())
	return err
}

func asError(t *testing.T, err error) *Error {
	t.Helper()
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("got %T (%v), want *Error", err, err)
	}
	return e
}
