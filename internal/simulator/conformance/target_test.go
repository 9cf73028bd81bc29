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

// checks and tests are what the run has judged so far.
var checks, tests atomic.Int64

func TestMain(m *testing.M) {
	m.Run()
	fmt.Printf("conformance: %d checks in %d tests\n", checks.Load(), tests.Load())
}

// untouched starts the service as it comes: nothing is set.
func untouched(t *testing.T) *service {
	t.Helper()
	checker := contracttest.New(t, contracttest.AllowInvalidRequests())
	return reach(t, checker.Wrap)
}

// beyondContract starts a service for what HTTP allows and the contract says nothing of. Nothing is set.
func beyondContract(t *testing.T) *service {
	t.Helper()
	return reach(t, nil)
}

func reach(t *testing.T, wrap func(http.Handler) http.Handler) *service {
	t.Helper()
	tests.Add(1)
	s := &service{t: t, header: http.Header{}, known: map[string]string{}}
	if *target == "" {
		t.Parallel()
		s.own(wrap)
		return s
	}
	parts := strings.Split(*target, ",")
	if len(parts) != 3 {
		t.Fatalf("-target %q: want base_url,control_url,api_key", *target)
	}
	s.base, s.control, s.key = parts[0], parts[1], parts[2]
	s.steer(http.MethodPost, "/reset", nil)
	before := s.now()
	time.Sleep(2 * time.Millisecond)
	if s.now() != before {
		t.Fatal("-target: the clock of the service goes by itself; the suite needs a manual one")
	}
	return s
}

// own starts a simulator for this test alone, inside of a wrapper.
func (s *service) own(wrap func(http.Handler) http.Handler) {
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
	s.base, s.control, s.key = server.BaseURL, server.ControlURL, server.APIKey
}
