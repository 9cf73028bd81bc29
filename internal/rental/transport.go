package rental

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// idleConnections is how many connections to the service stay open between calls: as many as a large apply makes in parallel.
const idleConnections = 64

// pingAfter is how long an HTTP/2 connection may be silent before it is checked, and how long the check may take.
const pingAfter = 10 * time.Second

// newTransport puts the layers together; this is the one place that decides their order. A request passes them from the top of this
// list to the bottom, its answer from the bottom to the top.
//
//	authorize   once per call: the key is the same for all attempts, and nothing above needs to see it
//	identify    once per call: language and user agent
//	retry       repeats all that is below it, and follows redirects, so every attempt and every hop passes the layers below anew
//	budget      each attempt waits at the gate of its rate budget: above the clock and the log, for that wait is not the service's
//	log         one line per attempt, with the duration of HTTP alone; not in the chain at all when logging is off
//	attempt     the time-out of one attempt, body included; it reads the body, so that a body cut short is a network error to retry
//	HTTP        connections, TLS, proxy
func newTransport(config Config) http.RoundTripper {
	layers := config.Transport
	layers = attemptLayer{next: layers, timeout: config.RequestTimeout}
	if config.Log != nil {
		layers = logLayer{next: layers, log: config.Log}
	}
	layers = &budgetLayer{
		next:  layers,
		keyed: config.Budgets.gate(budgetOf{config.BaseURL, config.APIKey}),
		plain: config.Budgets.gate(budgetOf{config.BaseURL, ""}),
		log:   config.Log,
	}
	layers = newRetryLayer(layers, config.MaxRetries, config.Backoff)
	layers = identifyLayer{next: layers, language: config.Language, userAgent: config.UserAgent}
	return authorizeLayer{next: layers, apiKey: config.APIKey}
}

// maxHeader bounds the header of an answer, bytes.
const maxHeader = 1 << 20

// newHTTPTransport is http.DefaultTransport (proxy from the environment, HTTP/2) with more idle connections to one host. Where the base
// URL is plain http it connects to this machine only, and through no proxy: what goes on beyond could read the key.
func newHTTPTransport(base *url.URL) http.RoundTripper {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		transport = standard.Clone()
	}
	if base.Scheme == "http" {
		transport.Proxy = nil
		transport.DialContext = (&net.Dialer{Timeout: DefaultRequestTimeout, Control: loopbackOnly}).DialContext
	}
	// A connection that breaks without a word would fail every call until the system gives it up, many minutes later.
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter}
	transport.MaxResponseHeaderBytes = maxHeader
	transport.MaxIdleConns = idleConnections
	transport.MaxIdleConnsPerHost = idleConnections
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{}
	}
	transport.TLSClientConfig.MinVersion = max(transport.TLSClientConfig.MinVersion, tls.VersionTLS12)
	return transport
}

var errNotLoopback = errors.New("plain http is for this machine only, and the name leads to another one")

// loopbackOnly refuses a connection to another machine, whatever a name server or a file of hosts says a name means. Its signature is
// that of net.Dialer.Control, which is asked when the address is known and nothing has been sent.
func loopbackOnly(_, address string, _ syscall.RawConn) error {
	if to, err := netip.ParseAddrPort(address); err != nil || !to.Addr().Unmap().IsLoopback() {
		return errNotLoopback
	}
	return nil
}
