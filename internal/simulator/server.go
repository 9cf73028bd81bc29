package simulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/hashicorp/go-hclog"
)

// closeTimeout limits how long Close waits for active requests.
const closeTimeout = 2 * time.Second

// Server is a simulator with a listener.
type Server struct {
	*Simulator
	// BaseURL ends with /api/v1, ControlURL with /control. ConsoleURL is the root of the web pages.
	BaseURL, ControlURL, ConsoleURL string
	// APIKey is the secret of the first key, which has all scopes.
	APIKey string

	http       *http.Server
	listener   net.Listener
	ssh        net.Listener // nil without [Config.Reachable]
	cancel     context.CancelFunc
	served     chan error
	background sync.WaitGroup
	unlock     func() error
}

// Start creates a simulator and listens; connections are accepted when it returns. The context limits the start only:
// Close stops the server. It returns an error if the configuration is invalid, the address is not available or the
// state file cannot be written.
func Start(ctx context.Context, c Config) (*Server, error) {
	unlock, err := lockStateFile(c.State)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	srv, err := newServer(ctx, c)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("simulator: %w", err), unlock())
	}
	srv.unlock = unlock
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	srv.cancel, srv.http.BaseContext = cancel, func(net.Listener) context.Context { return serving }
	go func() { srv.served <- srv.http.Serve(srv.listener) }()
	if srv.ssh != nil {
		srv.background.Go(func() { serveSSH(srv.ssh) })
	}
	if srv.config.State != "" {
		srv.background.Go(func() { srv.keepSaved(serving) })
	}
	srv.log.Info("simulator is listening", "base_url", srv.BaseURL, "clock", srv.config.Clock, "seed", srv.config.Seed)
	if at, err := netip.ParseAddrPort(srv.listener.Addr().String()); err != nil || !at.Addr().Unmap().IsLoopback() {
		srv.log.Warn("the simulator can be reached from the network: everybody there can use its API "+
			"and approve logins, over plain http; its control API and its pages serve this machine only",
			"address", srv.listener.Addr().String())
	}
	return srv, nil
}

// lockStateFile locks a state file, so that only one simulator uses it. The operating system releases the lock of a
// killed process.
func lockStateFile(state string) (release func() error, err error) {
	if state == "" {
		return func() error { return nil }, nil
	}
	lock := flock.New(state + ".lock")
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("state file: %w", err)
	}
	if !locked {
		return nil, fmt.Errorf("state file %s: another simulator uses it; stop that one, or name another file", state)
	}
	return lock.Unlock, nil
}

// newServer creates a simulator with listeners that do not serve yet.
func newServer(ctx context.Context, c Config) (*Server, error) {
	s, err := open(c)
	if err != nil {
		return nil, err
	}
	listener, err := listen(ctx, s.config.Listen, &s.ports.API)
	if err != nil {
		return nil, err
	}
	root := "http://" + dialableAddress(listener.Addr().String())
	srv := &Server{
		Simulator: s, listener: listener, BaseURL: root + basePath, ControlURL: root + controlPath, ConsoleURL: root + "/",
		APIKey: s.config.APIKey, served: make(chan error, 1),
	}
	if c.Reachable {
		if srv.ssh, err = listen(ctx, defaultListen, &s.ports.SSH); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
		s.config.servers = &serverAddresses{srv.ssh.Addr().(*net.TCPAddr), root + serversPath}
	}
	if err := s.save(); err != nil {
		return nil, errors.Join(err, listener.Close(), srv.closeSSH())
	}
	srv.http = &http.Server{
		Handler:           srv.saveChanges(srv.Handler()),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          srv.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Warn}),
	}
	return srv, nil
}

// listen listens at an address. If the address has port 0, it prefers the given port, which is that before a restart,
// so that the addresses of instances do not change. It sets the port to the one in use.
func listen(ctx context.Context, address string, port *int) (net.Listener, error) {
	var config net.ListenConfig
	if host, given, err := net.SplitHostPort(address); err == nil && given == "0" && *port != 0 {
		listener, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(*port)))
		if err == nil {
			return listener, nil
		}
	}
	listener, err := config.Listen(ctx, "tcp", address)
	if err == nil {
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	return listener, err
}

func (s *Server) closeSSH() error {
	if s.ssh == nil {
		return nil
	}
	return s.ssh.Close()
}

// dialableAddress replaces an unspecified address by the loopback address.
func dialableAddress(address string) string {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !ap.Addr().IsUnspecified() {
		return address
	}
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	return netip.AddrPortFrom(loopback, ap.Port()).String()
}

// Close stops listening, waits up to two seconds for active requests, and then cuts them. Requests that a fault delays
// are cut at once. It saves the state. It is safe to call Close twice.
func (s *Server) Close() error {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	serveErr, first := <-s.served
	if !first {
		return err
	}
	close(s.served)
	if errors.Is(serveErr, http.ErrServerClosed) {
		serveErr = nil
	}
	err = errors.Join(err, serveErr, s.closeSSH())
	s.background.Wait()
	s.saves.mu.Lock()
	defer s.saves.mu.Unlock()
	s.saves.closed = true // a request that was cut can still end
	return errors.Join(err, s.save(), s.unlock())
}
