package rental

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// canary is the API key of all tests; no text of the client may contain it.
const canary = "gpr_CANARYcanaryCANARYcanaryCANARYcanary1234"

// connect makes a client of a base URL whose pauses between retries take no time.
func connect(t *testing.T, base string, change ...func(*Config)) *Client {
	t.Helper()
	config := Config{BaseURL: base, APIKey: canary, UserAgent: "test/1", Backoff: func(int) time.Duration { return 0 }}
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

// serve starts a service of one handler and a client of it.
func serve(t *testing.T, handler http.HandlerFunc, change ...func(*Config)) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	client := connect(t, server.URL+"/api/v1", change...)
	t.Cleanup(server.Close)
	return client
}

// step is one scripted end of an attempt.
type step struct {
	status int
	header string // "Name: value", or empty
	age    string // of an answer from a cache, seconds
	body   string
	err    error
}

// script is a transport that plays steps; the last one repeats.
type script struct {
	steps []step
	seen  func(*http.Request)

	mu    sync.Mutex
	count int
}

func (s *script) attempts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	now := s.steps[min(s.count, len(s.steps)-1)]
	s.count++
	s.mu.Unlock()
	if s.seen != nil {
		s.seen(req)
	}
	if now.err != nil {
		return nil, now.err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if name, value, ok := strings.Cut(now.header, ": "); ok {
		header.Set(name, value)
	}
	if now.age != "" {
		header.Set("Age", now.age)
	}
	return &http.Response{StatusCode: now.status, Header: header, Body: io.NopCloser(strings.NewReader(now.body)), Request: req}, nil
}

// play makes a client of a script.
func play(t *testing.T, steps ...step) (*Client, *script) {
	t.Helper()
	s := &script{steps: steps}
	return connect(t, "https://rent.example/api/v1", func(c *Config) { c.Transport = s }), s
}

func errorBody(code string) string {
	return `{"error":{"code":"` + code + `","message":"no"}}`
}

// collect reads a list to its end or first error.
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

func ptr[T any](value T) *T { return &value }

func moment(t *testing.T, text string) time.Time {
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
