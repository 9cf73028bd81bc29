package simulator

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// serversPath begins the paths of the pages of instances.
const serversPath = "/servers"

// sshTimeout limits an SSH connection. No login is possible.
const sshTimeout = time.Second

// serverAddresses are where all instances answer, with [Config.Reachable].
type serverAddresses struct {
	ssh   *net.TCPAddr
	pages string // the URL that the paths of the pages follow
}

// sshAddress returns the address of the SSH server of an instance.
func (e *engine) sshAddress(i *instance) (host string, port int64) {
	if at := e.config.servers; at != nil {
		return at.ssh.IP.String(), int64(at.ssh.Port)
	}
	return i.Host, i.FirstPort
}

// pageURL returns the address of a page of an instance, by the position of its port in the template.
func (e *engine) pageURL(i *instance, n int) string {
	if at := e.config.servers; at != nil {
		return fmt.Sprintf("%s/%s/%d/", at.pages, i.ID, i.template.Ports[n])
	}
	return fmt.Sprintf("http://%s:%d/", i.Host, i.FirstPort+1+int64(n))
}

// servePage answers for the page of an instance.
func (s *Simulator) servePage(w http.ResponseWriter, r *http.Request) {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, serversPath+"/"), "/")
	s.mu.Lock()
	s.catchUp()
	i := s.engine.findInstance(id)
	answers := i != nil && i.Reachable
	s.mu.Unlock()
	if !answers {
		http.Error(w, "The server does not answer.", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if _, err := fmt.Fprintf(w, "A page of the simulated server %s.\n", id); err != nil {
		s.log.Debug("client disconnected", "error", err)
	}
}

// serveSSH sends the version of an SSH server to all connections, until the listener is closed.
func serveSSH(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go greet(conn)
	}
}

// greet sends the version and waits until the client closes the connection, or the timeout.
func greet(conn net.Conn) {
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(sshTimeout)); err != nil {
		return
	}
	if _, err := io.WriteString(conn, "SSH-2.0-simulator\r\n"); err == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(conn, 1<<10)) //nolint:errcheck // until the client closes, or the deadline
	}
}
