package rental

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipeListener is a listener whose connections can be silenced, as by a firewall that drops their packets.
type pipeListener struct {
	accept chan net.Conn
	mu     sync.Mutex
	open   []*silentConn
}

// silentConn discards writes and blocks reads after it is silenced.
type silentConn struct {
	net.Conn
	silenced chan struct{}
	closed   chan struct{}
	once     sync.Once
}

func (c *silentConn) Read(data []byte) (int, error) {
	select {
	case <-c.silenced:
		<-c.closed
		return 0, net.ErrClosed
	default:
	}
	n, err := c.Conn.Read(data)
	select {
	case <-c.silenced:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (c *silentConn) Write(data []byte) (int, error) {
	select {
	case <-c.silenced:
		return len(data), nil
	default:
		return c.Conn.Write(data)
	}
}

func (c *silentConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func (p *pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	conn := &silentConn{Conn: client, silenced: make(chan struct{}), closed: make(chan struct{})}
	p.mu.Lock()
	p.open = append(p.open, conn)
	p.mu.Unlock()
	p.accept <- server
	return conn, nil
}

func (p *pipeListener) Accept() (net.Conn, error) {
	conn, ok := <-p.accept
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p *pipeListener) Close() error   { return nil }
func (p *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipeListener) silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.open {
		close(conn.silenced)
	}
	p.open = nil
}

// A silent HTTP/2 connection is replaced before the request on it times out.
func TestHTTPTransport_ReplacesSilentHTTP2Connection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := &pipeListener{accept: make(chan net.Conn, 1)}
		server := &http.Server{
			Protocols:         new(http.Protocols),
			ReadHeaderTimeout: time.Hour,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.ProtoMajor != 2 {
					t.Errorf("protocol %s, want HTTP/2", r.Proto)
				}
				write(t, w, `{"id":"u"}`)
			}),
		}
		server.Protocols.SetUnencryptedHTTP2(true)
		go func() {
			if err := server.Serve(listener); !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		}()
		transport, ok := newHTTPTransport(&url.URL{Scheme: "http", Host: "localhost"}).(*http.Transport)
		if !ok {
			t.Fatal("not an http.Transport")
		}
		transport.Protocols = server.Protocols
		transport.DialContext = listener.dial
		client := newTestClient(t, "http://localhost/api/v1", func(c *Config) {
			c.Transport, c.RequestTimeout, c.MaxRetries = transport, 10*time.Minute, 1
		})
		if _, err := client.GetMe(t.Context()); err != nil {
			t.Fatal(err)
		}
		listener.silence()
		start := time.Now()
		_, err := client.GetMe(t.Context())
		if took := time.Since(start); err != nil || took > 2*pingTimeout+time.Second {
			t.Errorf("%v after %s, want a response within %s", err, took, 2*pingTimeout)
		}
		transport.CloseIdleConnections()
		close(listener.accept)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}
