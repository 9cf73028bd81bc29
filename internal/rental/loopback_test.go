package rental

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// Hosts that look like the local machine are rejected for plain http.
func TestBaseURL_HTTPForLoopbackOnly(t *testing.T) {
	for _, host := range []string{
		"rent.example", "127.0.0.1.evil.example", "localhost.evil.example", "localhost@evil.example", "user:pass@localhost",
		"evil.example#localhost", "evil.example?localhost", "evil.example\\@localhost", "localhost.", "0.0.0.0", "127.1",
		"2130706433", "0x7f000001", "0177.0.0.1", "[::]", "[::2]", "[::ffff:10.0.0.1]", "[fe80::1]", "[::1%25eth0]",
		"10.0.0.1", "169.254.169.254", "ⓛocalhost", "local\u200bhost", "127.0.0.1\t",
	} {
		if client, err := New(Config{BaseURL: "http://" + host + "/api/v1"}); err == nil {
			t.Errorf("%s is accepted: %v", host, client)
		}
	}
	_, err := New(Config{BaseURL: "http://simulator:8474/api/v1"})
	if err == nil || !strings.Contains(err.Error(), "use https for simulator") ||
		!strings.Contains(err.Error(), "share its network and use http://127.0.0.1") {
		t.Errorf("the error for a container does not say what to do: %v", err)
	}
	for _, host := range []string{"127.0.0.1", "127.255.255.254:80", "localhost:8474", "LOCALHOST", "[::1]:1",
		"[::ffff:127.0.0.1]:8080", "[::ffff:7f00:1]"} {
		if _, err := New(Config{BaseURL: "http://" + host + "/api/v1"}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// defaultTransport returns the default transport for a base URL.
func defaultTransport(t *testing.T, base string) *http.Transport {
	t.Helper()
	return newTestClient(t, nil, baseURL(base)).connections.(*http.Transport)
}

// Plain http uses no proxy, and connects to loopback addresses only, even if DNS or the hosts file resolves localhost
// to another address.
func TestPlainHTTP_ConnectsToLoopbackOnly(t *testing.T) {
	if transport := defaultTransport(t, "http://LOCALHOST"); transport.Proxy != nil {
		t.Error("plain http may go through a proxy")
	}
	transport := defaultTransport(t, "http://localhost")
	others := []string{
		"192.0.2.1:80", "10.0.0.1:80", "192.168.1.1:80", "169.254.169.254:80", "[2001:db8::1]:80", "[fd00::1]:80",
		"[::ffff:10.0.0.1]:80",
	}
	if runtime.GOOS != "windows" { // where package net replaces a wildcard address with the loopback address
		others = append(others, "0.0.0.0:1", "[::]:1")
	}
	for _, address := range others {
		conn, err := transport.DialContext(t.Context(), "tcp", address)
		if err == nil {
			conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), errNotLoopback.Error()) {
			t.Errorf("%s: %v, want %v", address, err, errNotLoopback)
		}
	}
	if err := loopbackOnly("tcp", "localhost:80", nil); err == nil {
		t.Error("a name is accepted")
	}
}

// A connection that breaks silently would fail every call, so the transport pings idle ones. It keeps a connection for
// each call of a large apply.
func TestHTTPTransport_Settings(t *testing.T) {
	transport := defaultTransport(t, "https://rent.example")
	if transport.HTTP2.SendPingTimeout != pingTimeout || transport.HTTP2.PingTimeout != pingTimeout ||
		transport.MaxIdleConnsPerHost < 50 || transport.Proxy == nil {
		t.Errorf("got %+v", transport)
	}
}

// The API key is not sent to a server without a valid certificate, nor after a redirect to plain http.
func TestAPIKey_OnlyToVerifiedServer(t *testing.T) {
	var keysReceived atomic.Int32
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			keysReceived.Add(1)
		}
	})
	untrusted := httptest.NewUnstartedServer(handler)
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	err := getMe(t, newTestClient(t, nil, baseURL(untrusted.URL)))
	if asError(t, err).Attempts != 1 || keysReceived.Load() != 0 {
		t.Errorf("%v, and the key was received %d times", err, keysReceived.Load())
	}

	plain := httptest.NewServer(handler)
	t.Cleanup(plain.Close)
	downgrade := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL+r.URL.Path, http.StatusFound)
	}))
	t.Cleanup(downgrade.Close)
	err = getMe(t, newTestClient(t, downgrade.Client().Transport, baseURL(downgrade.URL)))
	if asError(t, err).Status != http.StatusFound || keysReceived.Load() != 0 {
		t.Errorf("%v, and the key was received %d times", err, keysReceived.Load())
	}
}
