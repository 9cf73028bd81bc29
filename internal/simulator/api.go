package simulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// call is one request on its way through a handler. The simulator's lock is held while it lives.
type call struct {
	*world
	r      *http.Request
	params map[string]string
	body   []byte
	// bodyErr is what was wrong with reading the body; who asks is checked before.
	bodyErr error
	// key is the caller's, nil on public operations.
	key *apiKey
	// status and header are of a successful answer; a handler may change them.
	status int
	header http.Header
}

// admission is what is known about a request before any work is done.
type admission struct {
	logged *loggedRequest
	quota  quota
	fault  Fault
	lang   language
	// quirks are those that are on, nil for none.
	quirks *quirkSet
	// path is relative to the base path, escaped.
	path string
}

type admissionKey struct{}

// serveFront stands before the service as the network does: it takes note of every request, and does what faults say.
func (s *Simulator) serveFront(service http.Handler, w http.ResponseWriter, r *http.Request) {
	a := s.admit(r)
	h := w.Header()
	h.Set("X-Request-Id", s.nextRequestID())
	h.Set("Cache-Control", "no-store")
	// In simulated time, as all that the service says: clients compare expiry times with it.
	h.Set("Date", a.logged.At.UTC().Format(http.TimeFormat))
	s.tellQuota(h, a.quota, a.logged.At)
	if a.quirks.has(quirkLimitHeadersAbsent) {
		w = withoutLimitHeaders{w}
	}
	if a.fault.wait(r) != nil || a.fault.Drop == DropBefore {
		panic(http.ErrAbortHandler)
	}
	if a.fault.Status != 0 && a.fault.Drop != DropAfter {
		s.sendFault(w, a)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), admissionKey{}, a))
	if a.quirks != nil && a.quota.allowed {
		service = s.quirked(service, a)
	}
	if a.fault.Drop == DropAfter {
		service.ServeHTTP(&discard{header: h.Clone()}, r)
		if a.fault.Status != 0 {
			s.sendFault(w, a)
			return
		}
		s.note(a, 0)
		panic(http.ErrAbortHandler)
	}
	service.ServeHTTP(w, r)
}

// sendFault answers the status of a fault.
func (s *Simulator) sendFault(w http.ResponseWriter, a admission) {
	rep, err := a.fault.reply(a.lang)
	if err != nil {
		s.answer(w, a, err)
		return
	}
	s.send(w, a, rep)
}

// serveService is the service itself: route, rate limit, body, key, handler, in this order.
func (s *Simulator) serveService(w http.ResponseWriter, r *http.Request) {
	a, ok := r.Context().Value(admissionKey{}).(admission)
	if !ok {
		panic("simulator: Config.Wrap must hand on the context of the request")
	}
	defer s.recoverPanic(w, a)
	rt, params, allowed := findRoute(routes, func(rt *route) (string, string) { return rt.method, rt.pattern }, r.Method, a.path)
	if rt != nil && rt.open {
		// Set before anything can fail, so that a web page can read errors as well.
		openToPages(w.Header())
	}
	if !a.quota.allowed {
		s.answer(w, a, fail(codeRateLimited).withHeader("Retry-After", strconv.Itoa(s.wholeSeconds(a.quota.retry))))
		return
	}
	var rep *reply
	var err error
	if rt == nil {
		rep, err = noRoute(r.Method, a.path, allowed)
	} else {
		rep, err = s.perform(w, r, rt, params)
	}
	if err != nil {
		s.answer(w, a, err)
		return
	}
	s.send(w, a, rep)
}

// openToPages lets web pages of any origin read a response.
func openToPages(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After")
}

// discard takes a response that nobody will see.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// admit moves the clock, notes the request and charges it.
func (s *Simulator) admit(r *http.Request) admission {
	a := admission{
		lang: parseLanguage(r.Header.Get("Accept-Language")),
		path: strings.TrimPrefix(r.URL.EscapedPath(), basePath),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.step()
	s.catchUp()
	entry := Request{At: s.world.at, Method: r.Method, Path: a.path, Query: r.URL.RawQuery}
	k := s.world.callerKey(r.Header)
	if k != nil {
		entry.KeyID = k.ID
	}
	a.logged, a.quota = s.requests.open(entry), s.charge(k, hostOf(r.RemoteAddr))
	if !withoutQuirks(r) {
		a.quirks = s.quirks
	}
	if a.quota.allowed {
		a.fault = s.faults.pick(r.Method, a.path)
	}
	return a
}

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// perform does an operation.
func (s *Simulator) perform(w http.ResponseWriter, r *http.Request, rt *route, params map[string]string) (*reply, error) {
	c := &call{r: r, params: params, status: rt.status, header: http.Header{}}
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		// Before the lock: a slow client holds up nobody else.
		c.body, c.bodyErr = readBody(w, r)
	}
	return s.run(c, rt)
}

// run does the work and encodes its result. What a handler returns is a copy, so that it can be encoded without the lock.
func (s *Simulator) run(c *call, rt *route) (*reply, error) {
	result, saved, err := s.work(c, rt)
	if !saved {
		if err := s.persist(); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	rep, err := jsonReply(c.status, result)
	if err != nil {
		return nil, err
	}
	rep.header = c.header
	if rt.cached {
		rep.header.Set("Cache-Control", cachePolicy(c.key))
	}
	if rt.access == accessOptional {
		rep.header.Set("Vary", "Authorization")
	}
	return rep, nil
}

// work calls the handler under the lock. Saved is whether the state file, if any, covers what the answer will tell.
func (s *Simulator) work(c *call, rt *route) (result any, saved bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catchUp()
	c.world = s.world
	if err := c.authorize(rt.access); err != nil {
		return nil, true, err
	}
	if c.bodyErr != nil {
		return nil, true, c.bodyErr
	}
	result, err = rt.handle(c)
	return result, s.store == nil || rt.method == http.MethodGet && s.covered(), err
}

// cachePolicy keeps what belongs to a key out of shared caches.
func cachePolicy(k *apiKey) string {
	if k == nil {
		return "public, max-age=60"
	}
	return "private, max-age=60"
}

// noRoute answers for a path without the operation: the preflight of a public one, 405 or 404.
func noRoute(method, path string, allowed []string) (*reply, error) {
	if len(allowed) == 0 {
		return nil, fail(codeNotFound)
	}
	if method == http.MethodOptions && slices.ContainsFunc(routes, func(rt route) bool {
		_, ok := matchPattern(rt.pattern, path)
		return ok && rt.open
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

// answer sends an error; one that is not the API's own is an internal one.
func (s *Simulator) answer(w http.ResponseWriter, a admission, err error) {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		id := w.Header().Get("X-Request-Id")
		s.log.Error("internal error", "request_id", id, "error", err)
		e = fail(codeInternal).withDetail("request_id", id)
	}
	rep, err := errorReply(e, a.lang)
	if err != nil {
		panic(err)
	}
	s.send(w, a, rep)
}

func (s *Simulator) send(w http.ResponseWriter, a admission, rep *reply) {
	s.note(a, rep.status)
	if err := rep.writeTo(w); err != nil {
		s.log.Debug("client left", "error", err)
	}
}

// note puts the outcome into the request log.
func (s *Simulator) note(a admission, status int) { a.logged.status.Store(int64(status)) }

// recoverPanic turns the panic of a handler into an internal error.
func (s *Simulator) recoverPanic(w http.ResponseWriter, a admission) {
	if p := recover(); p != nil {
		s.answer(w, a, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
}
