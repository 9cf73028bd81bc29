package rental

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
)

// idempotentPOSTs are POST operations that are idempotent without an idempotency key, and the reason.
var idempotentPOSTs = map[string]string{
	"startInstance": "the API returns a conflict for a running instance",
	"stopInstance":  "the API returns a conflict for a stopped instance",

	"createDeviceCode": "a code that is not confirmed expires",
}

// idempotencyOf derives from the table of operations which ones must not be retried, so that the tests find one without
// notIdempotent.
func idempotencyOf(op operation) idempotency {
	switch {
	case op.key != "":
		return idempotentKey
	case op.method == http.MethodPost && idempotentPOSTs[op.id] == "":
		return notIdempotent
	}
	return idempotent
}

func TestRetryMatrix(t *testing.T) {
	const retries = 3
	type result struct {
		attempts int
		unknown  bool
		inFlight bool
	}
	type results struct{ idempotent, withKey, notIdempotent result }
	retried, stopped := result{attempts: 1 + retries}, result{attempts: 1}
	always, never := results{retried, retried, retried}, results{stopped, stopped, stopped}
	// afterLoss returns the results for requests that the API may have performed.
	afterLoss := func(attempts int) results {
		return results{result{attempts, false, true}, result{attempts, true, true}, result{1, true, true}}
	}
	lost, foreign, redirect := afterLoss(1+retries), afterLoss(1+maxForeignRetries), afterLoss(1)
	reset := &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	certificate := &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
	cases := map[string]struct {
		reply       reply
		want        results
		unavailable bool
	}{
		"no connection":        {refused, always, true},
		"connection closed":    {reply{err: io.ErrUnexpectedEOF}, lost, true},
		"reset":                {reply{err: reset}, lost, true},
		"bad certificate":      {reply{err: certificate}, never, true},
		"no TLS":               {reply{err: tls.RecordHeaderError{}}, never, true},
		"not the loopback":     {reply{err: &net.OpError{Op: "dial", Err: errNotLoopback}}, never, true},
		"500 of the API":       {reply{status: 500, body: errorJSON("internal")}, lost, true},
		"503 of the API":       {reply{status: 503, body: errorJSON("provider_unavailable")}, lost, true},
		"500 of a proxy":       {reply{status: 500, body: "<html>"}, lost, true},
		"503 of a proxy":       {reply{status: 503, body: "busy"}, lost, true},
		"502":                  {reply{status: 502, body: "<html>"}, lost, true},
		"504":                  {reply{status: 504, body: errorJSON("timeout")}, lost, true},
		"501":                  {reply{status: 501, body: errorJSON("internal")}, foreign, true},
		"505":                  {reply{status: 505}, foreign, true},
		"429 of a proxy":       {reply{status: 429, body: "<html>"}, lost, true},
		"undocumented pair":    {reply{status: 500, body: errorJSON("not_found")}, lost, true},
		"unknown code":         {reply{status: 409, body: errorJSON("Conflict")}, foreign, true},
		"HTML with status 200": {reply{status: 200, body: "<html>"}, foreign, true},
		"not found":            {reply{status: 404, body: errorJSON("not_found")}, never, false},
		"validation":           {reply{status: 422, body: errorJSON("validation_error")}, never, false},
		"403 of a proxy":       {reply{status: 403, body: "<html>"}, foreign, true},
		"redirect":             {reply{status: 308, header: "Location: https://other.example/"}, redirect, true},
		"oversized body":       {reply{status: 404, body: string(make([]byte, maxErrorBody+1))}, foreign, true},
	}
	for failure, test := range cases {
		for _, op := range operations(t) {
			t.Run(failure+"/"+op.id, func(t *testing.T) {
				s := &scriptedTransport{replies: []reply{test.reply}}
				client := newTestClient(t, testURL, func(c *Config) { c.Transport, c.MaxRetries = s, retries })
				_, err := op.do(t.Context(), client)
				want := map[idempotency]result{
					idempotent: test.want.idempotent, idempotentKey: test.want.withKey, notIdempotent: test.want.notIdempotent,
				}[idempotencyOf(op)]
				if got := (result{s.attempts(), IsOutcomeUnknown(err), IsInFlight(err)}); err == nil || got != want {
					t.Errorf("got %+v (%v), want %+v", got, err, want)
				}
				if e := asError(t, err); e.Attempts != s.attempts() || e.Status != test.reply.status {
					t.Errorf("%d attempts and status %d in the error, want %d and %d",
						e.Attempts, e.Status, s.attempts(), test.reply.status)
				}
				if IsUnavailable(err) != test.unavailable {
					t.Errorf("unavailable is %t for %v", !test.unavailable, err)
				}
			})
		}
	}
}

