package rental

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// Names that look like this machine, and are not, or carry somebody else's address.
func TestHostsThatOnlyLookLocal(t *testing.T) {
	for _, host := range []string{
		"127.0.0.1.evil.example", "localhost.evil.example", "localhost@evil.example", "127.0.0.1@evil.example", "user:pass@localhost", "evil.example#localhost", "evil.example?localhost",
		"localhost.", "localhost.localdomain", "ip6-localhost", "0.0.0.0", "0", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::]", "[::ffff:10.0.0.1]", "[fe80::1]", "[::1%25eth0]",
		"127.0.0.1%25eth0", "[::ffff:127.0.0.1%25x]", "10.0.0.1", "169.254.169.254", "ⓛocalhost", "localhost\u200b", "local\u200bhost", "evil.example\\@localhost", "127.0.0.1\t",
	} {
		if client, err := New(Config{BaseURL: "http://" + host + "/api/v1"}); err == nil {
			t.Errorf("%s is taken for this machine: %v", host, client)
		}
	}
	for _, host := range []string{"127.0.0.1", "127.255.255.254:80", "localhost:8474", "LOCALHOST", "[::1]:1", "[::ffff:127.0.0.1]:8080", "[::ffff:7f00:1]"} {
		if _, err := New(Config{BaseURL: "http://" + host + "/api/v1"}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// transportTo is the transport for a base URL, with its dialler.
func transportTo(t *testing.T, base string) *http.Transport {
	t.Helper()
	transport, ok := newHTTPTransport(mustURL(t, base)).(*http.Transport)
	if !ok {
		t.Fatal("the transport is another one")
	}
	return transport
}

// Plain http goes to this machine and nowhere else: not through a proxy, whose way is the network, and not where a name server, or a file
// of hosts, says that localhost is.
func TestPlainHTTPNeverLeavesTheMachine(t *testing.T) {
	if transport := transportTo(t, "http://LOCALHOST/api/v1"); transport.Proxy != nil {
		t.Error("plain http may go through a proxy")
	}
	if transport := transportTo(t, "https://rent.example/api/v1"); transport.Proxy == nil {
		t.Error("https ignores the proxy of the environment")
	}
	transport := transportTo(t, "http://localhost/api/v1")
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
			t.Errorf("%s: %v, want a refusal before anything is sent", address, err)
		}
	}
	for _, address := range []string{"", "localhost:80", "127.0.0.1", "@/socket"} {
		if err := loopbackOnly("tcp", address, nil); err == nil {
			t.Errorf("%q passes, but it is no address and port", address)
		}
	}
	attempts := 0
	client := newTestClient(t, "http://localhost/api/v1", func(c *Config) {
		rebound := transportTo(t, c.BaseURL)
		inner := rebound.DialContext
		rebound.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			attempts++
			return inner(ctx, network, "192.0.2.1:80") // what somebody's name server says
		}
		c.Transport = rebound
	})
	if _, err := client.GetMe(t.Context()); err == nil || attempts != 1 {
		t.Errorf("%d attempts, %v; want one and an error", attempts, err)
	}
}

// The key does not go to a server that cannot prove its name, and not by a redirect that takes the encryption off.
func TestKeyGoesOnlyToTheServerOfItsName(t *testing.T) {
	var told atomic.Int32
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			told.Add(1)
		}
		write(t, w, `{"id":"u"}`)
	})
	unproven := httptest.NewUnstartedServer(handler)
	unproven.Config.ErrorLog = quiet
	unproven.StartTLS()
	t.Cleanup(unproven.Close)
	client := newTestClient(t, unproven.URL+"/api/v1")
	if _, err := client.GetMe(t.Context()); asError(t, err).Attempts != 1 || told.Load() != 0 {
		t.Errorf("%v, and the key was told %d times", err, told.Load())
	}

	bare := httptest.NewServer(handler)
	t.Cleanup(bare.Close)
	bareURL := mustURL(t, bare.URL)
	downgrade := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, (&url.URL{Scheme: "http", Host: bareURL.Host, Path: r.URL.Path}).String(), http.StatusFound)
	}))
	t.Cleanup(downgrade.Close)
	client = newTestClient(t, downgrade.URL+"/api/v1", func(c *Config) { c.Transport = downgrade.Client().Transport })
	if _, err := client.GetMe(t.Context()); asError(t, err).Status != http.StatusFound || told.Load() != 0 {
		t.Errorf("%v, and the key was told %d times", err, told.Load())
	}
}
