// Package contracttest validates the traffic between a client and a server of the rental API against the contract.
//
//	checker := contracttest.New(t)
//	server := httptest.NewServer(checker.Wrap(handler))
//
// It is for tests only. No package of the binary may import it.
package contracttest

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// excerptSize is the maximum number of bytes of a body in a message.
const excerptSize = 300

// Checker reports contract violations to a test. It is safe for concurrent use. It reports nothing after the test has
// ended.
type Checker struct {
	doc          *document
	allowInvalid bool

	mu    sync.Mutex
	t     testing.TB
	ended bool
}

// Option configures a [Checker].
type Option func(*Checker)

// AllowInvalidRequests is for tests that send invalid requests on purpose. An invalid request is not reported, but its
// response must be a 4xx. Responses are still validated.
func AllowInvalidRequests() Option {
	return func(c *Checker) { c.allowInvalid = true }
}

// New returns a checker that reports violations through t.Errorf.
func New(t testing.TB, options ...Option) *Checker {
	t.Helper()
	doc, err := load()
	if err != nil {
		t.Fatalf("contracttest: %v", err)
	}
	c := &Checker{doc: doc, t: t}
	for _, option := range options {
		option(c)
	}
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended = true
	})
	return c
}

// Wrap returns a handler that calls next and validates each request and each response. It does not validate a response
// that is cut on purpose by a panic.
//
// The handler expects whole paths, "/api/v1/…". It does not validate GET /api/v1/openapi.json and CORS preflight
// requests, which are not operations of the API.
func (c *Checker) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.isUnchecked(r) {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // the client disconnected
		}
		r = r.WithContext(r.Context()) // a copy, so that the caller's request keeps its body
		r.Body = io.NopCloser(bytes.NewReader(body))
		c.serve(next, w, r, body)
	})
}

func (c *Checker) serve(next http.Handler, w http.ResponseWriter, r *http.Request, body []byte) {
	x := newExchange(c.doc, r, body)
	target := r.Method + " " + r.URL.RequestURI()
	key := r.Header.Get("Authorization")
	if !c.allowInvalid {
		for _, what := range slices.Concat(x.violations, x.undocumented) {
			c.report(x, target, "request: "+what, body, key)
		}
		if x.route == nil {
			next.ServeHTTP(w, r)
			return
		}
		x.violations = nil // reported; the response need not be a 4xx
	}

	// The handler gets the headers that are already set, and the response is sent after the check.
	response := httptest.NewRecorder()
	maps.Copy(response.Header(), w.Header())
	next.ServeHTTP(response, r) // a panic skips the checks
	if r.Context().Err() != nil {
		return // the client disconnected, so the handler may have given up
	}
	for _, what := range x.checkResponse(r.Context(), response.Code, response.Header(), response.Body.Bytes()) {
		c.report(x, target, "response: "+what, response.Body.Bytes(), key)
	}
	maps.Copy(w.Header(), response.Header())
	w.WriteHeader(response.Code)
	if _, err := response.Body.WriteTo(w); err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		panic(http.ErrAbortHandler) // the client disconnected
	}
}

// isUnchecked reports whether a request is not an operation of the API.
func (c *Checker) isUnchecked(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == c.doc.Servers[0].URL+"/openapi.json" ||
		r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

func (c *Checker) report(x *exchange, target, what string, body []byte, authorization string) {
	excerpt := redact(authorization, string(body))
	message := redact(authorization, target+": "+what) + "\n\tbody: " + excerpt[:min(len(excerpt), excerptSize)]
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended { // Errorf panics after the end of the test
		c.t.Errorf("contract: %s: %s", x.operationID(), strings.ToValidUTF8(message, "?"))
	}
}

// redact removes the credentials of an Authorization header from a text.
func redact(authorization, text string) string {
	secret := strings.TrimPrefix(authorization, "Bearer ")
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, "***")
}
