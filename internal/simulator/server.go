package simulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/gofrs/flock"
	"github.com/hashicorp/go-hclog"
)

// closeTimeout bounds how long Close waits for requests that are being served.
const closeTimeout = 2 * time.Second

// Server is a simulator that listens.
type Server struct {
	*Simulator
	// BaseURL is of the API and ends with /api/v1; ControlURL ends with /control; ConsoleURL is the root of the pages.
	BaseURL, ControlURL, ConsoleURL string
	// APIKey is the secret of the first key, which has every scope.
	APIKey string

	http     *http.Server
	listener net.Listener
	cancel   context.CancelFunc
	served   chan error
	release  func() error
}

// Start makes a simulator and listens; it accepts connections when Start returns. The context bounds the start only:
// Close ends the server. It fails when the configuration is wrong or the address cannot be had.
func Start(ctx context.Context, c Config) (*Server, error) {
	release, err := claim(c.State)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	srv, err := listen(ctx, c)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	srv.release = release
	go func() { srv.served <- srv.http.Serve(srv.listener) }()
	srv.log.Info("simulator is listening", "base_url", srv.BaseURL, "clock", srv.config.Clock, "seed", srv.config.Seed)
	if at, err := netip.ParseAddrPort(srv.listener.Addr().String()); err != nil || !at.Addr().Unmap().IsLoopback() {
		srv.log.Warn("the simulator can be reached from the network: everybody there can use its API and approve logins, over plain http; its control API and its pages serve this machine only",
			"address", srv.listener.Addr().String())
	}
	return srv, nil
}

// claim makes sure that one simulator alone uses a state file. The system frees the claim of a process that is killed.
func claim(state string) (release func() error, err error) {
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

// listen makes a simulator that has an address, but does not serve yet.
func listen(ctx context.Context, c Config) (*Server, error) {
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", s.config.Listen)
	if err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	root := "http://" + reachable(listener.Addr().String())
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &Server{
		Simulator: s, listener: listener, BaseURL: root + basePath, ControlURL: root + controlPath, ConsoleURL: root + "/", APIKey: s.config.APIKey,
		http: &http.Server{
			Handler:           s.Handler(),
			ReadHeaderTimeout: 10 * time.Second,
			ReadTimeout:       time.Minute,
			IdleTimeout:       2 * time.Minute,
			MaxHeaderBytes:    64 << 10,
			ConnContext:       countRequests,
			BaseContext:       func(net.Listener) context.Context { return serving },
			ErrorLog:          s.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Warn}),
		},
		cancel: cancel,
		served: make(chan error, 1),
	}, nil
}

// reachable turns the address of a listener into one that a client on this machine can dial.
func reachable(address string) string {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !ap.Addr().IsUnspecified() {
		return address
	}
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	return netip.AddrPortFrom(loopback, ap.Port()).String()
}

// Close stops listening, lets requests finish for up to two seconds, then cuts what is left. Requests that a fault
// delays are cut at once. Closing twice does nothing more.
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
	return errors.Join(err, serveErr, s.rest(), s.release())
}
