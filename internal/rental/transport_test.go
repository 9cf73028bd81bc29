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

// pipes are a listener whose connections stop carrying anything when they are told to, as a firewall that forgets them does.
type pipes struct {
	accept chan net.Conn
	mu     sync.Mutex
	open   []*silentConn
}

// silentConn swallows what is written to it, and delivers nothing, once it is silenced.
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

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	conn := &silentConn{Conn: ours, silenced: make(chan struct{}), closed: make(chan struct{})}
	p.mu.Lock()
	p.open = append(p.open, conn)
	p.mu.Unlock()
	p.accept <- theirs
	return conn, nil
}

func (p *pipes) Accept() (net.Conn, error) {
	conn, ok := <-p.accept
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p *pipes) Close() error   { return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.open {
		close(conn.silenced)
	}
	p.open = nil
}

// An HTTP/2 connection that carries nothing any more is found out and replaced before the first request on it has timed out.
func TestSilentHTTP2ConnectionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := &pipes{accept: make(chan net.Conn, 1)}
		server := &http.Server{Protocols: new(http.Protocols), ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 2 {
				t.Errorf("the request came by %s", r.Proto)
			}
			write(t, w, `{"id":"u"}`)
		})}
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
			t.Errorf("%v after %s, want an answer within %s", err, took, 2*pingTimeout)
		}
		transport.CloseIdleConnections()
		close(listener.accept)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}