// A response of the API to a retry shows whether an earlier attempt was performed, but a 401, a 403 or a foreign
// response does not.
func TestOutcomeUnknown_AfterRetry(t *testing.T) {
	cut := reply{err: io.ErrUnexpectedEOF}
	tests := []struct {
		name    string
		replies []reply
		unknown bool
	}{
		{"then created", []reply{cut, {status: 201, body: `{"id":"i"}`}}, false},
		{"then replayed", []reply{cut, cut, {status: 200, body: `{"id":"i"}`}}, false},
		{"then no funds", []reply{cut, {status: 402, body: errorJSON("insufficient_funds")}}, false},
		{"then conflict", []reply{cut, {status: 409, body: errorJSON("conflict")}}, false},
		{"then unauthorized", []reply{cut, {status: 401, body: errorJSON("unauthorized")}}, true},
		{"then forbidden", []reply{cut, {status: 403, body: errorJSON("forbidden")}}, true},
		{"then HTML of a proxy", []reply{cut, {status: 404, body: "<html>"}}, true},
		{"then no connection", []reply{cut, refused}, true},
		{"no connection, then conflict", []reply{refused, {status: 409, body: errorJSON("conflict")}}, false},
		{"rate limited, then no funds", []reply{
			{status: 429, body: errorJSON("rate_limited")}, {status: 402, body: errorJSON("insufficient_funds")},
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client, _ := scriptedClient(t, test.replies...)
			_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
			if IsOutcomeUnknown(err) != test.unknown {
				t.Errorf("outcome unknown is %t: %v", !test.unknown, err)
			}
		})
	}
}

func TestMaxRetries(t *testing.T) {
	for configured, want := range map[int]int{-1: 1, 0: 1 + DefaultMaxRetries, 2: 3} {
		s := &scriptedTransport{replies: []reply{{status: 502}}}
		client := newTestClient(t, testURL, func(c *Config) { c.Transport, c.MaxRetries = s, configured })
		if _, err := client.GetMe(t.Context()); !IsUnavailable(err) || s.attempts() != want {
			t.Errorf("MaxRetries %d: %d attempts (%v), want %d", configured, s.attempts(), err, want)
		}
	}
}

func TestMaxRetries_DoesNotLimit429(t *testing.T) {
	for _, op := range operations(t) {
		t.Run(op.id, func(t *testing.T) {
			limited := reply{status: 429, body: errorJSON("rate_limited")}
			notFound := reply{status: 404, body: errorJSON("not_found")}
			s := &scriptedTransport{replies: []reply{limited, limited, limited, limited, notFound}}
			client := newTestClient(t, testURL, func(c *Config) { c.Transport, c.MaxRetries = s, -1 })
			if _, err := op.do(t.Context(), client); !IsNotFound(err) || IsOutcomeUnknown(err) {
				t.Errorf("got %v, want the response after the 429", err)
			}
		})
	}
}

func TestRetry_SendsSameBodyAndKey(t *testing.T) {
	client, s := scriptedClient(t, reply{status: 503, body: errorJSON("provider_unavailable")}, reply{err: io.EOF},
		reply{status: 201, body: `{"id":"i"}`})
	var seen []string
	s.onRequest = func(req *http.Request) {
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

// connectionRefused returns the error of a port without a listener. On Windows it is WSAECONNREFUSED: package syscall
// has ECONNREFUSED there, but no system call returns it.
func connectionRefused() error {
	if runtime.GOOS == "windows" {
		return syscall.Errno(10061)
	}
	return syscall.ECONNREFUSED
}

// With real connections: a refused connection proves that nothing was sent, and a connection that breaks after the
// request does not.
func TestRetry_RealConnections(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		client := newTestClient(t, server.URL+"/api/v1", func(c *Config) { c.MaxRetries = 2 })
		_, err := client.CreateTemplate(t.Context(), TemplateCreate{})
		if e := asError(t, err); e.Attempts != 3 || IsOutcomeUnknown(err) || !errors.Is(err, connectionRefused()) {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("closed after the request", func(t *testing.T) {
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
		client := newServerClient(t, handler)
		if _, err := client.CreateTemplate(t.Context(), TemplateCreate{}); !IsOutcomeUnknown(err) || served.Load() != 1 {
			t.Errorf("template: %d requests, %v", served.Load(), err)
		}
		served.Store(0)
		if _, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{}); err != nil || served.Load() != 2 {
			t.Errorf("instance: %d requests, %v", served.Load(), err)
		}
	})
}
