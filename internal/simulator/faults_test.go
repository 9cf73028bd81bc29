package simulator_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestFault_Matching(t *testing.T) {
	r := newRig(t)
	status := func(method, path string) int { return r.do(method, path, nil).status }
	add := func(f simulator.Fault) {
		t.Helper()
		if err := r.AddFault(f); err != nil {
			t.Fatal(err)
		}
	}
	add(simulator.Fault{Method: "GET", Path: "/instances/{id}", Status: 503})
	add(simulator.Fault{Path: "/api/v1/ssh-keys", Status: 429, Times: 2})
	add(simulator.Fault{Path: "/gpus", Status: 502})
	for call, want := range map[string]int{
		"GET /instances/x": 503, "GET /instances": 200, "DELETE /instances/x": 404, "GET /instances/x/logs": 404,
		"GET /gpusx": 404,
	} {
		method, path, _ := strings.Cut(call, " ")
		if got := status(method, path); got != want {
			t.Errorf("%s: %d, want %d", call, got, want)
		}
	}
	a := r.do("GET", "/ssh-keys", nil)
	a.refused(429, "rate_limited")
	if a.header.Get("Retry-After") == "" {
		t.Error("a 429 without Retry-After")
	}
	r.do("DELETE", "/ssh-keys/x", nil).refused(429, "rate_limited")
	r.do("GET", "/ssh-keys", nil).want(200)
	if a := r.do("GET", "/gpus", nil).want(502); !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		t.Errorf("502 as %s", a.header.Get("Content-Type"))
	}
	r.ClearFaults()
	r.do("GET", "/gpus", nil).want(200)

	add(simulator.Fault{Status: 500, Probability: 0.5})
	failed := 0
	for range 200 {
		if status("GET", "/me") == 500 {
			failed++
		}
	}
	if failed < 60 || failed > 140 {
		t.Errorf("%d of 200 failed at one half", failed)
	}
}

// start starts a server.
func start(t *testing.T, c simulator.Config) *simulator.Server {
	t.Helper()
	srv, err := simulator.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv
}

func fetch(ctx context.Context, srv *simulator.Server, method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, srv.BaseURL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+srv.APIKey)
	req.Header.Set("Content-Type", "application/json")
	// Otherwise the transport retries an idempotent request on a cut connection.
	req.GetBody = nil
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res, err
}

func TestFault_CutsConnection(t *testing.T) {
	srv := start(t, simulator.Config{Clock: simulator.ClockManual})
	post := func() error {
		_, err := fetch(t.Context(), srv, "POST", "/ssh-keys", `{"public_key":"`+ed25519A+`"}`)
		return err
	}
	keys := func() int {
		res := httptest.NewRecorder()
		req := httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/ssh-keys", nil)
		req.Header.Set("Authorization", "Bearer "+srv.APIKey)
		srv.Handler().ServeHTTP(res, req)
		return bytes.Count(res.Body.Bytes(), []byte("fingerprint"))
	}
	for drop, made := range map[string]int{simulator.DropBefore: 0, simulator.DropAfter: 1} {
		if err := srv.Reset(); err != nil {
			t.Fatal(err)
		}
		if err := srv.AddFault(simulator.Fault{Method: "POST", Path: "/ssh-keys", Drop: drop, Times: 1}); err != nil {
			t.Fatal(err)
		}
		if post() == nil {
			t.Errorf("drop %s: got a response", drop)
		}
		if log := srv.Requests(); len(log) != 1 || log[0].Status != 0 {
			t.Errorf("drop %s: log %+v", drop, log)
		}
		if got := keys(); got != made {
			t.Errorf("drop %s: %d keys made, want %d", drop, got, made)
		}
		if err := post(); err != nil {
			t.Errorf("drop %s: after the fault: %v", drop, err)
		}
	}
}

func TestFault_DelayEndsWithClient(t *testing.T) {
	srv := start(t, simulator.Config{})
	if err := srv.AddFault(simulator.Fault{Path: "/me", DelayMS: 600_000}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := fetch(ctx, srv, "GET", "/me", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	// Close must not wait for a delayed request.
	done := make(chan error, 1)
	go func() {
		_, err := fetch(context.WithoutCancel(t.Context()), srv, "GET", "/me", "")
		done <- err
	}()
	for len(srv.Requests()) < 2 {
		time.Sleep(time.Millisecond)
	}
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	if <-done == nil {
		t.Error("the delayed request got a response")
	}
}

func TestFault_StatusAfterTheWork(t *testing.T) {
	r := newRig(t)
	fault := simulator.Fault{Method: "POST", Path: "/ssh-keys", Drop: simulator.DropAfter, Status: 503, Times: 1}
	if err := r.AddFault(fault); err != nil {
		t.Fatal(err)
	}
	r.do("POST", "/ssh-keys", m{"public_key": ed25519A}).refused(503, "provider_unavailable")
	if log := r.Requests(); len(log) != 1 || log[0].Status != 503 || r.FaultsActed() != 1 {
		t.Errorf("log %+v, %d faults acted", log, r.FaultsActed())
	}
	if made := len(list[m](r, "/ssh-keys", 50)); made != 1 {
		t.Errorf("%d keys were made, want 1", made)
	}
	fault.Drop = simulator.DropBefore
	if err := r.AddFault(fault); err == nil {
		t.Error("a status instead of the work, with a connection that is cut before it, is accepted")
	}
}
