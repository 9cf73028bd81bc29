package conformance

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

var target = flag.String("target", os.Getenv("GPURENT_CONFORMANCE_TARGET"),
	"base_url,control_url,api_key of a running service with a manual clock and a still market; each test resets it")

// checks and tests count the checks and tests of the run.
var checks, tests atomic.Int64

func TestMain(m *testing.M) {
	m.Run()
	fmt.Printf("conformance: %d checks in %d tests\n", checks.Load(), tests.Load())
}

// startUnconfigured starts the service with its default settings.
func startUnconfigured(t *testing.T) *service {
	t.Helper()
	checker := contracttest.New(t, contracttest.AllowInvalidRequests())
	return connect(t, checker.Wrap)
}

// startUnchecked starts the service without the contract check, for what HTTP allows and the contract does not
// describe.
func startUnchecked(t *testing.T) *service {
	t.Helper()
	return connect(t, nil)
}

func connect(t *testing.T, wrap func(http.Handler) http.Handler) *service {
	t.Helper()
	tests.Add(1)
	s := &service{t: t, header: http.Header{}, cache: map[string]string{}}
	if *target == "" {
		t.Parallel()
		s.startSimulator(wrap)
		return s
	}
	parts := strings.Split(*target, ",")
	if len(parts) != 3 {
		t.Fatalf("-target %q: want base_url,control_url,api_key", *target)
	}
	s.baseURL, s.controlURL, s.key = parts[0], parts[1], parts[2]
	s.control(http.MethodPost, "/reset", nil)
	before := s.now()
	time.Sleep(2 * time.Millisecond)
	if s.now() != before {
		t.Fatal("-target: the clock of the service goes by itself; the suite needs a manual one")
	}
	return s
}

// startSimulator starts a simulator for this test.
func (s *service) startSimulator(wrap func(http.Handler) http.Handler) {
	s.t.Helper()
	server, err := simulator.Start(s.t.Context(), simulator.Config{
		Seed: 20260, Clock: simulator.ClockManual, Market: simulator.MarketStill, Wrap: wrap,
		Start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := server.Close(); err != nil {
			s.t.Errorf("close: %v", err)
		}
	})
	s.baseURL, s.controlURL, s.key = server.BaseURL, server.ControlURL, server.APIKey
}
