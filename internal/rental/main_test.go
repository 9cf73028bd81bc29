package rental

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gpurent/terraform-provider-gpurent/internal/backoff"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const testURL = "https://rent.example/api/v1"

// canary is the API key of all tests. No text of the client may contain it.
const canary = "gpr_CANARYcanaryCANARYcanaryCANARYcanary1234"

// noPause has pauses of 0. A zero Exponential would select the default of Config.Backoff.
var noPause = backoff.Exponential{Factor: 1}

func fixedPause(d time.Duration) backoff.Exponential { return backoff.Exponential{First: d, Max: d} }

// newTestClient returns a client without pauses between retries.
func newTestClient(t *testing.T, base string, change ...func(*Config)) *Client {
	t.Helper()
	config := Config{BaseURL: base, APIKey: canary, UserAgent: "test/1", Backoff: noPause}
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

// newServerClient starts a server with one handler and returns a client of it.
func newServerClient(t *testing.T, handler http.HandlerFunc, change ...func(*Config)) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	client := newTestClient(t, server.URL+"/api/v1", change...)
	t.Cleanup(server.Close)
	return client
}

// reply is the scripted end of one attempt.
type reply struct {
	status int
	header string // "Name: value"; may be empty
	age    string // Age header, seconds; empty for none
	date   string // Date header; empty for none
	body   string
	err    error
}

// scriptedTransport returns the replies in turn, and the last one again and again.
type scriptedTransport struct {
	replies   []reply
	onRequest func(*http.Request)

	mu    sync.Mutex
	count int
}

func (s *scriptedTransport) attempts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *scriptedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	current := s.replies[min(s.count, len(s.replies)-1)]
	s.count++
	s.mu.Unlock()
	if s.onRequest != nil {
		s.onRequest(req)
	}
	if current.err != nil {
		if operation, ok := errors.AsType[*net.OpError](current.err); ok && operation.Op == "dial" {
			httptrace.ContextClientTrace(req.Context()).GetConn("")
		}
		return nil, current.err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if name, value, ok := strings.Cut(current.header, ": "); ok {
		header.Set(name, value)
	}
	if current.age != "" {
		header.Set("Age", current.age)
	}
	if current.date != "" {
		header.Set("Date", current.date)
	}
	return &http.Response{
		StatusCode: current.status, Header: header, Body: io.NopCloser(strings.NewReader(current.body)), Request: req,
	}, nil
}

// scriptedClient returns a client of a scriptedTransport.
func scriptedClient(t *testing.T, replies ...reply) (*Client, *scriptedTransport) {
	t.Helper()
	s := &scriptedTransport{replies: replies}
	return newTestClient(t, testURL, func(c *Config) { c.Transport = s }), s
}

func errorJSON(code string) string {
	return `{"error":{"code":"` + code + `","message":"no"}}`
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

func parseTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func asError(t *testing.T, err error) *Error {
	t.Helper()
	e, ok := err.(*Error)
	if !ok {
		t.Fatalf("got %T (%v), want *Error", err, err)
	}
	return e
}
