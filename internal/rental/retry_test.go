package rental

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// idempotencyOf derives from the table of operations which ones must not be retried, so that the tests find one without
// notIdempotent. A second start or stop is a conflict, and a code that is not confirmed expires.
func idempotencyOf(op operation) idempotency {
	repeatable := []string{"startInstance", "stopInstance", "createDeviceCode"}
	switch {
	case op.key != "":
		return idempotentKey
	case op.doc.Method == http.MethodPost && !slices.Contains(repeatable, op.id):
		return notIdempotent
	}
	return idempotent
}

func TestRetryMatrix(t *testing.T) {
	const maxRetries = 3
	type result struct {
		attempts int
		unknown  bool
		inFlight bool
	}
	type results map[idempotency]result
	same := func(attempts int) results {
		all := result{attempts: attempts}
		return results{idempotent: all, idempotentKey: all, notIdempotent: all}
	}
	// afterLoss returns the results for requests that the API may have performed.
	afterLoss := func(attempts int) results {
		return results{
			idempotent:    {attempts, false, true},
			idempotentKey: {attempts, true, true},
			notIdempotent: {1, true, true},
		}
	}
	always, never, lost := same(1+maxRetries), same(1), afterLoss(1+maxRetries)
	foreign, redirect := afterLoss(1+maxForeignRetries), afterLoss(1)
	for name, test := range map[string]struct {
		reply       reply
		want        results
		unavailable bool
	}{
		"no connection":        {refused, always, true},
		"connection closed":    {cut, lost, true},
		"reset":                {reply{err: &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}}, lost, true},
		"bad certificate":      {reply{err: &tls.CertificateVerificationError{}}, never, true},
		"no TLS":               {reply{err: tls.RecordHeaderError{}}, never, true},
		"not the loopback":     {reply{err: &net.OpError{Op: "dial", Err: errNotLoopback}}, never, true},
		"500 of the API":       {failed(CodeInternal), lost, true},
		"503 of the API":       {failed(CodeProviderUnavailable), lost, true},
		"500 of a proxy":       {reply{status: 500, body: "<html>"}, lost, true},
		"502":                  {badGateway, lost, true},
		"504":                  {reply{status: 504, body: errorJSON("timeout")}, lost, true},
		"501":                  {reply{status: 501, body: errorJSON(CodeInternal)}, foreign, true},
		"505":                  {reply{status: 505}, foreign, true},
		"429 of a proxy":       {reply{status: 429, body: "<html>"}, lost, true},
		"undocumented pair":    {reply{status: 500, body: errorJSON(CodeNotFound)}, lost, true},
		"unknown code":         {reply{status: 409, body: errorJSON("Conflict")}, foreign, true},
		"HTML with status 200": {ok("<html>"), foreign, true},
		"not found":            {failed(CodeNotFound), never, false},
		"validation":           {failed(CodeValidation), never, false},
		"403 of a proxy":       {reply{status: 403, body: "<html>"}, foreign, true},
		"redirect":             {reply{status: 308, header: "Location: https://other.example/"}, redirect, true},
		"oversized body":       {reply{status: 404, body: string(make([]byte, maxErrorBody+1))}, foreign, true},
	} {
		for _, op := range operations() {
			s := inTurn(test.reply)
			_, err := op.call(t.Context(), newTestClient(t, s, retries(maxRetries)))
			got, want := result{s.attempts(), IsOutcomeUnknown(err), IsInFlight(err)}, test.want[idempotencyOf(op)]
			if err == nil || got != want || IsUnavailable(err) != test.unavailable {
				t.Errorf("%s, %s: got %+v, unavailable %t (%v); want %+v, %t", name, op.id, got, IsUnavailable(err), err,
					want, test.unavailable)
			}
			if e := asError(t, err); e.Attempts != s.attempts() || e.Status != test.reply.status {
				t.Errorf("%s, %s: %d attempts and status %d in the error", name, op.id, e.Attempts, e.Status)
			}
		}
	}
}

