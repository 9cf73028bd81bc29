package instance_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A new instance that does not meet its order is destroyed again. A difference that later readings do not have, and a
// response that cannot be read, are no problem.
func TestCreate_UnexpectedResponse(t *testing.T) {
	t.Parallel()
	gpu := func(field string, value any) func(map[string]any) {
		return func(body map[string]any) { body["gpu"].(map[string]any)[field] = value }
	}
	set := func(field string, value any) func(map[string]any) {
		return func(body map[string]any) { body[field] = value }
	}
	for name, test := range map[string]struct {
		change func(map[string]any)
		errors string
		want   string
	}{
		"image spelled differently": {set("image", "docker.io/library/ubuntu:24.04"), "", ""},
		"another image": {
			set("image", "docker.io/library/debian:12"), "differs from the request", "docker.io/library/debian:12",
		},
		"another GPU":    {gpu("slug", "rtx-4090-pcie"), "", ""},
		"fewer GPUs":     {gpu("count", 0.0+1), "differs from the request", "gpu.count is 1 instead of 2"},
		"less VRAM":      {gpu("vram_gb", 8), "differs from the request", "gpu.vram_gb is 8 instead of 12"},
		"another type":   {set("type", "interruptible"), "differs from the request", "type is interruptible"},
		"a smaller disk": {set("disk_gb", 20), "differs from the request", "disk_gb is 20"},
		"a larger disk":  {set("disk_gb", 64), "", ""},
		"another template": {
			set("template", map[string]any{"slug": "ubuntu", "name": "Ubuntu"}), "differs from the request",
			"template is ubuntu",
		},
		"an unreadable field": {set("disk_gb", "sixty"), "", ""},
		"everything optional is absent": {func(body map[string]any) {
			const optional = "name desired_state template image disk_gb country cost_so_far_kop ssh urls created_at " +
				"started_at stop_reason"
			for _, field := range strings.Fields(optional) {
				delete(body, field)
			}
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, p := startWithProxy(t)
			offer := env.Offers("num_gpus=2")[0]
			config := configWithKey(
				"a",
				"template",
				"custom",
				"image",
				"ubuntu:24.04",
				"offer_query",
				nil,
				"offer_id",
				offer.ID,
				"max_price_kop_h",
				offer.Price.OnDemandKopH,
			)
			p.set(rewriteResponse(isCreate, test.change))
			inst, diags := tf.apply(nil, config)
			p.set(nil)
			if test.errors == "" {
				tf.fetch(env, inst)
			}
			if test.want != "" {
				expectDiags(t, "the apply", diags, test.want)
			} else {
				expectDiags(t, "the apply", diags)
			}
			got := strings.Join(errorSummaries(diags), " ")
			if (got == "") != (test.errors == "") || !strings.Contains(got, test.errors) {
				t.Errorf("errors %q, want %q", got, test.errors)
			}
			if test.errors != "" {
				expectCount(t, env, 0, 1)
				if inst != nil {
					t.Error("the state has the instance")
				}
				return
			}
			expectCount(t, env, 1, 1)
			tf.refresh(inst)
			if plan := tf.plan(inst, config); plan.replaces || len(plan.diags) > 0 || !tf.unpack(plan.state).Equal(inst.state) {
				t.Errorf("the next plan has changes; replaces: %t, %s", plan.replaces, diagsText(plan.diags))
			}
		})
	}
}

// A request with a success response without an id is repeated with the same key, up to a limit.
func TestCreate_ResponseWithoutID(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bad  int64
		want string
	}{"once": {1, ""}, "always": {1 << 40, "Cannot determine whether the instance was created"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, p := startWithProxy(t)
			var posts atomic.Int64
			p.set(
				rewriteResponse(
					func(r *http.Request) bool { return isCreate(r) && posts.Add(1) <= test.bad },
					func(body map[string]any) { delete(body, "id") },
				),
			)
			inst, diags := tf.apply(nil, configWithKey("a", "idempotency_key", nil))
			p.set(nil)
			expectCount(t, env, 1, 1)
			if test.want == "" {
				expectDiags(t, "the apply", diags)
				tf.fetch(env, inst)
				return
			}
			expectDiags(t, "the apply", diags, test.want)
			if n := posts.Load(); n > 5 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// Two resources never have the same instance, even if the API ignores the key.
func TestCreate_SameInstanceForTwoResources(t *testing.T) {
	t.Parallel()
	for name, fromState := range map[string]bool{"both are new": false, "the first is in the state": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, p := startWithProxy(t)
			creator := tf
			if fromState {
				creator = newProvider(t, env, nil)
			}
			first, diags := creator.apply(nil, configWithKey("a"))
			expectDiags(t, "the first", diags)
			if fromState {
				tf.refresh(first)
			}
			id := tf.idOf(first)
			response := acctest.Fetch[map[string]any](env, "instances/"+id)
			p.set(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
				if !isCreate(r) {
					api.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusCreated)
				_ = json.NewEncoder(w).Encode(response) //nolint:errcheck // the client reports it
			})
			second, diags := tf.apply(nil, configWithKey("b"))
			p.set(nil)
			expectDiags(t, "the second", diags, "Another resource has instance "+id)
			if second != nil {
				t.Error("the state has the instance twice")
			}
			expectCount(t, env, 1, 1)
			expectDiags(t, "a plan for the first", tf.plan(first, configWithKey("a")).diags)
			expectDiags(t, "the destruction of the first", tf.destroy(first))
			expectCount(t, env, 0, 1)
		})
	}
}
