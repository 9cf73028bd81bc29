package instance_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A new resource takes an instance that was rented under its key before only if it is young. An older one stays as it
// is, and the error contains what the user needs.
func TestOwnership_AgeOfAnInstanceUnderTheKey(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		within any // recover_within
		age    time.Duration
		want   []string // of the error; none if the instance is taken
	}{
		"young": {nil, 50 * time.Minute, nil},
		"old": {nil, 2 * time.Hour, []string{
			"has the idempotency key", "import {", "moved block", "2h0m", "per hour",
		}},
		"never":         {"0s", 3 * time.Minute, []string{"has the idempotency key", "recover_within is 0s"}},
		"longer limit":  {"3h", 2 * time.Hour, nil},
		"shorter limit": {"10m", 20 * time.Minute, []string{"has the idempotency key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := acctest.Start(t)
			first, diags := newProvider(t, env, nil).apply(nil, configWithKey("a"))
			expectDiags(t, "the first state", diags)
			env.Advance(test.age)
			tf := newProvider(t, env, map[string]any{"recover_within": test.within})
			second, diags := tf.apply(nil, configWithKey("a"))
			if test.want == nil {
				expectDiags(t, "the second state", diags, "Recovered instance "+tf.idOf(first), "terraform state rm")
				tf.refresh(second)
				expectDiags(t, "a plan", tf.plan(second, configWithKey("a")).diags)
			} else {
				expectDiags(t, "the second state", diags, append(test.want, tf.idOf(first))...)
				if second != nil {
					t.Error("the second state has an instance")
				}
			}
			if inst := tf.fetch(env, first); inst.Status != "running" {
				t.Errorf("it is %s", inst.Status)
			}
			expectCount(t, env, 1, 1)
		})
	}
}

// Two objects of a state with the same instance fail every refresh and every plan. Repeated reads of one object do not.
func TestOwnership_TwoObjectsWithOneInstance(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	config := configWithKey("a")
	inst, diags := newProvider(t, env, nil).apply(nil, config)
	expectDiags(t, "the apply", diags)
	tf := newProvider(t, env, nil)
	other := &resourceState{state: inst.state} // imported: without private state
	for range 2 {
		tf.refresh(inst)
		expectDiags(t, "a plan of the first", tf.plan(inst, config).diags)
	}
	id := tf.idOf(inst)
	want := []string{
		"Instance " + id + " is in the state twice", "terraform state list -id=" + id, "terraform state rm ADDRESS",
	}
	expectDiags(t, "the refresh of the second", tf.tryRefresh(other), want...)

	tf = newProvider(t, env, nil)
	tf.refresh(other) // which adds its private state
	expectDiags(t, "a plan of the first without a refresh", tf.plan(inst, config).diags, want...)
	expectDiags(t, "the plan of its destruction", tf.planDestroy(inst), want...)
	expectDiags(t, "its destruction", tf.destroy(inst), "Instances were kept for another resource", id)
	expectCount(t, env, 1, 1)
	expectDiags(t, "the destruction of the other one", tf.destroy(other))
	expectCount(t, env, 0, 1)
}

// A 404 removes an object from the state unless the account cannot be compared. An account that the key may not read
// does not count.
func TestOwnership_404WithoutTheAccount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		account string // of the second run; "" for forbidden
		fails   bool
	}{
		"the same account":    {"same", false},
		"an unknown account":  {"", false},
		"an account on error": {"error", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, p := startWithProxy(t)
			inst, diags := tf.apply(nil, configWithKey("a"))
			expectDiags(t, "the apply", diags)
			env.Advance(2 * time.Minute)
			tf = newProvider(t, env, map[string]any{"max_retries": int64(0)})
			p.set(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
				switch {
				case strings.Contains(r.URL.Path, "/instances/"):
					writeError(w, http.StatusNotFound, "not_found")
				case strings.HasSuffix(r.URL.Path, "/me") && test.account == "":
					writeError(w, http.StatusForbidden, "forbidden")
				case strings.HasSuffix(r.URL.Path, "/me") && test.account == "error":
					writeError(w, http.StatusInternalServerError, "internal")
				default:
					api.ServeHTTP(w, r)
				}
			})
			refreshed := *inst
			diags = tf.tryRefresh(&refreshed)
			after, destroyDiags := tf.tryDestroy(inst)
			if hasError(diags) != test.fails || refreshed.state.IsNull() == test.fails {
				t.Errorf("the refresh fails: %t; removes it: %t", hasError(diags), refreshed.state.IsNull())
			}
			if hasError(destroyDiags) != test.fails || (after == nil) == test.fails {
				t.Errorf("the destruction fails: %t; removes it: %t", hasError(destroyDiags), after == nil)
			}
		})
	}
}

// An account that cannot be read does not delay a creation.
func TestOwnership_CreateWithoutTheAccount(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	if err := env.AddFault(simulator.Fault{Path: "/me", Status: http.StatusInternalServerError}); err != nil {
		t.Fatal(err)
	}
	tf := newProvider(t, env, nil)
	for _, name := range []string{"a", "b"} {
		_, diags := tf.apply(nil, configWithKey(name))
		expectDiags(t, "the apply", diags)
	}
	if n := env.CountRequests("GET", "/me"); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// With create_before_destroy and a fixed key, the apply creates first and receives the instance that it is about to
// destroy. It plans the destruction again, and leaves the instance alone.
func TestOwnership_CreateBeforeDestroyWithAFixedKey(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	config := configWithKey("a")
	old, diags := newProvider(t, env, nil).apply(nil, config)
	expectDiags(t, "the apply", diags)
	env.Advance(time.Minute)
	tf := newProvider(t, env, nil)
	successor, diags := tf.apply(nil, config)
	expectDiags(t, "the creation", diags, "Recovered instance "+tf.idOf(old))
	expectDiags(t, "the plan of the destruction", tf.planDestroy(old))
	expectDiags(t, "the destruction", tf.destroy(old), "were kept for another resource")
	expectCount(t, env, 1, 1)
	expectDiags(t, "the destruction of the successor", tf.destroy(successor))
	expectCount(t, env, 0, 1)
}
