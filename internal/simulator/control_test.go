package simulator_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestControlAPI(t *testing.T) {
	r := newRig(t)
	var now struct {
		Status string
		Now    time.Time
	}
	r.control("GET", "/health", nil).want(200).into(&now)
	if now.Status != "ok" || !now.Now.Equal(r.Now()) {
		t.Errorf("health %+v", now)
	}
	var i instance
	r.rent("k", nil).want(201).into(&i)
	before := r.Now()
	r.control("POST", "/clock", m{"advance_seconds": settled.Seconds()}).want(200).into(&now)
	if !now.Now.Equal(before.Add(settled)) || r.instance(i.ID).Status != "running" {
		t.Errorf("clock: %v", now.Now)
	}
	r.control("PATCH", "/account", m{"balance_kop": 777, "credit_limit_kop": 5, "email_verified": false, "blocked": false, "max_instances": 3}).want(200)
	if b := r.balance(); b.Balance != 777 {
		t.Errorf("balance %+v", b)
	}
	if last := list[transaction](r, "/transactions", 50)[0]; last.Type != "adjustment" || last.Amount != 777-5_000_000 {
		t.Errorf("last entry %+v", last)
	}
	o := r.cheapest()[0].ID
	r.control("PATCH", "/offers/"+o, m{"available": false, "on_demand_kop_h": 1, "interruptible_kop_h": 2}).want(200)
	var changed offer
	r.do("GET", "/offers/"+o, nil).want(200).into(&changed)
	if changed.Available || changed.Price.OnDemand != 1 || *changed.Price.Interruptible != 2 {
		t.Errorf("offer %+v", changed)
	}
	r.control("PATCH", "/instances/"+i.ID, m{"status": "stopped", "desired_state": "stopped", "stop_reason": "admin"}).want(200)
	if got := r.instance(i.ID); got.Status != "stopped" || *got.StopReason != "admin" {
		t.Errorf("instance %+v", got)
	}
	r.control("PATCH", "/instances/"+i.ID, m{"stop_reason": nil}).want(200)
	if got := r.instance(i.ID); got.StopReason != nil {
		t.Errorf("instance %+v", got)
	}
	d := r.as("").login()
	r.control("POST", "/device-codes/"+d.User, m{"decision": "deny"}).want(204)
	r.as("").poll(d).refused(400, "access_denied")
	r.control("POST", "/faults", m{"path": "/me", "status": 500}).want(204)
	r.do("GET", "/me", nil).want(500)
	r.control("DELETE", "/faults", nil).want(204)
	r.control("DELETE", "/requests", nil).want(204)
	r.do("GET", "/me?a=b", nil).want(200)
	var log struct{ Data []simulator.Request }
	r.control("GET", "/requests", nil).want(200).into(&log)
	if len(log.Data) != 1 || log.Data[0].Path != "/me" || log.Data[0].Query != "a=b" || log.Data[0].Status != 200 || log.Data[0].KeyID == "" || log.Data[0].Method != "GET" {
		t.Errorf("requests %+v", log.Data)
	}
	r.control("POST", "/rate-limit", m{"per_minute_key": 1, "per_minute_address": 1}).want(204)
	r.do("GET", "/me", nil).want(200)
	r.do("GET", "/me", nil).want(429)
	r.control("POST", "/reset", nil).want(200)
	if b := r.balance(); b.Balance != 5_000_000 || len(list[instance](r, "/instances?status=all", 5)) != 0 || len(r.Requests()) != 2 {
		t.Errorf("after reset: %+v, %d requests", b, len(r.Requests()))
	}
}

func TestControlRefusals(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		method, path string
		body         m
		field        string
	}{
		{"POST", "/clock", m{}, "advance_seconds"},
		{"POST", "/clock", m{"advance_seconds": -1}, "advance_seconds"},
		{"PATCH", "/account", m{"balance": 1}, "balance"},
		{"PATCH", "/offers/x", m{"on_demand_kop_h": -1}, "on_demand_kop_h"},
		{"PATCH", "/instances/x", m{"status": "asleep"}, "status"},
		{"POST", "/device-codes/x", m{"decision": "maybe"}, "decision"},
		{"POST", "/faults", m{"status": 500}, "path"},
		{"POST", "/faults", m{"path": "/me", "status": 200}, "status"},
		{"POST", "/faults", m{"path": "/me"}, "fault"},
		{"POST", "/faults", m{"path": "/me", "drop": "later"}, "fault"},
		{"POST", "/rate-limit", m{"per_minute_key": 1}, "per_minute_address"},
	} {
		r.control(c.method, c.path, c.body).invalid(c.field)
	}
	r.control("PATCH", "/offers/x", m{}).refused(404, "not_found")
	r.control("PATCH", "/instances/x", m{}).refused(404, "not_found")
	r.control("GET", "/nothing", nil).refused(404, "not_found")
	r.control("GET", "/clock", nil).want(405)
	r.with("Origin", "https://evil.example").control("GET", "/health", nil).refused(403, "forbidden")
	r.with("Sec-Fetch-Site", "cross-site").control("GET", "/health", nil).refused(403, "forbidden")
	r.with("Origin", "http://127.0.0.1").control("GET", "/health", nil).want(200)
	for peer, host := range map[string]string{"203.0.113.9:5": "127.0.0.1", "127.0.0.1:5": "rebound.example"} {
		req := httptest.NewRequestWithContext(t.Context(), "GET", "/control/health", nil)
		req.RemoteAddr, req.Host = peer, host
		rec := httptest.NewRecorder()
		r.Handler().ServeHTTP(rec, req)
		if rec.Code != 403 {
			t.Errorf("peer %s, host %s: %d", peer, host, rec.Code)
		}
	}
}