// A response of the API to a retry shows whether an earlier attempt was performed, but a 401, a 403 or a foreign
// response does not. Whatever it is, the lost attempt is in flight for one request timeout.
func TestOutcomeUnknown_AfterRetry(t *testing.T) {
	created, repeated := reply{status: 201, body: `{"id":"i"}`}, ok(`{"id":"i"}`)
	marked := reply{status: 201, body: `{"id":"i"}`, header: "Idempotent-Replayed: true"}
	for name, test := range map[string]struct {
		replies           []reply
		unknown, inFlight bool
		replay            Replay
	}{
		"created":                      {[]reply{created}, false, false, NotReplayed},
		"replayed":                     {[]reply{repeated}, false, false, Replayed},
		"replayed, with the header":    {[]reply{marked}, false, false, Replayed},
		"then created":                 {[]reply{cut, created}, false, false, NotReplayed},
		"then replayed":                {[]reply{cut, cut, repeated}, false, false, ReplayedAfterLoss},
		"then no funds":                {[]reply{cut, failed(CodeInsufficientFunds)}, false, true, NotReplayed},
		"then unauthorized":            {[]reply{cut, failed(CodeUnauthorized)}, true, true, NotReplayed},
		"then forbidden":               {[]reply{cut, failed(CodeForbidden)}, true, true, NotReplayed},
		"then HTML of a proxy":         {[]reply{cut, {status: 404, body: "<html>"}}, true, true, NotReplayed},
		"then no connection":           {[]reply{cut, refused}, true, true, NotReplayed},
		"no connection, then conflict": {[]reply{refused, failed(CodeConflict)}, false, false, NotReplayed},
		"rate limited, then no funds": {
			[]reply{failed(CodeRateLimited), failed(CodeInsufficientFunds)}, false, false, NotReplayed,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, _ := scriptedClient(t, test.replies...)
			_, replay, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
			if IsOutcomeUnknown(err) != test.unknown || IsInFlight(err) != test.inFlight || replay != test.replay {
				t.Errorf("%s: outcome unknown %t, in flight %t, replay %d: %v", name, IsOutcomeUnknown(err), IsInFlight(err),
					replay, err)
			}
			if time.Sleep(DefaultRequestTimeout); IsInFlight(err) {
				t.Errorf("%s: still in flight after %s", name, DefaultRequestTimeout)
			}
		})
	}
}

// When a reused connection breaks, net/http sends a request with an idempotency key again. The end of the second one
// shows nothing about the first.
func TestInFlight_AfterReplayByNetHTTP(t *testing.T) {
	for name, second := range map[string]reply{"rejected": failed(CodeInsufficientFunds), "no connection": refused} {
		client := newTestClient(t, &script{answer: func(req *http.Request, _ int) reply {
			trace := httptrace.ContextClientTrace(req.Context())
			trace.GetConn("")
			trace.WroteHeaders()
			trace.WroteHeaders()
			return second
		}}, retries(-1))
		_, _, err := client.CreateInstance(t.Context(), "k", InstanceCreate{})
		if rejected := IsInsufficientFunds(err); !IsInFlight(err) || IsOutcomeUnknown(err) == rejected {
			t.Errorf("%s: %v, in flight %t, outcome unknown %t", name, err, IsInFlight(err), IsOutcomeUnknown(err))
		}
	}
}

// A 429 does not count as a retry.
func TestMaxRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for configured, want := range map[int]int{-1: 1, 0: 1 + DefaultMaxRetries, 2: 3} {
			s := inTurn(failed(CodeRateLimited), failed(CodeRateLimited), failed(CodeRateLimited), badGateway)
			err := getMe(t, newTestClient(t, s, retries(configured)))
			if asError(t, err).Status != http.StatusBadGateway || s.attempts() != 3+want {
				t.Errorf("MaxRetries %d: %d attempts (%v), want %d", configured, s.attempts(), err, 3+want)
			}
		}
	})
}

func TestRetry_SendsSameBodyAndKey(t *testing.T) {
	var seen []string
	client := newTestClient(t, &script{answer: func(req *http.Request, n int) reply {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		seen = append(seen, req.Header.Get("Idempotency-Key")+string(body))
		return []reply{failed(CodeProviderUnavailable), cut, {status: 201, body: `{"id":"i"}`}}[n]
	}})
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
	var served atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		served.Add(1)
		panic(http.ErrAbortHandler)
	}))
	create := func() *Error {
		_, err := newTestClient(t, nil, baseURL(server.URL), retries(2)).CreateTemplate(t.Context(), TemplateCreate{})
		return asError(t, err)
	}
	if err := create(); !IsOutcomeUnknown(err) || served.Load() != 1 {
		t.Errorf("with a broken connection: %d requests, %v", served.Load(), err)
	}
	server.Close()
	if err := create(); err.Attempts != 3 || IsOutcomeUnknown(err) || !errors.Is(err, connectionRefused()) {
		t.Errorf("without a server: %+v", err)
	}
}

// A failed write counts, too: the API may have performed it.
func TestWrites_Failed(t *testing.T) {
	client, _ := scriptedClient(t, failed(CodeNotFound))
	_, err := client.StopInstance(t.Context(), "x")
	if !IsNotFound(err) || client.Writes("instances") != 1 || client.Writes("templates") != 0 {
		t.Errorf("%v, %d writes", err, client.Writes("instances"))
	}
}
