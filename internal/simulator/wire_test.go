package simulator_test

import (
	"encoding/json"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/contract"
	"github.com/gpurent/terraform-provider-gpurent/internal/contract/contracttest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// TestOperationsAreThoseOfTheContract compares the route table with the document, scopes included.
func TestOperationsAreThoseOfTheContract(t *testing.T) {
	served := map[string]simulator.Operation{}
	for _, op := range simulator.Operations() {
		if served[op.ID].ID != "" {
			t.Errorf("%s is served twice", op.ID)
		}
		served[op.ID] = op
	}
	for _, op := range contract.Operations() {
		want := simulator.Operation{ID: op.ID, Method: op.Method, Path: op.Path}
		if op.Scope != "public" && op.Scope != "optional" {
			want.Scope = op.Scope
		}
		if got := served[op.ID]; got != want {
			t.Errorf("%s is served as %+v, want %+v", op.ID, got, want)
		}
		delete(served, op.ID)
	}
	for id := range served {
		t.Errorf("%s is served, and the contract does not have it", id)
	}
}

// TestWire calls every operation once the way a good client does: neither requests nor answers may stray from the contract.
func TestWire(t *testing.T) {
	strict := contracttest.New(t)
	r := newRig(t, func(c *simulator.Config) { c.Wrap = strict.Wrap })
	public := r.as("")
	for _, path := range []string{"/gpus", "/offers", "/templates", "/offers/" + r.cheapest()[0].ID} {
		public.do("GET", path, nil).want(200)
	}
	var tpl struct{ Slug string }
	r.do("POST", "/templates", m{"name": "mine", "image": "a/b:1", "ports": []int{8080}, "env": m{"A": "1"}, "onstart": "ls"}).want(201).into(&tpl)
	var key, token struct{ ID string }
	r.do("POST", "/ssh-keys", m{"public_key": ed25519A, "name": "n"}).want(201).into(&key)
	r.do("POST", "/api-keys", m{"name": "n", "scopes": []string{"user:read"}, "expires_in_days": 5}).want(201).into(&token)
	i := r.running("wire", m{"template": tpl.Slug, "ssh_key_ids": []string{key.ID}, "name": "box"})
	r.rent("wire", nil).want(200)
	id := "/instances/" + i.ID
	for _, path := range []string{"/me", "/balance", "/transactions", "/templates", "/ssh-keys", "/instances", "/api-keys", id, id + "/logs?tail=5"} {
		r.do("GET", path, nil).want(200)
	}
	r.do("PATCH", id, m{"name": nil}).want(200)
	r.do("POST", id+"/stop", nil).want(200)
	r.Advance(settled)
	r.do("POST", id+"/start", nil).want(200)
	r.do("DELETE", id, nil).want(200)
	for _, path := range []string{"/templates/" + tpl.Slug, "/ssh-keys/" + key.ID, "/api-keys/" + token.ID} {
		r.do("DELETE", path, nil).want(204)
	}
	var code struct {
		Device string `json:"device_code"`
		User   string `json:"user_code"`
	}
	public.do("POST", "/auth/device", m{"client_name": "wire"}).want(200).into(&code)
	public.do("POST", "/auth/device/token", m{"device_code": code.Device}).refused(400, "authorization_pending")
	if err := r.DecideDeviceCode(code.User, true); err != nil {
		t.Fatal(err)
	}
	public.do("POST", "/auth/device/token", m{"device_code": code.Device}).want(200)

	seen := strict.Seen()
	for _, op := range simulator.Operations() {
		if seen[op.ID] == 0 {
			t.Errorf("%s was not called", op.ID)
		}
	}
	if a := public.do("GET", "/openapi.json", nil).want(200); !json.Valid(a.raw) {
		t.Error("openapi.json is not JSON")
	}
}
