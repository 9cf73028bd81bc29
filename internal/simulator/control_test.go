package simulator_test

import (
	"net/http/httptest"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestControl_InvalidAndRemoteRequests(t *testing.T) {
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
		{"POST", "/faults", m{"path": "/me"}, "status"},
		{"POST", "/faults", m{"path": "/me", "drop": "later"}, "drop"},
		{"POST", "/rate-limit", m{"per_minute_key": 1}, "per_minute_address"},
	} {
		r.control(c.method, c.path, c.body).invalid(c.field)
	}
	r.control("PATCH", "/offers/x", m{}).refused(404, "not_found")
	r.control("PATCH", "/instances/x", m{}).refused(404, "not_found")
	r.control("GET", "/nothing", nil).refused(404, "not_found")
	r.control("GET", "/clock", nil).want(405)
	r.with("Origin", "https://evil.example").control("GET", "/health", nil).refused(403, "forbidden")
	r.with("Origin", "https://127.0.0.1:8443").control("GET", "/health", nil).refused(403, "forbidden")
	r.with("Origin", "null").control("GET", "/health", nil).refused(403, "forbidden")
	r.with("Sec-Fetch-Site", "cross-site").control("GET", "/health", nil).refused(403, "forbidden")
	r.with("Sec-Fetch-Site", "same-site").control("GET", "/health", nil).refused(403,
		"forbidden") // another port of this machine
	r.with("Origin", "http://127.0.0.1").control("GET", "/health", nil).want(200)
	for _, c := range []struct{ peer, host string }{
		{"203.0.113.9:5", "127.0.0.1"}, {"127.0.0.1:5", "rebound.example"}, {"127.0.0.1:5", "localhost.evil.example"},
		{"127.0.0.1:5", "127.0.0.1.evil.example:80"}, {"127.0.0.1:5", "0.0.0.0"}, {"127.0.0.1:5", ""},
		{"", "127.0.0.1"},
	} {
		req := httptest.NewRequestWithContext(t.Context(), "GET", "/control/health", nil)
		req.RemoteAddr, req.Host = c.peer, c.host
		rec := httptest.NewRecorder()
		r.Handler().ServeHTTP(rec, req)
		if rec.Code != 403 {
			t.Errorf("peer %q, host %q: %d", c.peer, c.host, rec.Code)
		}
	}
}

// The conformance package uses the other calls and so tests them.
func TestControl_RequestLogAndReset(t *testing.T) {
	r := newRig(t)
	r.control("POST", "/faults", m{"path": "/me", "status": 500}).want(204)
	r.do("GET", "/me", nil).want(500)
	r.control("DELETE", "/faults", nil).want(204)
	r.control("DELETE", "/requests", nil).want(204)
	r.do("GET", "/me?a=b", nil).want(200)
	var log struct{ Data []simulator.Request }
	r.control("GET", "/requests", nil).want(200).into(&log)
	if len(log.Data) != 1 {
		t.Fatalf("requests %+v", log.Data)
	}
	got := log.Data[0]
	if got.KeyID == "" || got != (simulator.Request{At: got.At, Method: "GET", Path: "/me", Query: "a=b", Status: 200,
		KeyID: got.KeyID}) {
		t.Errorf("request %+v", got)
	}
	r.rent("k", nil).want(201)
	r.control("POST", "/reset", nil).want(200)
	if b := r.balance(); b.Balance != 5_000_000 || len(list[instance](r, "/instances?status=all", 5)) != 0 ||
		len(r.Requests()) != 2 {
		t.Errorf("after reset: %+v, %d requests", b, len(r.Requests()))
	}
}
