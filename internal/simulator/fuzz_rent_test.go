package simulator_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// instanceFields are the members of the body that rents.
var instanceFields = []string{"offer_id", "template", "disk_gb", "name", "ssh_key_ids", "type", "image", "env", "onstart?", "Idempotency-Key"}

func FuzzCreateInstance(f *testing.F) {
	x := target{prepare: func(r *rig) {
		r.do("POST", "/ssh-keys", m{"public_key": ed25519A}).want(201)
		r.rent("there", m{"offer_id": r.cheapest()[1].ID}).want(201)
	}}
	free := x.ready(f).cheapest()[0].ID
	for _, body := range []string{
		`{"offer_id":"FREE","template":"pytorch","disk_gb":50}`, `{"offer_id":"FREE","template":"custom","disk_gb":10,"image":"a/b:1","env":{},"onstart":null,` +
			`"ssh_key_ids":[],"type":"interruptible","name":"Имя"}`, `{"offer_id":"FREE","template":"vllm","disk_gb":39,"image":"x","env":{"a":"b"},"onstart":"x"}`,
		`{"offer_id":"none","template":"none","disk_gb":2001,"ssh_key_ids":["none",null],"type":"spot","name":null}`, `{}`, `[`,
		`{"offer_id":"FREE","template":"ubuntu","disk_gb":9}`, `{"offer_id":"FREE","template":"ubuntu","disk_gb":2001}`, `{"offer_id":"FREE","disk_gb":50}`,
	} {
		f.Add("k", body)
		f.Add("there", body)
		f.Add(strings.Repeat("ю", 65), body)
	}
	f.Fuzz(func(t *testing.T, key, body string) {
		r := x.ready(t)
		body = strings.ReplaceAll(body, "FREE", free)
		a, ok := r.send("POST", "/api/v1/instances", body, http.Header{"Idempotency-Key": {key}})
		if !ok {
			return
		}
		done := a.judge([]int{201, 200, 404, 409, 422}, body, instanceFields...)
		if said := members[json.RawMessage](t, body); a.status == 404 && (said["offer_id"] == nil || said["template"] == nil || said["disk_gb"] == nil) {
			t.Fatalf("nothing was looked for in %s: %s", body, a.raw)
		}
		if done && (a.header.Get("Idempotent-Replayed") == "true") != (a.status == 200) || (a.status == 200) != (key == "there") ||
			a.status != 422 && (key == "" || length(key) > 64) {
			t.Fatalf("key %q: %d %v %s", key, a.status, a.header, a.raw)
		}
		if !x.unchanged(t, a.status == 201) {
			return
		}
		var made told
		a.into(&made)
		said, number := members[string](t, body), members[int64](t, body)
		name := ""
		if made.Name != nil {
			name = *made.Name
		}
		if said["offer_id"] != free || said["template"] == "" || made.Disk != number["disk_gb"] || !within(int(made.Disk), 10, 2000) || length(name) > 60 || name != said["name"] ||
			made.Status != "creating" || made.Type != "on_demand" && made.Type != said["type"] || said["image"] != "" && (made.Image != said["image"] || said["template"] != "custom") {
			t.Fatalf("said %s, made %s", body, a.raw)
		}
		if again := r.with("Idempotency-Key", key).do("POST", "/instances", nil); again.status != 200 || string(again.raw) != string(a.raw) {
			t.Fatalf("made %s, again %d %s", a.raw, again.status, again.raw)
		}
	})
}

func FuzzUpdateInstance(f *testing.F) {
	for _, body := range []string{`{"name":"x"}`, `{"name":null}`, `{"name":""}`, `{"name":"` + strings.Repeat("ю", 61) + `"}`, `{}`, `{"name":"x","disk_gb":1}`, `{"name":1}`} {
		f.Add(body)
	}
	id := ""
	x := target{prepare: func(r *rig) {
		var i instance
		r.rent("k", nil).want(201).into(&i)
		id = i.ID
	}}
	f.Fuzz(func(t *testing.T, body string) {
		r := x.ready(t)
		a := r.api("PATCH", "/instances/"+id, body)
		if !x.unchanged(t, a.judge([]int{200, 422}, body, "name?")) {
			return
		}
		if _, sent := members[json.RawMessage](t, body)["name"]; !sent {
			t.Fatalf("accepted %s: %s", body, a.raw)
		}
		name, named := members[string](t, body)["name"]
		if got := r.instance(id).Name; (got != nil) != named || named && (*got != name || length(name) > 60) {
			t.Fatalf("said %s, made %s", body, a.raw)
		}
	})
}

