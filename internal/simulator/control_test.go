package simulator_test

import (
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// The control API. The files api_* and the recipes of the guide test the effects of its calls.

func TestControl_InvalidRequests(t *testing.T) {
	api := newClient(t)
	for _, c := range []struct {
		method, path string
		body         object
		field        string
	}{
		{"POST", "/clock", object{}, "advance_seconds"},
		{"POST", "/clock", object{"advance_seconds": -1}, "advance_seconds"},
		{"PATCH", "/account", object{"balance": 1}, "balance"},
		{"PATCH", "/offers/x", object{"on_demand_kop_h": -1}, "on_demand_kop_h"},
		{"PATCH", "/instances/x", object{"status": "asleep"}, "status"},
		{"POST", "/device-codes/x", object{"decision": "maybe"}, "decision"},
		{"POST", "/faults", object{"status": 500}, "path"},
		{"POST", "/faults", object{"path": "/me", "status": 200}, "status"},
		{"POST", "/faults", object{"path": "/me"}, "status"},
		{"POST", "/faults", object{"path": "/me", "drop": "later"}, "drop"},
		{"POST", "/faults", object{"path": "/me", "status": 503, "drop": "before"}, "drop"},
		{"POST", "/rate-limit", object{"per_minute_key": 1}, "per_minute_address"},
	} {
		api.control(c.method, c.path, c.body).invalid(c.field)
	}
	api.control("PATCH", "/offers/x", object{}).failsWith("not_found")
	api.control("PATCH", "/instances/x", object{}).failsWith("not_found")
	api.control("GET", "/nothing", nil).failsWith("not_found")
	api.control("GET", "/clock", nil).want(405)
}

func TestControl_RequestLogAndReset(t *testing.T) {
	api := newClient(t)
	api.control("POST", "/faults", object{"path": "/me", "status": 500}).want(204)
	api.get("/me").want(500)
	api.control("DELETE", "/faults", nil).want(204)
	api.control("DELETE", "/requests", nil).want(204)
	api.get("/me?a=b").want(200)
	var log struct{ Data []simulator.Request }
	api.control("GET", "/requests", nil).want(200).into(&log)
	if len(log.Data) != 1 || log.Data[0].KeyID == "" {
		t.Fatalf("requests %+v", log.Data)
	}
	got := log.Data[0]
	if got != (simulator.Request{At: got.At, Method: "GET", Path: "/me", Query: "a=b", Status: 200, KeyID: got.KeyID}) {
		t.Errorf("request %+v", got)
	}
	api.createInstance(nil)
	api.control("POST", "/reset", nil).want(200)
	equal(t, "balance after a reset", api.balance().integer("balance_kop"), 5_000_000)
	equal(t, "instances after a reset", len(api.list("/instances?status=all")), 0)
	equal(t, "requests after a reset", len(api.Requests()), 2)
}

// A status that is set holds until the next request, and a destroyed instance stays destroyed.
func TestControl_InstanceStatus(t *testing.T) {
	api := newClient(t)
	id := api.runningInstance(nil).text("id")
	set := func(patch object) response { return api.control("PATCH", "/instances/"+id, patch) }
	check := func(status string, ssh bool) {
		t.Helper()
		api.Advance(time.Hour)
		i := api.instance(id)
		equal(t, "status", i.text("status"), status)
		equal(t, status+" with SSH", i["ssh"] != nil, ssh)
	}
	set(object{"status": "failed", "stop_reason": "provider"}).want(200)
	check("failed", false)
	set(object{"status": "stopped", "desired_state": "stopped"}).want(200)
	api.action(id, "start").want(200)
	check("running", true)
	api.action(id, "stop").want(200)
	set(object{"status": "starting", "desired_state": "running"}).want(200)
	check("starting", false)
	set(object{"status": "running"}).want(200)
	check("running", true)
	set(object{"status": "destroyed"}).want(200)
	set(object{"status": "running"}).failsWith("conflict")
}