func TestFaultMatching(t *testing.T) {
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
		"GET /instances/x": 503, "GET /instances": 200, "DELETE /instances/x": 404, "GET /instances/x/logs": 404, "GET /gpusx": 404,
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

// start listens with a real clock or whatever the change says.
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
	// Without it the transport sends an idempotent request again on a cut connection.
	req.GetBody = nil
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res, err
}

func TestFaultsCutConnections(t *testing.T) {
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
			t.Errorf("drop %s: an answer came", drop)
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

func TestDelayEndsWithItsClient(t *testing.T) {
	srv := start(t, simulator.Config{})
	if err := srv.AddFault(simulator.Fault{Path: "/me", DelayMS: 600_000}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := fetch(ctx, srv, "GET", "/me", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	// One more is still waiting when the server closes: Close must not wait for it.
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
		t.Error("the delayed request was answered")
	}
}

func TestServer(t *testing.T) {
	srv := start(t, simulator.Config{Clock: simulator.ClockReal, TimeScale: 1000, Boot: time.Second})
	if !strings.HasSuffix(srv.BaseURL, "/api/v1") || !strings.HasSuffix(srv.ControlURL, "/control") || len(srv.APIKey) != 44 {
		t.Errorf("server %s %s", srv.BaseURL, srv.ControlURL)
	}
	if res, err := fetch(t.Context(), srv, "GET", "/me", ""); err != nil || res.StatusCode != 200 {
		t.Errorf("%v %v", res, err)
	}
	before := srv.Now()
	if after := srv.Advance(time.Hour); after.Sub(before) < time.Hour {
		t.Errorf("the real clock advanced by %v", after.Sub(before))
	}
	if _, err := simulator.Start(t.Context(), simulator.Config{Listen: strings.TrimPrefix(strings.TrimSuffix(srv.BaseURL, "/api/v1"), "http://")}); err == nil {
		t.Error("two simulators on one address")
	}
	for name, c := range map[string]simulator.Config{
		"clock": {Clock: "sundial"}, "scale": {TimeScale: -1}, "step": {Step: time.Second}, "boot": {Boot: -1}, "key": {APIKey: "short"},
		"scaled manual": {Clock: simulator.ClockManual, TimeScale: 2},
	} {
		if _, err := simulator.New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestManualClockSteps(t *testing.T) {
	r := newRig(t, func(c *simulator.Config) { c.Step = time.Second })
	var i instance
	r.rent("k", nil).want(201).into(&i)
	polls := 0
	for i.SSH == nil {
		i = r.instance(i.ID)
		polls++
	}
	if polls != 12 {
		t.Errorf("%d polls of one second until ready, want 12", polls)
	}
}

func TestWrapMayCutTheConnection(t *testing.T) {
	r := newRig(t, func(c *simulator.Config) {
		c.Wrap = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		}
	})
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("recovered %v, want the wrapper's abort", p)
		}
	}()
	r.do("GET", "/me", nil)
}

func TestSecretsAreNotLogged(t *testing.T) {
	var log bytes.Buffer
	r := newRig(t, func(c *simulator.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	secrets := []string{testKey, r.newKey("user:read")}
	d := r.login()
	if err := r.DecideDeviceCode(d.User, true); err != nil {
		t.Fatal(err)
	}
	var token struct {
		Key string `json:"api_key"`
	}
	r.poll(d).want(200).into(&token)
	r.as(token.Key).do("GET", "/me", nil).want(200)
	r.do("GET", "/offers?limit=0", nil).want(422)
	seen := log.String()
	for _, q := range r.Requests() {
		seen += q.Path + q.Query + q.KeyID
	}
	for _, secret := range append(secrets, token.Key, d.Device) {
		if strings.Contains(seen, secret) {
			t.Error("a secret was logged")
		}
	}
}
