package simulator_test

import (
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// The control API. The files api_* and the recipes of the guide test the effects of its calls.

func TestControl_InvalidRequests(t *testing.T) {
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
		{"PATCH", "/offers/x", m{"after_seconds": -1}, "after_seconds"},
		{"PATCH", "/instances/x", m{"status": "asleep"}, "status"},
		{"POST", "/device-codes/x", m{"decision": "maybe"}, "decision"},
		{"POST", "/faults", m{"status": 500}, "path"},
		{"POST", "/faults", m{"path": "/me", "status": 200}, "status"},
		{"POST", "/faults", m{"path": "/me"}, "status"},
		{"POST", "/faults", m{"path": "/me", "drop": "later"}, "drop"},
		{"POST", "/faults", m{"path": "/me", "status": 503, "drop": "before"}, "drop"},
		{"POST", "/rate-limit", m{"per_minute_key": 1}, "per_minute_address"},
	} {
		r.control(c.method, c.path, c.body).invalid(c.field)
	}
	r.control("PATCH", "/offers/x", m{}).failsWith("not_found")
	r.control("PATCH", "/instances/x", m{}).failsWith("not_found")
	r.control("GET", "/nothing", nil).failsWith("not_found")
	r.control("GET", "/clock", nil).want(405)
}

func TestControl_RequestLogAndReset(t *testing.T) {
	r := newRig(t)
	r.control("POST", "/faults", m{"path": "/me", "status": 500}).want(204)
	r.do("GET", "/me", nil).want(500)
	r.control("DELETE", "/faults", nil).want(204)
	r.control("DELETE", "/requests", nil).want(204)
	r.do("GET", "/me?a=b", nil).want(200)
	var log struct{ Data []simulator.Request }
	r.control("GET", "/requests", nil).want(200).into(&log)
	if len(log.Data) != 1 || log.Data[0].KeyID == "" {
		t.Fatalf("requests %+v", log.Data)
	}
	got := log.Data[0]
	if got != (simulator.Request{At: got.At, Method: "GET", Path: "/me", Query: "a=b", Status: 200, KeyID: got.KeyID}) {
		t.Errorf("request %+v", got)
	}
	r.rent("k", nil).want(201)
	r.control("POST", "/reset", nil).want(200)
	if b := r.balance(); b.Balance != 5_000_000 || len(list[instance](r, "/instances?status=all", 5)) != 0 ||
		len(r.Requests()) != 2 {
		t.Errorf("after reset: %+v, %d requests", b, len(r.Requests()))
	}
}

// A status that is set holds until the next request, and a destroyed instance stays destroyed.
func TestControl_InstanceStatus(t *testing.T) {
	r := newRig(t)
	path := "/instances/" + r.running("k", nil).ID
	set := func(patch m) response { return r.control("PATCH", path, patch) }
	check := func(status string, ssh bool) {
		t.Helper()
		var i instance
		r.Advance(time.Hour)
		if r.do("GET", path, nil).into(&i); i.Status != status || (i.SSH != nil) != ssh {
			t.Errorf("%s, SSH %v, want %s, %t", i.Status, i.SSH, status, ssh)
		}
	}
	set(m{"status": "failed", "stop_reason": "provider"}).want(200)
	check("failed", false)
	set(m{"status": "stopped", "desired_state": "stopped"}).want(200)
	r.do("POST", path+"/start", nil).want(200)
	check("running", true)
	r.do("POST", path+"/stop", nil).want(200)
	set(m{"status": "starting", "desired_state": "running"}).want(200)
	check("starting", false)
	set(m{"status": "running"}).want(200)
	check("running", true)
	set(m{"status": "destroyed"}).want(200)
	set(m{"status": "running"}).failsWith("conflict")
}

// Changes of an offer that are due later are saved, applied in order of time, and removed by a reset.
func TestControl_OfferLater(t *testing.T) {
	withFile := withStateFile(t.TempDir() + "/state.json")
	r := newRig(t, withFile)
	id := r.cheapest()[0].ID
	set := func(patch m) { r.control("PATCH", "/offers/"+id, patch).want(200) }
	check := func(wait time.Duration, want bool) {
		t.Helper()
		var o offer
		r.Advance(wait)
		if r.do("GET", "/offers/"+id, nil).want(200).into(&o); o.Available != want {
			t.Errorf("available %t, want %t", o.Available, want)
		}
	}
	set(m{"available": false, "after_seconds": 900})
	set(m{"available": true, "after_seconds": 600})
	set(m{"available": false})
	check(599*time.Second, false)
	r = newRig(t, withFile)
	check(2*time.Second, true)
	check(300*time.Second, false)
	set(m{"available": true, "after_seconds": 60})
	r.control("POST", "/reset", nil).want(200)
	set(m{"available": false})
	check(time.Hour, false)
}
