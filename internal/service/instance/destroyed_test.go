package instance_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// The response to a rename can show that the instance was destroyed since the last refresh. The apply then fails, and
// the next plan creates another instance.
func TestUpdate_DestroyedSinceRefresh(t *testing.T) {
	renamed := configWithKey("renamed", "idempotency_key", "key-trainer")
	for _, status := range []string{"destroying", "destroyed"} {
		env := acctest.Start(t)
		tf := newProvider(t, env, nil)
		inst, diags := tf.apply(nil, configWithKey("trainer"))
		expectDiags(t, "the apply", diags)
		plan := tf.plan(inst, renamed)
		expectDiags(t, "the plan", plan.diags)
		id := tf.idOf(inst)
		if err := env.SetInstance(id, simulator.InstancePatch{Status: &status, DesiredState: new("destroyed")}); err != nil {
			t.Fatal(err)
		}
		after, diags := tf.change(inst.state, plan, acctest.Value(tf.schema().ValueType(), renamed))
		expectDiags(
			t,
			"the rename of a server that is "+status,
			diags,
			"Instance "+id+" no longer exists",
			"the apply creates another.",
		)
		expectDiags(t, "the refresh", tf.tryRefresh(after), "1 instance no longer exists: "+id)
		if !after.state.IsNull() {
			t.Errorf("%s: after the refresh the state has %v", status, after.state)
		}
	}
}

// A refresh removes an instance from the state only after a 404 with the code not_found for its id, or the status
// destroying or destroyed. Any other response keeps it, both for a request by id and for a listing that lacks the
// instance.
func TestRead_RemovesOnlyDestroyedInstance(t *testing.T) {
	t.Parallel()
	page := func(status int, body string) interceptor {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	respondError := func(status int, code string) interceptor {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { writeError(w, status, code) }
	}
	respondField := func(field, value string) interceptor {
		return rewriteResponse(isGet, func(body map[string]any) { body[field] = value })
	}
	const html = "<html><h1>404 Not Found</h1></html>"
	env, tf, p := startWithProxy(t)
	inst, diags := tf.apply(nil, configWithKey("a"))
	expectDiags(t, "the apply", diags)
	env.Advance(2 * time.Minute) // the API may not find a new one by its id
	for name, test := range map[string]struct {
		response         interceptor
		removed, wantErr bool
	}{
		"not_found":                     {response: respondError(404, "not_found"), removed: true},
		"status destroying":             {response: respondField("status", "destroying"), removed: true},
		"status destroyed":              {response: respondField("status", "destroyed"), removed: true},
		"desired_state destroyed":       {response: respondField("desired_state", "destroyed"), removed: true},
		"status failed":                 {response: respondField("status", "failed")},
		"unknown status":                {response: respondField("status", "hibernating")},
		"404 of a proxy":                {response: page(404, html), wantErr: true},
		"404 of a proxy with JSON":      {response: page(404, `{"message":"not_found"}`), wantErr: true},
		"404 with another code":         {response: respondError(404, "conflict"), wantErr: true},
		"410":                           {response: page(410, html), wantErr: true},
		"not_found with another status": {response: respondError(410, "not_found"), wantErr: true},
		"not_found with status 200":     {response: respondError(200, "not_found"), wantErr: true},
		"another server, destroyed": {
			response: page(200, `{"id":"ins_other","status":"destroyed","type":"on_demand"}`), wantErr: true,
		},
		"no server":  {response: page(200, `{}`), wantErr: true},
		"no content": {response: page(204, ""), wantErr: true},
		"401":        {response: respondError(401, "unauthorized"), wantErr: true},
		"403":        {response: respondError(403, "forbidden"), wantErr: true},
		"502":        {response: page(502, html), wantErr: true},
	} {
		for _, listed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, listed %t", name, listed), func(t *testing.T) {
				run := newProvider(t, env, map[string]any{"max_retries": int64(0)})
				if listed {
					run.refresh(inst) // the next read uses a listing
				}
				var listings atomic.Int64
				p.set(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
					switch {
					case strings.HasSuffix(r.URL.Path, "/instances"):
						listings.Add(1)
						page(200, `{"data":[],"next_cursor":null}`)(w, r, api)
					case isGet(r):
						test.response(w, r, api)
					default:
						api.ServeHTTP(w, r)
					}
				})
				resp, err := run.server.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{
					TypeName: instanceType, CurrentState: run.pack(inst.state), Private: inst.private,
				})
				p.set(nil)
				if err != nil {
					t.Fatal(err)
				}
				if n := listings.Load(); listed != (n > 0) {
					t.Errorf("%d listings were read", n)
				}
				removed := run.unpack(resp.NewState).IsNull()
				if removed != test.removed || hasError(resp.Diagnostics) != test.wantErr {
					t.Errorf("removed %t, want %t; error %t, want %t: %s",
						removed, test.removed, hasError(resp.Diagnostics), test.wantErr, diagsText(resp.Diagnostics))
				}
			})
		}
	}
}
