package simulator_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// withFaults returns a client with faults.
func withFaults(t *testing.T, faults ...simulator.Fault) *client {
	t.Helper()
	api := newClient(t)
	for _, f := range faults {
		if err := api.AddFault(f); err != nil {
			t.Fatal(err)
		}
	}
	return api
}

func TestFault_Matching(t *testing.T) {
	api := withFaults(t, simulator.Fault{Method: "GET", Path: "/instances/{id}", Status: 503},
		simulator.Fault{Path: "/api/v1/ssh-keys", Status: 429, Times: 2}, simulator.Fault{Path: "/gpus", Status: 502})
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/instances/x", 503}, {"GET", "/instances", 200}, {"DELETE", "/instances/x", 404},
		{"GET", "/instances/x/logs", 404}, {"GET", "/gpusx", 404}, {"GET", "/ssh-keys", 429}, {"DELETE", "/ssh-keys/x", 429},
		{"GET", "/ssh-keys", 200}, {"GET", "/gpus", 502},
	} {
		a := api.do(c.method, c.path, nil).want(c.status)
		if waits := c.status == 429 || c.status == 503; (a.header.Get("Retry-After") != "") != waits {
			t.Errorf("%d with Retry-After %q", c.status, a.header.Get("Retry-After"))
		}
		if html := strings.HasPrefix(a.header.Get("Content-Type"), "text/html"); html != (c.status == 502) {
			t.Errorf("%d as %s", c.status, a.header.Get("Content-Type"))
		}
	}
	api.ClearFaults()
	api.get("/gpus").want(200)
}

func TestFault_Probability(t *testing.T) {
	api := withFaults(t, simulator.Fault{Status: 500, Probability: 0.5})
	failed := 0
	for range 200 {
		if api.get("/me").status == 500 {
			failed++
		}
	}
	if failed < 60 || failed > 140 {
		t.Errorf("%d of 200 failed at one half", failed)
	}
}

// A fault replaces the work, or follows it, with a status or a cut connection.
func TestFault_BeforeAndAfterTheWork(t *testing.T) {
	for _, c := range []struct {
		drop         string
		status, made int
	}{
		{simulator.DropBefore, 0, 0}, {simulator.DropAfter, 0, 1}, {"", 503, 0}, {simulator.DropAfter, 503, 1},
	} {
		api := withFaults(t, simulator.Fault{Method: "POST", Path: "/ssh-keys", Drop: c.drop, Status: c.status, Times: 1})
		key := object{"public_key": publicKey(1)}
		if a := api.do("POST", "/ssh-keys", key); a.status != c.status {
			t.Errorf("%+v: status %d", c, a.status)
		}
		log, made := api.Requests(), len(api.list("/ssh-keys"))
		if len(log) != 1 || log[0].Status != c.status || made != c.made || api.FaultsActed() != 1 {
			t.Errorf("%+v: log %+v, %d keys, %d faults acted", c, log, made, api.FaultsActed())
		}
		api.post("/ssh-keys", key).want(201)
	}
}

// start starts a server.
func start(t testing.TB, c simulator.Config) *simulator.Server {
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

// fetch sends a request to a server and returns the status.
func fetch(ctx context.Context, srv *simulator.Server, path string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.BaseURL+path, http.NoBody)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+srv.APIKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// A delay ends when the client disconnects. Close does not wait for it.
func TestFault_DelayEnds(t *testing.T) {
	srv := start(t, simulator.Config{})
	if err := srv.AddFault(simulator.Fault{Path: "/me", DelayMS: 600_000}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := fetch(ctx, srv, "/me"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := fetch(context.WithoutCancel(t.Context()), srv, "/me")
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