// FuzzDevice sends bodies to the two operations of the login, and codes to the page that decides. DEVICE and USER stand
// for the codes of a login that waits.
func FuzzDevice(f *testing.F) {
	for _, seed := range []struct{ code, body string }{
		{"", `{"client_name":"laptop"}`}, {"", `{"client_name":"` + strings.Repeat("x", 61) + `"}`}, {"", ``}, {"", `{"client_name":null,"x":1}`},
		{"", `{"device_code":"DEVICE"}`}, {"", `{"device_code":"none"}`}, {"", `{"device_code":7}`},
		{"USER", `{"decision":"approve"}`}, {"USER", `{"decision":"deny"}`}, {"none", `{"decision":"approve"}`}, {"USER", `{"decision":"maybe"}`},
	} {
		for op := range uint8(3) {
			f.Add(op, seed.code, seed.body)
		}
	}
	var d deviceCode
	x := target{prepare: func(r *rig) { d = r.login() }}
	f.Fuzz(func(t *testing.T, op uint8, code, body string) {
		r := x.ready(t)
		body = strings.ReplaceAll(body, "DEVICE", d.Device)
		switch op % 3 {
		case 0:
			a := r.api("POST", "/auth/device", body)
			if done := a.judge([]int{200, 422}, body, "client_name"); done && length(members[string](t, body)["client_name"]) > 60 {
				t.Fatalf("said %s, made %s", body, a.raw)
			} else if !done {
				x.unchanged(t, false)
			}
		case 1:
			a := r.api("POST", "/auth/device/token", body)
			if x.unchanged(t, a.judge([]int{400, 422}, body, "device_code")) {
				t.Fatalf("a key for a login that nobody approved: %s", a.raw)
			}
		default:
			code = strings.ReplaceAll(code, "USER", d.User)
			a, ok := r.send("POST", "/control/device-codes/"+code, body, nil)
			if !ok || !x.unchanged(t, a.judgeControl([]int{204, 404, 409, 422}, body, "decision")) {
				return
			}
			if members[string](t, body)["decision"] == "deny" {
				r.poll(d).refused(400, "access_denied")
				return
			}
			var issued struct {
				Key string `json:"api_key"`
			}
			r.poll(d).want(200).into(&issued)
			r.as(issued.Key).do("GET", "/me", nil).want(200)
			r.poll(d).refused(400, "expired_token")
		}
	})
}

// controlCalls are the calls that take a body, with the fields they know. OFFER and INSTANCE stand for ids.
var controlCalls = []struct {
	method, path string
	fields       []string
}{
	{"PATCH", "/account", []string{"balance_kop", "credit_limit_kop", "email_verified", "blocked", "max_instances"}},
	{"PATCH", "/offers/OFFER", []string{"available", "on_demand_kop_h", "interruptible_kop_h", "online", "fail_boots"}},
	{"PATCH", "/instances/INSTANCE", []string{"status", "desired_state", "stop_reason?", "traffic_gb"}},
	{"POST", "/clock", []string{"advance_seconds"}},
	{"POST", "/faults", []string{"method", "path", "status", "delay_ms", "drop", "times", "probability", "fault"}},
	{"POST", "/rate-limit", []string{"per_minute_key", "per_minute_address"}},
	{"POST", "/reset", nil},
}

