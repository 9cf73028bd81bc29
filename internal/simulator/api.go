package simulator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// call is one API request. A handler may use it while the simulator's lock is held.
type call struct {
	*engine
	r      *http.Request
	params map[string]string
	// fields are the members of the body. bodyErr is the error of reading it, which is reported after authorization.
	fields  *fields
	bodyErr error
	// key is the API key of the caller, nil for public operations.
	key *apiKey
	// status and header are those of a successful response, at first 200 and empty. A handler may change them. Without a
	// result the status is 204.
	status int
	header http.Header
}

// admission is the result of the checks before routing: log entry, rate limit, fault and language.
type admission struct {
	logged *loggedRequest
	quota  quota
	fault  Fault
	lang   language
	// path is relative to the base path and escaped.
	path string
	// route is nil if no route has the path and the method; allowed are then the methods of the path.
	route   *route
	params  map[string]string
	allowed []string
}

type admissionKey struct{}

// serveAPI logs a request, counts it for the rate limit, applies faults, and passes it to the service.
func (s *Simulator) serveAPI(service http.Handler, w http.ResponseWriter, r *http.Request) {
	a := s.admit(r)
	w = statusLogger{w, a.logged}
	h := w.Header()
	h.Set("X-Request-Id", s.nextRequestID())
	h.Set("Cache-Control", "no-store")
	// The simulated time, because clients compare expiry times with it.
	h.Set("Date", a.logged.At.UTC().Format(http.TimeFormat))
	s.setRateLimitHeaders(h, a.quota)
	if a.fault.delay(r) != nil || a.fault.Drop == DropBefore {
		panic(http.ErrAbortHandler)
	}
	if a.fault.Status != 0 && a.fault.Drop != DropAfter {
		s.writeReply(w, a.fault.reply(a.lang))
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), admissionKey{}, a))
	if a.fault.Drop == DropAfter {
		service.ServeHTTP(discarded(h.Clone()), r)
		if a.fault.Status != 0 {
			s.writeReply(w, a.fault.reply(a.lang))
			return
		}
		panic(http.ErrAbortHandler)
	}
	service.ServeHTTP(w, r)
}

// serveOperation serves a request in this order: route, rate limit, body, key, handler.
func (s *Simulator) serveOperation(w http.ResponseWriter, r *http.Request) {
	a, ok := r.Context().Value(admissionKey{}).(admission)
	if !ok {
		panic("simulator: Config.Wrap must hand on the context of the request")
	}
	defer s.recoverPanic(w, a)
	if a.route != nil && a.route.cors() {
		// Set first, so that web pages can also read errors.
		allowAnyOrigin(w.Header())
	}
	if !a.quota.allowed {
		s.writeError(w, a, newError(codeRateLimited).withHeader("Retry-After",
			strconv.Itoa(s.wholeSeconds(a.quota.reset))))
		return
	}
	var rep *reply
	var err error
	if a.route == nil {
		rep, err = unmatchedRoute(r.Method, a.path, a.allowed)
	} else {
		rep, err = s.perform(w, r, a)
	}
	if err != nil {
		s.writeError(w, a, err)
		return
	}
	s.writeReply(w, rep)
}

// discarded is a response that nobody gets.
type discarded http.Header

func (d discarded) Header() http.Header { return http.Header(d) }

func (discarded) WriteHeader(int) {}

func (discarded) Write(b []byte) (int, error) { return len(b), nil }

// allowAnyOrigin lets web pages of any origin read a response.
func allowAnyOrigin(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers",
		"X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After")
}

// admit advances a manual clock, logs the request and counts it for the rate limit.
func (s *Simulator) admit(r *http.Request) admission {
	a := admission{
		lang: parseLanguage(r.Header.Get("Accept-Language")),
		path: strings.TrimPrefix(r.URL.EscapedPath(), basePath),
	}
	a.route, a.params, a.allowed = findRoute(routes, func(rt *route) (string, string) { return rt.method, rt.pattern },
		r.Method, a.path)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.step()
	s.catchUp()
	entry := Request{At: s.engine.Now, Method: r.Method, Path: a.path, Query: r.URL.RawQuery}
	k := s.engine.callerKey(r.Header)
	if k != nil {
		entry.KeyID = k.ID
	}
	a.logged, a.quota = s.requests.add(entry), s.countRequest(k, hostWithoutPort(r.RemoteAddr))
	if a.quota.allowed {
		a.fault = s.faults.match(r.Method, a.path)
	}
	return a
}

func hostWithoutPort(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// perform runs the operation of a route and encodes its result.
func (s *Simulator) perform(w http.ResponseWriter, r *http.Request, a admission) (*reply, error) {
	c := &call{r: r, params: a.params, status: http.StatusOK, header: http.Header{}}
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		// Read before taking the lock, so that a slow client does not block others.
		c.fields, c.bodyErr = readFields(w, r)
	}
	result, err := s.handle(c, a.route)
	if err != nil {
		return nil, err
	}
	if result == nil {
		c.status = http.StatusNoContent
	}
	rep := jsonReply(c.status, result) // handlers return copies, so this needs no lock
	maps.Copy(rep.header, c.header)
	if a.route.cached() {
		rep.header.Set("Cache-Control", cacheControl(c.key))
	}
	if a.route.access == accessOptional {
		rep.header.Set("Vary", "Authorization")
	}
	return rep, nil
}

// handle calls the handler under the lock.
func (s *Simulator) handle(c *call, rt *route) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	c.engine = s.engine
	if err := c.authorize(rt.access); err != nil {
		return nil, err
	}
	if c.bodyErr != nil {
		return nil, c.bodyErr
	}
	return rt.handle(c)
}

// cacheControl returns the Cache-Control header of a cached response. Shared caches must not store what belongs to a
// key.
func cacheControl(k *apiKey) string {
	if k == nil {
		return "public, max-age=60"
	}
	return "private, max-age=60"
}

// unmatchedRoute returns the CORS preflight response of a public path, or the error 405 or 404.
func unmatchedRoute(method, path string, allowed []string) (*reply, error) {
	if len(allowed) == 0 {
		return nil, newError(codeNotFound)
	}
	if method == http.MethodOptions && slices.ContainsFunc(routes, func(rt route) bool {
		_, ok := matchPattern(rt.pattern, path)
		return ok && rt.cors()
	}) {
		h := http.Header{}
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Allow-Methods", "GET, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "Authorization, Accept, Accept-Language")
		h.Set("Access-Control-Max-Age", "600")
		return &reply{status: http.StatusNoContent, header: h}, nil
	}
	return nil, methodNotAllowed(allowed)
}

// writeError writes an error. An error that is not an *apiError becomes an internal error.
func (s *Simulator) writeError(w http.ResponseWriter, a admission, err error) {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		id := w.Header().Get("X-Request-Id")
		s.log.Error("internal error", "request_id", id, "error", err)
		e = newError(codeInternal).withDetail("request_id", id)
	}
	s.writeReply(w, errorReply(e, a.lang))
}

func (s *Simulator) writeReply(w http.ResponseWriter, rep *reply) {
	if err := rep.writeTo(w); err != nil {
		s.log.Debug("client disconnected", "error", err)
	}
}

// recoverPanic turns the panic of a handler into an internal error.
func (s *Simulator) recoverPanic(w http.ResponseWriter, a admission) {
	if p := recover(); p != nil {
		s.writeError(w, a, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
}
