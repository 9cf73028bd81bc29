package simulator_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
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
		equal(t, a.request+": has Retry-After", a.header.Get("Retry-After") != "", c.status == 429 || c.status == 503)
		equal(t, a.request+": is HTML", strings.HasPrefix(a.header.Get("Content-Type"), "text/html"), c.status == 502)
	}
	equal(t, "active faults", api.Overview().Faults, 2)
	api.ClearFaults()
	api.get("/gpus").want(200)
}

func TestFault_Probability(t *testing.T) {
	api := withFaults(t, simulator.Fault{Status: 500, Probability: 0.5})
	statuses := map[int]int{}
	for range 200 {
		statuses[api.get("/me").status]++
	}
	check(t, statuses[200] >= 60 && statuses[500] >= 60, "at one half: %v", statuses)
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
		api.post("/ssh-keys", key).want(c.status)
		log, made := api.Requests(), len(api.list("/ssh-keys"))
		check(t, log[0].Status == c.status && made == c.made, "%+v: log %+v, %d keys", c, log, made)
		api.post("/ssh-keys", key).want(201)
	}
}

// A delay passes, or ends when the client disconnects.
func TestFault_Delay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := uncheckedClient(t, simulator.Config{APIKey: testKey})
		if err := api.AddFault(simulator.Fault{Path: "/me", DelayMS: 600_000}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		api.get("/me").want(200)
		equal(t, "delay", time.Since(began), 10*time.Minute)
		inner := api.handler
		api.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), time.Second)
			defer cancel()
			inner.ServeHTTP(w, r.WithContext(ctx))
		})
		api.get("/me").want(0)
		equal(t, "delays", time.Since(began), 10*time.Minute+time.Second)
	})
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

// fetch sends a GET request and returns the status, or -1 if it fails.
func fetch(t *testing.T, url string) int {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		return -1
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return -1
	}
	return res.StatusCode
}

// Close does not wait for a delay.
func TestFault_DelayEndsWithServer(t *testing.T) {
	srv := start(t, simulator.Config{})
	if err := srv.AddFault(simulator.Fault{Path: "/gpus", DelayMS: 600_000}); err != nil {
		t.Fatal(err)
	}
	done := make(chan int, 1)
	go func() { done <- fetch(t, srv.BaseURL+"/gpus") }()
	for len(srv.Requests()) == 0 && len(done) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	equal(t, "status of the delayed request", <-done, -1)
}
