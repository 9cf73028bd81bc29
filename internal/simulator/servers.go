package simulator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// servers are the SSH servers and the pages of the instances of a simulator with [Config.Reachable]. All listen on a
// loopback address.
type servers struct {
	simulator *Simulator
	pages     net.Listener            // of all instances, by path
	sshs      map[string]net.Listener // by instance id; the simulator's lock guards it
}

// instanceHost is the address of all instances.
const instanceHost = "127.0.0.1"

// sshBannerTimeout limits an SSH connection. No login is possible.
const sshBannerTimeout = time.Second

// startServers starts the servers of a simulator.
func startServers(ctx context.Context, s *Simulator) (*servers, error) {
	var config net.ListenConfig
	pages, err := config.Listen(ctx, "tcp", net.JoinHostPort(instanceHost, "0"))
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	v := &servers{simulator: s, pages: pages, sshs: map[string]net.Listener{}}
	pageServer := &http.Server{Handler: http.HandlerFunc(v.servePage), ReadHeaderTimeout: sshBannerTimeout}
	go func() {
		if err := pageServer.Serve(pages); !errors.Is(err, net.ErrClosed) {
			s.log.Error("the pages of the instances ended", "error", err)
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers, s.engine.servers = v, v
	return v, nil
}

// servePage answers a request for a page: the path begins with the id of the instance.
func (v *servers) servePage(w http.ResponseWriter, r *http.Request) {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	v.simulator.mu.Lock()
	v.simulator.catchUp()
	i := v.simulator.engine.findInstance(id)
	answers := i != nil && i.Reachable && !i.URLsBlocked
	v.simulator.mu.Unlock()
	if !answers {
		http.Error(w, "The instance does not answer.", http.StatusServiceUnavailable)
		return
	}
	if _, err := fmt.Fprintf(w, "A page of the simulated instance %s.\n", id); err != nil {
		v.simulator.log.Debug("client disconnected", "error", err)
	}
}

// ssh returns the address of the SSH server of an instance, which it starts if necessary. The caller holds the lock.
func (v *servers) ssh(i *instance) (host string, port int64) {
	listener := v.sshs[i.ID]
	if listener == nil {
		var config net.ListenConfig
		var err error
		if listener, err = config.Listen(context.Background(), "tcp", net.JoinHostPort(instanceHost, "0")); err != nil {
			v.simulator.log.Error("an SSH server cannot listen", "error", err)
			return i.Host, i.FirstPort
		}
		v.sshs[i.ID] = listener
		go v.serveSSH(listener, i.ID)
	}
	return instanceHost, int64(listener.Addr().(*net.TCPAddr).Port)
}

func (v *servers) serveSSH(listener net.Listener, id string) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go v.greet(conn, id)
	}
}

// greet sends the version of an SSH server, if the instance answers, and closes the connection.
func (v *servers) greet(conn net.Conn, id string) {
	defer conn.Close()
	v.simulator.mu.Lock()
	v.simulator.catchUp()
	i := v.simulator.engine.findInstance(id)
	answers := i != nil && i.Reachable && !i.SSHBlocked
	v.simulator.mu.Unlock()
	if !answers {
		return
	}
	if err := conn.SetDeadline(time.Now().Add(sshBannerTimeout)); err != nil {
		return
	}
	if _, err := io.WriteString(conn, "SSH-2.0-simulator\r\n"); err == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(conn, 1<<10)) //nolint:errcheck // until the client closes, or the deadline
	}
}

func (v *servers) close() error {
	v.simulator.mu.Lock()
	defer v.simulator.mu.Unlock()
	errs := []error{v.pages.Close()}
	for _, listener := range v.sshs {
		errs = append(errs, listener.Close())
	}
	v.sshs = map[string]net.Listener{}
	return errors.Join(errs...)
}
