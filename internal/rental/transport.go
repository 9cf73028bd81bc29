package rental

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// idleConnections is how many connections stay open between calls. It covers the parallelism of a large apply.
const idleConnections = 64

// pingTimeout is how long an HTTP/2 connection may be idle before a ping checks it, and the timeout of that ping.
const pingTimeout = 10 * time.Second

// newTransport assembles the layers. A request passes them from the top of this list to the bottom.
//
//	retry       repeats the layers below; it follows no redirects, because the API has none
//	rate limit  waits until the rate limit allows the attempt; outside of timeout and log, which measure the API only
//	reachable   gives up on an API that has never answered
//	log         one line per attempt; omitted if there is no log
//	attempt     request timeout; a write outlives an interruption for a short time; reads the body, so that an
//	            incomplete body is a network error and can be retried
//	HTTP        connections, TLS, proxy
func newTransport(config Config, reach *reachability) http.RoundTripper {
	layers := config.Transport
	layers = attemptLayer{next: layers, timeout: config.RequestTimeout}
	if config.Log != nil {
		layers = logLayer{next: layers, log: config.Log}
	}
	layers = reachabilityLayer{next: layers, reachability: reach}
	layers = &rateLimitLayer{
		next:       layers,
		withKey:    newLimiter(limitPerKey),
		withoutKey: newLimiter(limitPerAddress),
		log:        config.Log,
		reach:      reach,
	}
	return retryLayer{
		next:       layers,
		maxRetries: config.MaxRetries,
		backoff:    config.Backoff,
		reach:      reach,
	}
}

// newHTTPTransport returns a clone of http.DefaultTransport (proxy from the environment, HTTP/2) with more idle
// connections to one host. If the base URL is plain http, it connects to loopback addresses only and uses no proxy,
// because others could read the API key.
func newHTTPTransport(base *url.URL) http.RoundTripper {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if base.Scheme == "http" {
		transport.Proxy = nil
		transport.DialContext = (&net.Dialer{Timeout: DefaultRequestTimeout, Control: loopbackOnly}).DialContext
	}
	// Without pings, a connection that breaks silently fails every call until the system closes it minutes later.
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingTimeout, PingTimeout: pingTimeout}
	transport.MaxIdleConns = idleConnections
	transport.MaxIdleConnsPerHost = idleConnections
	return transport
}

var errNotLoopback = errors.New("plain http requires a loopback address, and the host name resolves to another one")

// loopbackOnly is a net.Dialer.Control function: it rejects other addresses after name resolution and before anything
// is sent.
func loopbackOnly(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !target.Addr().Unmap().IsLoopback() {
		return errNotLoopback
	}
	return nil
}
