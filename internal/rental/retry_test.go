package rental

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// repeatable are operations that a lost answer allows to be done again.
var repeatable = map[string]func(context.Context, *Client) error{
	"get": func(ctx context.Context, c *Client) error { _, err := c.GetMe(ctx); return err },
	"list": func(ctx context.Context, c *Client) error {
		_, err := collect(c.ListAPIKeys(ctx, ListOptions{}))
		return err
	},
	"patch": func(ctx context.Context, c *Client) error {
		_, err := c.UpdateInstance(ctx, "i", InstanceUpdate{})
		return err
	},
	"start":  func(ctx context.Context, c *Client) error { _, err := c.StartInstance(ctx, "i"); return err },
	"stop":   func(ctx context.Context, c *Client) error { _, err := c.StopInstance(ctx, "i"); return err },
	"delete": func(ctx context.Context, c *Client) error { return c.DeleteTemplate(ctx, "t") },

	"keyed": func(ctx context.Context, c *Client) error {
		_, _, err := c.CreateInstance(ctx, "k", InstanceCreate{})
		return err
	},
}

// harmless are the operations that may be repeated though they are a POST without an idempotency key, and why.
var harmless = map[string]string{
	"startInstance": "a server that runs is not started once more: that is a conflict",
	"stopInstance":  "a server that is stopped is not stopped once more: that is a conflict",

	"createDeviceCode": "a code that nobody confirms expires",
}

// kinds are some operations by what a lost answer allows, and all that must not be repeated: those come from the table of
// operations, so that one whose request forgets to say so is found.
func kinds(t *testing.T) map[string]func(context.Context, *Client) error {
	all := maps.Clone(repeatable)
	for _, op := range operations(t) {
		if op.method == http.MethodPost && op.key == "" && harmless[op.id] == "" {
			all["once "+op.id] = func(ctx context.Context, c *Client) error { _, err := op.do(ctx, c); return err }
		}
	}
	return all
}

func kindOf(name string) repeat {
	switch {
	case name == "keyed":
		return keyed
	case len(name) > 4 && name[:4] == "once":
		return onlyOnce
	}
	return free
}

func TestRetryMatrix(t *testing.T) {
	const retries = 3
	type outcome struct {
		attempts int
		unknown  bool
	}
	stop, again := outcome{1, false}, outcome{1 + retries, false}
	lost, lostForGood := outcome{1 + retries, true}, outcome{1, true}
	twice, twiceLost := outcome{1 + maxForeignRetries, false}, outcome{1 + maxForeignRetries, true}
	cases := map[string]struct {
		step             step
		free, keyed, one outcome
		unavailable      bool
	}{
		"no connection":                 {step{err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}, again, again, again, true},
		"connection cut":                {step{err: io.ErrUnexpectedEOF}, again, lost, lostForGood, true},
		"reset":                         {step{err: &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}}, again, lost, lostForGood, true},
		"bad certificate":               {step{err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}, stop, stop, stop, true},
		"own 500":                       {step{status: 500, body: errorBody("internal")}, again, lost, lostForGood, true},
		"own 503":                       {step{status: 503, body: errorBody("provider_unavailable")}, again, lost, lostForGood, true},
		"a proxy's 500":                 {step{status: 500, body: "<html>"}, again, lost, lostForGood, true},
		"a proxy's 503":                 {step{status: 503, body: "busy"}, again, lost, lostForGood, true},
		"502":                           {step{status: 502, body: "<html>"}, again, lost, lostForGood, true},
		"504":                           {step{status: 504, body: errorBody("timeout")}, again, lost, lostForGood, true},
		"501":                           {step{status: 501, body: errorBody("internal")}, twice, twiceLost, lostForGood, true},
		"505":                           {step{status: 505}, twice, twiceLost, lostForGood, true},
		"a proxy's 429":                 {step{status: 429, body: "<html>"}, again, lost, lostForGood, true},
		"a pair that is not documented": {step{status: 500, body: errorBody("not_found")}, again, lost, lostForGood, true},
		"a foreign code":                {step{status: 409, body: errorBody("Conflict")}, twice, twiceLost, lostForGood, true},
		"a page as a success":           {step{status: 200, body: "<html>"}, twice, twiceLost, lostForGood, true},
		"not found":                     {step{status: 404, body: errorBody("not_found")}, stop, stop, stop, false},
		"validation":                    {step{status: 422, body: errorBody("validation_error")}, stop, stop, stop, false},
		"a proxy's 403":                 {step{status: 403, body: "<html>"}, twice, twiceLost, lostForGood, true},
		"redirect":                      {step{status: 308, header: "Location: https://other.example/"}, stop, outcome{1, true}, lostForGood, true},
		"oversized answer":              {step{status: 404, body: string(make([]byte, maxErrorBody+1))}, twice, twiceLost, lostForGood, true},
	}
	for failure, test := range cases {
		for name, do := range kinds(t) {
			t.Run(failure+"/"+name, func(t *testing.T) {
				s := &script{steps: []step{test.step}}
				client := connect(t, "https://rent.example/api/v1", func(c *Config) { c.Transport, c.MaxRetries = s, retries })
				err := do(t.Context(), client)
				want := map[repeat]outcome{free: test.free, keyed: test.keyed, onlyOnce: test.one}[kindOf(name)]
				if got := (outcome{s.attempts(), IsOutcomeUnknown(err)}); err == nil || got != want {
					t.Errorf("got %+v (%v), want %+v", got, err, want)
				}
				if e := asError(t, err); e.Attempts != s.attempts() || e.Status != test.step.status {
					t.Errorf("the error tells %d attempts and status %d, not %d and %d", e.Attempts, e.Status, s.attempts(), test.step.status)
				}
				if IsUnavailable(err) != test.unavailable {
					t.Errorf("unavailable is %t for %v", !test.unavailable, err)
				}
			})
		}
	}
}

