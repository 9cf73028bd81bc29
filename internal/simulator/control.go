package simulator

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// controlPath is what the control URL ends with.
const controlPath = "/control"

// controlRoute is one call of the control API. Its handlers use the same exported methods as Go callers do.
type controlRoute struct {
	method  string
	pattern string
	handle  func(s *Simulator, params map[string]string, f *fields) (any, error)
}

var controlRoutes = []controlRoute{
	{http.MethodGet, "/health", controlHealth},
	{http.MethodPost, "/clock", controlClock},
	{http.MethodPatch, "/account", controlAccount},
	{http.MethodPatch, "/offers/{id}", controlOffer},
	{http.MethodPatch, "/instances/{id}", controlInstance},
	{http.MethodPost, "/device-codes/{user_code}", controlDeviceCode},
	{http.MethodPost, "/faults", controlAddFault},
	{http.MethodDelete, "/faults", controlClearFaults},
	{http.MethodGet, "/quirks", controlQuirks},
	{http.MethodPost, "/quirks", controlSetQuirks},
	{http.MethodGet, "/requests", controlRequests},
	{http.MethodDelete, "/requests", controlClearRequests},
	{http.MethodPost, "/rate-limit", controlRateLimit},
	{http.MethodPost, "/reset", controlReset},
}

func (s *Simulator) serveControl(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	lang := parseLanguage(r.Header.Get("Accept-Language"))
	rep, err := s.control(w, r)
	if err != nil {
		e, ok := errors.AsType[*apiError](err)
		if !ok {
			e = fail(codeInternal)
			s.log.Error("control: internal error", "error", err)
		}
		if rep, err = errorReply(e, lang); err != nil {
			panic(err)
		}
	}
	if err := rep.writeTo(w); err != nil {
		s.log.Debug("client left", "error", err)
	}
}

func (s *Simulator) control(w http.ResponseWriter, r *http.Request) (*reply, error) {
	if !fromThisMachine(r) {
		return nil, fail(codeForbidden).saying("Управление доступно только с этой машины", "The control API serves this machine only")
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), controlPath)
	describe := func(rt *controlRoute) (string, string) { return rt.method, rt.pattern }
	rt, params, allowed := findRoute(controlRoutes, describe, r.Method, path)
	if rt == nil {
		if len(allowed) > 0 {
			return nil, methodNotAllowed(allowed)
		}
		return nil, fail(codeNotFound)
	}
	var body []byte
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		var err error
		if body, err = readBody(w, r); err != nil {
			return nil, err
		}
	}
	f, err := parseStrictFields(body)
	if err != nil {
		return nil, err
	}
	result, err := rt.handle(s, params, f)
	if err != nil {
		return nil, err
	}
	if result == nil {
		return jsonReply(http.StatusNoContent, nil)
	}
	return jsonReply(http.StatusOK, result)
}

// fromThisMachine keeps the network out, and web pages: one of another site has a foreign Origin, and one whose name
// was pointed here has a foreign Host.
func fromThisMachine(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() || !loopbackHost(r.Host) {
		return false
	}
	return sameOrigin(r)
}

// sameOrigin tells whether a request comes from a page of this listener, or from no page.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, r.Host)
}

// rebound tells whether a browser on this machine was led here under another name. To the browser its page is of this
// origin then, so that no header gives it away.
func rebound(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && !loopbackHost(r.Host)
}

func loopbackHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
