package simulator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"
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

	http   *http.Server
	cancel context.CancelFunc
	served chan error
}

// Start makes a simulator and listens; it accepts connections when Start returns. The context bounds the start only:
// Close ends the server. It fails when the configuration is wrong or the address cannot be had.
func Start(ctx context.Context, c Config) (*Server, error) {
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
	srv := &Server{
		Simulator: s, BaseURL: root + basePath, ControlURL: root + controlPath, ConsoleURL: root + "/", APIKey: s.config.APIKey,
		http: &http.Server{
			Handler:           s.Handler(),
			ReadHeaderTimeout: 10 * time.Second,
			ReadTimeout:       time.Minute,
			IdleTimeout:       2 * time.Minute,
			MaxHeaderBytes:    64 << 10,
			BaseContext:       func(net.Listener) context.Context { return serving },
			ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		},
		cancel: cancel,
		served: make(chan error, 1),
	}
	go func() { srv.served <- srv.http.Serve(listener) }()
	s.log.Info("simulator is listening", "base_url", srv.BaseURL, "clock", s.config.Clock, "seed", s.config.Seed)
	return srv, nil
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
	defer s.rest()
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
	return errors.Join(err, serveErr)
}
