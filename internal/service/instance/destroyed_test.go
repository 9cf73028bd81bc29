package instance_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A server that was destroyed since the last refresh answers 409 to a DELETE. That is a success: it is gone.
func TestDestroyed_DeleteSucceeds(t *testing.T) {
	env := acctest.Start(t)
	h := newHost(t, env, nil)
	server, diags := h.apply(nil, keyed("trainer"))
	expect(t, "the apply", diags)
	id := env.Overview().Instances[0].ID
	if err := env.SetInstance(id, simulator.InstancePatch{Status: new("destroyed"), DesiredState: new("destroyed")}); err != nil {
		t.Fatal(err)
	}
	expect(t, "the destruction", h.destroy(server))
}

// The answer to a rename can show that the server was destroyed since the last refresh: the apply fails, and the next
// plan creates another.
func TestDestroyed_RenameFails(t *testing.T) {
	renamed := keyed("renamed", "idempotency_key", "key-trainer")
	for _, status := range []string{"destroying", "destroyed"} {
		env := acctest.Start(t)
		h := newHost(t, env, nil)
		server, diags := h.apply(nil, keyed("trainer"))
		expect(t, "the apply", diags)
		plan := h.plan(server, renamed)
		expect(t, "the plan", plan.diags)
		id := h.id(server)
		if err := env.SetInstance(id, simulator.InstancePatch{Status: &status, DesiredState: new("destroyed")}); err != nil {
			t.Fatal(err)
		}
		after, diags := h.change(server.state, plan, acctest.Value(h.schema().ValueType(), renamed))
		expect(t, "the rename of a server that is "+status, diags, "Instance "+id+" no longer exists", "The next apply creates another.")
		if h.refresh(after); !after.state.IsNull() {
			t.Errorf("%s: after the refresh the state has %v", status, after.state)
		}
	}
}

// Only the service's own word removes a server from the state: not_found for its id, or a status of destruction. Everything else that
// a refresh can meet keeps it, both when the server is read by its id at once and when a listing lacks it.
func TestRead_RemovesAServerOnTheServicesWordOnly(t *testing.T) {
	t.Parallel()
	page := func(status int, body string) responder {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	says := func(status int, code string) responder {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { fails(w, status, code) }
	}
	shows := func(field, value string) responder {
		return rewrites(isRead, func(body map[string]any) { body[field] = value })
	}
	const html = "<html><h1>404 Not Found</h1></html>"
	env, h, m := behindMiddlebox(t)
	server, diags := h.apply(nil, keyed("a"))
	expect(t, "the apply", diags)
	for name, test := range map[string]struct {
		answer         responder
		removed, fails bool
	}{
		"not_found":                     {answer: says(404, "not_found"), removed: true},
		"status destroying":             {answer: shows("status", "destroying"), removed: true},
		"status destroyed":              {answer: shows("status", "destroyed"), removed: true},
		"desired_state destroyed":       {answer: shows("desired_state", "destroyed"), removed: true},
		"status failed":                 {answer: shows("status", "failed")},
		"unknown status":                {answer: shows("status", "hibernating")},
		"404 of a proxy":                {answer: page(404, html), fails: true},
		"404 of a proxy that says JSON": {answer: page(404, `{"message":"not_found"}`), fails: true},
		"404 with another code":         {answer: says(404, "conflict"), fails: true},
		"410":                           {answer: page(410, html), fails: true},
		"not_found with another status": {answer: says(410, "not_found"), fails: true},
		"not_found with status 200":     {answer: says(200, "not_found"), fails: true},
		"another server, destroyed":     {answer: page(200, `{"id":"ins_other","status":"destroyed","type":"on_demand"}`), fails: true},
		"no server":                     {answer: page(200, `{}`), fails: true},
		"no content":                    {answer: page(204, ""), fails: true},
		"401":                           {answer: says(401, "unauthorized"), fails: true},
		"403":                           {answer: says(403, "forbidden"), fails: true},
		"502":                           {answer: page(502, html), fails: true},
	} {
		for _, listed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, listed %t", name, listed), func(t *testing.T) {
				run := newRun(t, env, map[string]any{"max_retries": int64(0)})
				if listed {
					run.refresh(server) // the next read uses a listing
				}
				var listings atomic.Int64
				m.set(func(w http.ResponseWriter, r *http.Request, service http.Handler) {
					switch {
					case strings.HasSuffix(r.URL.Path, "/instances"):
						listings.Add(1)
						page(200, `{"data":[],"next_cursor":null}`)(w, r, service)
					case isRead(r):
						test.answer(w, r, service)
					default:
						service.ServeHTTP(w, r)
					}
				})
				resp, err := run.server.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{
					TypeName: instanceType, CurrentState: run.pack(server.state), Private: server.private,
				})
				m.set(nil)
				if err != nil {
					t.Fatal(err)
				}
				if n := listings.Load(); listed != (n > 0) {
					t.Errorf("%d listings were read", n)
				}
				if removed := run.unpack(resp.NewState).IsNull(); removed != test.removed || failed(resp.Diagnostics) != test.fails {
					t.Errorf("removed %t, want %t; error %t, want %t: %s",
						removed, test.removed, failed(resp.Diagnostics), test.fails, said(resp.Diagnostics))
				}
			})
		}
	}
}
