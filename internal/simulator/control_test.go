package simulator_test

import (
	"testing"
	"time"
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
	log := api.control("GET", "/requests", nil).ok().objects("data")
	check(t, len(log) == 1 && log[0].text("key_id") != "" && log[0].text("at") != "", "requests %+v", log)
	log[0]["at"], log[0]["key_id"] = nil, nil
	equal(t, "request", asJSON(log[0]), asJSON(object{"method": "GET", "path": "/me", "query": "a=b", "status": 200,
		"at": nil, "key_id": nil}))
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
	for _, c := range []struct {
		set           object
		action        string // after the set
		status, hasOf string
	}{
		{object{"status": "failed", "stop_reason": "provider"}, "", "failed", "provider"},
		{object{"status": "stopped", "desired_state": "stopped"}, "", "stopped", "provider"},
		{object{"stop_reason": nil}, "start", "running", "ssh"},
		{object{"status": "starting", "desired_state": "running"}, "", "starting", ""},
		{object{"status": "running"}, "", "running", "ssh"},
		{object{"status": "destroyed"}, "", "destroyed", ""},
	} {
		api.setInstance(id, c.set)
		if c.action != "" {
			api.action(id, c.action).want(200)
		}
		api.Advance(time.Hour)
		i := api.instance(id)
		has := i.text("stop_reason")
		if i["ssh"] != nil {
			has = "ssh"
		}
		equal(t, asJSON(c.set), i.text("status")+" with "+has, c.status+" with "+c.hasOf)
	}
	api.control("PATCH", "/instances/"+id, object{"status": "running"}).failsWith("conflict")
}
