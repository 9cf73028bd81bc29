package simulator

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// controlPath is the path of the control API.
const controlPath = "/control"

// controlRoute is a call of the control API, whose errors are in English. Handlers use the exported methods of the
// simulator.
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
	{http.MethodGet, "/requests", controlRequests},
	{http.MethodDelete, "/requests", controlClearRequests},
	{http.MethodPost, "/rate-limit", controlRateLimit},
	{http.MethodPost, "/reset", controlReset},
}

func (s *Simulator) serveControl(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	rep, err := s.control(w, r)
	if err != nil {
		e, ok := errors.AsType[*apiError](err)
		if !ok {
			e = newError(codeInternal)
			s.log.Error("control: internal error", "error", err)
		}
		rep = errorReply(e, english)
	}
	if err := rep.writeTo(w); err != nil {
		s.log.Debug("client disconnected", "error", err)
	}
}

func (s *Simulator) control(w http.ResponseWriter, r *http.Request) (*reply, error) {
	if !isLocal(r) {
		return nil, newError(codeForbidden).withText(text{en: "The control API serves this machine only"})
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), controlPath)
	describe := func(rt *controlRoute) (string, string) { return rt.method, rt.pattern }
	rt, params, allowed := findRoute(controlRoutes, describe, r.Method, path)
	if rt == nil {
		if len(allowed) > 0 {
			return nil, methodNotAllowed(allowed)
		}
		return nil, newError(codeNotFound)
	}
	f := &fields{}
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		var err error
		if f, err = readFields(w, r); err != nil {
			return nil, err
		}
		f.strict = true
	}
	result, err := rt.handle(s, params, f)
	if err != nil {
		return nil, err
	}
	if result == nil {
		return jsonReply(http.StatusNoContent, nil), nil
	}
	return jsonReply(http.StatusOK, result), nil
}

// isLocal reports whether a request comes from this machine and not from a page of another site. A page of another site
// has a foreign Origin; a page that uses DNS rebinding has a foreign Host.
func isLocal(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() || !loopbackHost(r.Host) {
		return false
	}
	return sameOrigin(r)
}

// sameOrigin reports whether a request comes from a page of this listener or from no page.
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

// isRebound reports whether a browser on this machine uses another host name (DNS rebinding). For the browser the page
// has the same origin, so only the Host shows it.
func isRebound(r *http.Request) bool {
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
