// Package contracttest holds every exchange of a test between a client and a
// server of the rental API against the contract.
//
//	checker := contracttest.New(t)
//	server := httptest.NewServer(checker.Wrap(handler))
//
// It is for tests only: nothing that ships may import it.
package contracttest

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// excerptSize is how many bytes of a body a message shows.
const excerptSize = 300

// Checker reports every violation of the contract to a test. It is safe for
// concurrent use, and silent once the test has ended.
type Checker struct {
	doc          *document
	allowInvalid bool

	mu    sync.Mutex
	t     testing.TB
	ended bool
	seen  map[string]int
}

// Option changes what a [Checker] takes for a violation.
type Option func(*Checker)

// AllowInvalidRequests is for tests that misuse the API on purpose: a request
// that violates the contract is not reported, but must be answered with 4xx.
// Responses are held against the contract all the same.
func AllowInvalidRequests() Option {
	return func(c *Checker) { c.allowInvalid = true }
}

// New returns a checker that reports violations to t through Errorf.
func New(t testing.TB, options ...Option) *Checker {
	t.Helper()
	doc, err := load()
	if err != nil {
		t.Fatalf("contracttest: %v", err)
	}
	c := &Checker{doc: doc, t: t, seen: make(map[string]int)}
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

// Seen returns how many requests there were of each operation id so far,
// violating ones included.
func (c *Checker) Seen() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.seen)
}

// Wrap returns a handler that serves with next and checks what passes: each
// request, and each response that next writes to its end. A response that is
// cut off on purpose (a panic, a hijacked connection) is not judged.
//
// The handler expects whole paths, "/api/v1/…". The contract itself
// (GET /api/v1/openapi.json) and CORS preflights, which are no operations of
// the API, pass unchecked.
func (c *Checker) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.isAside(r) {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		r = r.WithContext(r.Context()) // a copy: the caller's request keeps its body
		if err != nil {
			// The client broke off: there is no whole request to judge.
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failingReader{err}))
			next.ServeHTTP(w, r)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		c.serve(next, w, r, body)
	})
}

func (c *Checker) serve(next http.Handler, w http.ResponseWriter, r *http.Request, body []byte) {
	x := newExchange(c.doc, r, body)
	target := r.Method + " " + r.URL.RequestURI()
	key := r.Header.Get("Authorization")
	c.count(x)
	if !c.allowInvalid {
		for _, what := range slices.Concat(x.broken, x.odd) {
			c.report(x, target, "request: "+what, body, key)
		}
		if x.route == nil {
			next.ServeHTTP(w, r)
			return
		}
		x.broken = nil // reported: the answer need not be a refusal too
	}

	rec := &recorder{ResponseWriter: w}
	next.ServeHTTP(rec, r) // a panic leaves from here, past the checks
	if rec.cut || (rec.status == 0 && r.Context().Err() != nil) {
		return
	}
	rec.finish()
	for _, what := range x.checkResponse(r.Context(), rec.status, rec.header, rec.body.Bytes()) {
		c.report(x, target, "response: "+what, rec.body.Bytes(), key)
	}
}

// isAside tells requests that belong to the address space, but not to the API.
func (c *Checker) isAside(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet:
		return r.URL.Path == c.doc.base+"/openapi.json"
	case http.MethodOptions:
		return r.Header.Get("Access-Control-Request-Method") != ""
	default:
		return false
	}
}

func (c *Checker) count(x *exchange) {
	if x.route == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[x.id()]++
}

func (c *Checker) report(x *exchange, target, what string, body []byte, authorization string) {
	excerpt := hide(authorization, string(body))
	message := hide(authorization, target+": "+what) + "\n\tbody: " + excerpt[:min(len(excerpt), excerptSize)]
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended { // a call after the end of the test would panic
		c.t.Errorf("contract: %s: %s", x.id(), strings.ToValidUTF8(message, "?"))
	}
}

// hide takes the credentials of an Authorization header out of text that may
// repeat them.
func hide(authorization, text string) string {
	secret := strings.TrimPrefix(authorization, "Bearer ")
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, "***")
}

// failingReader gives the error that broke off the client's request.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