// A repeat's answer can settle what an earlier attempt left open; a refusal that comes before the idempotency key is looked up, or
// that is not the service's, cannot.
func TestLaterAnswersAndDoubt(t *testing.T) {
	cut := step{err: io.ErrUnexpectedEOF}
	refused := step{err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}
	tests := []struct {
		name    string
		steps   []step
		unknown bool
	}{
		{"then created", []step{cut, {status: 201, body: `{"id":"i"}`}}, false},
		{"then replayed", []step{cut, cut, {status: 200, body: `{"id":"i"}`}}, false},
		{"then no funds", []step{cut, {status: 402, body: errorBody("insufficient_funds")}}, false},
		{"then conflict", []step{cut, {status: 409, body: errorBody("conflict")}}, false},
		{"then unauthorized", []step{cut, {status: 401, body: errorBody("unauthorized")}}, true},
		{"then forbidden", []step{cut, {status: 403, body: errorBody("forbidden")}}, true},
		{"then a proxy's page", []step{cut, {status: 404, body: "<html>"}}, true},
		{"then no connection", []step{cut, refused}, true},
		{"no connection at first", []step{refused, {status: 409, body: errorBody("conflict")}}, false},
		{"limited at first", []step{{status: 429, body: errorBody("rate_limited")}, {status: 402, body: errorBody("insufficient_funds")}}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client, _ := play(t, test.steps...)
			_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
			if IsOutcomeUnknown(err) != test.unknown {
				t.Errorf("outcome unknown is %t: %v", !test.unknown, err)
			}
		})
	}
}

func TestMaxRetries(t *testing.T) {
	for configured, want := range map[int]int{-1: 1, 0: 1 + DefaultMaxRetries, 2: 3} {
		s := &script{steps: []step{{status: 502}}}
		client := connect(t, "https://rent.example/api/v1", func(c *Config) { c.Transport, c.MaxRetries = s, configured })
		if _, err := client.GetMe(t.Context()); !IsUnavailable(err) || s.attempts() != want {
			t.Errorf("MaxRetries %d: %d attempts (%v), want %d", configured, s.attempts(), err, want)
		}
	}
}

