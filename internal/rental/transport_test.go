package rental

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// Plain http uses no proxy, and connects to loopback addresses only, even if DNS or the hosts file resolves localhost
// to another address.
func TestPlainHTTP_ConnectsToLoopbackOnly(t *testing.T) {
	defaultTransport := func(base string) *http.Transport {
		return newTestClient(t, nil, baseURL(base)).connections.(*http.Transport)
	}
	plain := defaultTransport("http://LOCALHOST")
	if plain.Proxy != nil || defaultTransport("https://rent.example").Proxy == nil {
		t.Error("plain http may go through a proxy, or https may not")
	}
	others := []string{"192.0.2.1:80", "169.254.169.254:80", "[2001:db8::1]:80", "[::ffff:10.0.0.1]:80"}
	if runtime.GOOS != "windows" { // where package net replaces a wildcard address with the loopback address
		others = append(others, "0.0.0.0:1", "[::]:1")
	}
	for _, address := range others {
		conn, err := plain.DialContext(t.Context(), "tcp", address)
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

func TestAPIKey_OnlyToVerifiedServer(t *testing.T) {
	received := false
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { received = true }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	err := getMe(t, newTestClient(t, nil, baseURL(server.URL)))
	if server.Close(); asError(t, err).Attempts != 1 || received {
		t.Errorf("%v, and a request was received: %t", err, received)
	}
}