func FuzzControl(f *testing.F) {
	for n, bodies := range [][]string{
		{`{"balance_kop":-5,"credit_limit_kop":10,"email_verified":false,"blocked":true,"max_instances":0}`, `{"balance_kop":1e12,"max_instances":-1}`},
		{`{"available":false,"on_demand_kop_h":0,"interruptible_kop_h":10000000,"online":false,"fail_boots":true}`, `{"on_demand_kop_h":10000001}`},
		{`{"status":"outbid","desired_state":"running","stop_reason":null,"traffic_gb":0.0005}`, `{"status":"gone","traffic_gb":-1}`, `{"stop_reason":""}`},
		{`{"advance_seconds":0.0015}`, `{"advance_seconds":316224000}`, `{"advance_seconds":-1}`, `{}`},
		{`{"path":"/me","status":503}`, `{"path":"/instances/{id}","drop":"after","times":1,"probability":0.5}`, `{"path":"x","delay_ms":1}`, `{"status":500}`},
		{`{"per_minute_key":1,"per_minute_address":0}`, `{"per_minute_key":-1}`}, {`{}`, `{"x":1}`},
	} {
		for _, body := range bodies {
			f.Add(uint8(n), body)
		}
	}
	var id, held string
	x := target{prepare: func(r *rig) {
		held = r.cheapest()[0].ID
		id = r.running("k", m{"type": "interruptible", "offer_id": held}).ID
	}}
	f.Fuzz(func(t *testing.T, op uint8, body string) {
		r := x.ready(t)
		call := controlCalls[int(op)%len(controlCalls)]
		path := strings.NewReplacer("OFFER", held, "INSTANCE", id).Replace(call.path)
		before := r.Now()
		a, ok := r.send(call.method, "/control"+path, body, nil)
		if !ok {
			t.Fatal(path)
		}
		if x.unchanged(t, a.judgeControl([]int{200, 204, 422}, body, call.fields...)) {
			r.controlled(t, call.path, id, held, body, before)
		}
	})
}

// controlled reads back what a control call was told to do.
func (r *rig) controlled(t *testing.T, call, id, held, body string, before time.Time) {
	t.Helper()
	number := members[json.Number](t, body)
	wants := func(name string, got int64) {
		t.Helper()
		if want, ok := members[int64](t, body)[name]; ok && want != got {
			t.Fatalf("%s: %s is %d", body, name, got)
		}
	}
	switch call {
	case "/account":
		o := r.Overview()
		wants("balance_kop", o.Balance.BalanceKop)
		wants("credit_limit_kop", o.Balance.CreditLimitKop)
		if blocked := members[bool](t, body)["blocked"]; blocked != (r.api("GET", "/me", "").status == http.StatusForbidden) {
			t.Fatalf("%s: blocked is not %v", body, blocked)
		}
	case "/offers/OFFER":
		var o offer
		r.api("GET", "/offers/"+held, "").want(200).into(&o)
		wants("on_demand_kop_h", o.Price.OnDemand)
		wants("interruptible_kop_h", *o.Price.Interruptible)
	case "/instances/INSTANCE":
		status, forced := members[string](t, body)["status"]
		if i := r.instance(id); forced && i.Status != status || i.Cost < 0 {
			t.Fatalf("%s: %+v", body, i)
		}
		checkBooks(r)
	case "/clock":
		seconds, err := number["advance_seconds"].Float64()
		if d := r.Now().Sub(before).Seconds() - seconds; err != nil || d < -0.0011 || d > 0.0011 {
			t.Fatalf("%s: moved from %v to %v", body, before, r.Now())
		}
	case "/faults":
		if _, sent := members[string](t, body)["path"]; !sent {
			t.Fatalf("accepted %s", body)
		}
	case "/rate-limit":
		limit := r.api("GET", "/me", "").header.Get("X-RateLimit-Limit")
		if want := number["per_minute_key"].String(); limit != want && (want != "0" || limit != "1000000") {
			t.Fatalf("%s: the limit is %s", body, limit)
		}
	case "/reset":
		if o := r.Overview(); o.Total != 0 || o.Balance.BalanceKop != 5_000_000 {
			t.Fatalf("after a reset %+v", o)
		}
	}
}