// A 429 is not one of the counted retries, for any operation.
func TestRateLimitIsNotCounted(t *testing.T) {
	for name, do := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			limited := step{status: 429, header: "Retry-After: 0", body: errorBody("rate_limited")}
			s := &script{steps: []step{limited, limited, limited, limited, {status: 404, body: errorBody("not_found")}}}
			client := connect(t, "https://rent.example/api/v1", func(c *Config) { c.Transport, c.MaxRetries = s, -1 })
			if err := do(t.Context(), client); !IsNotFound(err) || IsOutcomeUnknown(err) {
				t.Errorf("got %v, want the answer after the wait", err)
			}
		})
	}
}

// The bodies and keys of repeats are those of the first attempt.
func TestRepeatsAreTheSameRequest(t *testing.T) {
	client, s := play(t, step{status: 503, body: errorBody("provider_unavailable")}, step{err: io.EOF}, step{status: 201, body: `{"id":"i"}`})
	var seen []string
	s.seen = func(req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		seen = append(seen, req.Header.Get("Idempotency-Key")+string(body))
	}
	if _, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{OfferID: "o"}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 3 || seen[0] != seen[1] || seen[1] != seen[2] || seen[0] == "k" {
		t.Errorf("sent %q", seen)
	}
}

// On a real network: a refused connection proves that nothing was sent, a connection cut after the request does not.
// connectionRefused is the error of a port on which nothing listens. On Windows, it is WSAECONNREFUSED: package syscall
// has ECONNREFUSED there, but no system call returns it.
func connectionRefused() error {
	if runtime.GOOS == "windows" {
		return syscall.Errno(10061)
	}
	return syscall.ECONNREFUSED
}

func TestLostOnTheWire(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		client := connect(t, server.URL+"/api/v1", func(c *Config) { c.MaxRetries = 2 })
		_, err := client.CreateTemplate(t.Context(), TemplateCreate{})
		if e := asError(t, err); e.Attempts != 3 || IsOutcomeUnknown(err) || !errors.Is(err, connectionRefused()) {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("no TLS", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		defer server.Close()
		client := connect(t, "https"+server.URL[4:]+"/api/v1")
		_, err := client.CreateTemplate(t.Context(), TemplateCreate{})
		if e := asError(t, err); e.Attempts != 1 || IsOutcomeUnknown(err) {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("cut before TLS", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var server sync.WaitGroup
		server.Go(func() {
			for {
				connection, err := listener.Accept()
				if err != nil {
					return
				}
				if err := connection.Close(); err != nil {
					t.Error(err)
				}
			}
		})
		client := connect(t, "https://"+listener.Addr().String()+"/api/v1", func(c *Config) { c.MaxRetries = 2 })
		_, err = client.CreateTemplate(t.Context(), TemplateCreate{})
		if e := asError(t, err); e.Attempts != 3 || IsOutcomeUnknown(err) {
			t.Errorf("got %+v", e)
		}
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		server.Wait()
	})
	t.Run("unknown authority", func(t *testing.T) {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = quiet
		server.StartTLS()
		defer server.Close()
		client := connect(t, server.URL+"/api/v1")
		_, err := client.CreateTemplate(t.Context(), TemplateCreate{})
		if e := asError(t, err); e.Attempts != 1 || IsOutcomeUnknown(err) || !IsUnavailable(err) {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("cut", func(t *testing.T) {
		var served atomic.Int32
		handler := func(w http.ResponseWriter, _ *http.Request) {
			if served.Add(1)%2 == 1 {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(http.StatusCreated)
			if _, err := io.WriteString(w, `{"id":"i","slug":"s"}`); err != nil {
				t.Error(err)
			}
		}
		client := serve(t, handler)
		if _, err := client.CreateTemplate(t.Context(), TemplateCreate{}); !IsOutcomeUnknown(err) || served.Load() != 1 {
			t.Errorf("template: %d requests, %v", served.Load(), err)
		}
		served.Store(0)
		if _, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{}); err != nil || served.Load() != 2 {
			t.Errorf("instance: %d requests, %v", served.Load(), err)
		}
	})
}
