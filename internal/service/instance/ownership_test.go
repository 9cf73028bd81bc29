package instance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
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
		"young":         {nil, 50 * time.Minute, nil},
		"old":           {nil, 2 * time.Hour, []string{"import {", "moved block", "created at 2", "per hour"}},
		"longer limit":  {"3h", 2 * time.Hour, nil},
		"shorter limit": {"0s", 3 * time.Minute, []string{"recover_within is 0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, _ := start(t, nil)
			first := tf.mustApply(nil, configWithKey("a"))
			env.Advance(test.age)
			tf = newProvider(t, env, map[string]any{"recover_within": test.within})
			second, diags := tf.apply(nil, configWithKey("a"))
			if test.want == nil {
				expectDiags(t, "the second state", diags, "Recovered instance "+first.id(), "terraform state rm")
				expectDiags(t, "the refresh", tf.refresh(second))
				expectDiags(t, "a plan", tf.plan(second, configWithKey("a")).diags)
			} else {
				expectDiags(t, "the second state", diags, append(test.want, "has the idempotency key", first.id())...)
				if second != nil {
					t.Error("the second state has an instance")
				}
			}
			if status := acctest.Fetch[struct{ Status string }](env, "instances/"+first.id()).Status; status != "running" {
				t.Errorf("it is %s", status)
			}
			expectCount(t, env, 1, 1)
		})
	}
}

// Two objects of a state with the same instance fail every refresh and every plan. Repeated reads of one object do not.
func TestOwnership_TwoObjectsWithOneInstance(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil)
	config := configWithKey("a")
	inst := tf.mustApply(nil, config)
	tf = newProvider(t, env, nil)
	other := &resourceState{inst.Object} // imported: without private state
	other.Private = nil
	for range 2 {
		expectDiags(t, "a refresh of the first", tf.refresh(inst))
		expectDiags(t, "a plan of the first", tf.plan(inst, config).diags)
	}
	want := []string{
		"Instance " + inst.id() + " is in the state twice", "terraform state list -id=" + inst.id(),
		"terraform state rm ADDRESS",
	}
	expectDiags(t, "the refresh of the second", tf.refresh(other), want...)
	tf = newProvider(t, env, nil)
	expectDiags(t, "a refresh that adds private state", tf.refresh(other))
	expectDiags(t, "a plan of the first without a refresh", tf.plan(inst, config).diags, want...)
	expectDiags(t, "the plan of its destruction", tf.plan(inst, nil).diags, want...)
	_, diags := tf.destroy(inst)
	expectDiags(t, "its destruction", diags, "Instances were kept for another resource", inst.id())
	expectCount(t, env, 1, 1)
	tf.mustDestroy(other)
	expectCount(t, env, 0, 1)
}

// Two resources never have the same instance, even if the API ignores the key.
func TestCreate_SameInstanceForTwoResources(t *testing.T) {
	t.Parallel()
	env, tf, p := start(t, nil)
	first := tf.mustApply(nil, configWithKey("a"))
	tf = newProvider(t, env, nil)
	expectDiags(t, "the refresh of the first", tf.refresh(first))
	p.Set(isCreate.Do(acctest.Rewrite(func(body map[string]any) {
		env.Delete("instances/" + body["id"].(string))
		body["id"] = first.id()
	})))
	second, diags := tf.apply(nil, configWithKey("b"))
	p.Set()
	expectDiags(t, "the second", diags, "Another resource has instance "+first.id())
	if second != nil {
		t.Error("the state has the instance twice")
	}
	expectDiags(t, "a plan for the first", tf.plan(first, configWithKey("a")).diags)
	tf.mustDestroy(first)
}

// With create_before_destroy and a fixed key, the apply creates first and receives the instance that it is about to
// destroy. It plans the destruction again, and leaves the instance alone.
func TestOwnership_CreateBeforeDestroyWithAFixedKey(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil)
	config := configWithKey("a")
	old := tf.mustApply(nil, config)
	env.Advance(time.Minute)
	tf = newProvider(t, env, nil)
	successor, diags := tf.apply(nil, config)
	expectDiags(t, "the creation", diags, "Recovered instance "+old.id())
	expectDiags(t, "the plan of the destruction", tf.plan(old, nil).diags)
	_, diags = tf.destroy(old)
	expectDiags(t, "the destruction", diags, "were kept for another resource")
	expectCount(t, env, 1, 1)
	tf.mustDestroy(successor)
	expectCount(t, env, 0, 1)
}

// A warning about a duplicate name does not list instances that were read from this state.
func TestPlan_DuplicateName(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil)
	inst := tf.mustApply(nil, configWithoutKey("a"))
	fresh := newProvider(t, env, nil)
	expectDiags(t, "in no state", fresh.plan(nil, configWithoutKey("a")).diags, "already has this name")
	expectDiags(t, "the server itself", fresh.plan(inst, configWithoutKey("a")).diags)
	expectDiags(t, "a server of the same name", fresh.plan(nil, configWithoutKey("a")).diags)
	if diags := tf.planReplacement(inst, configWithoutKey("a", "disk_gb", int64(61)), false); strings.Contains(
		diagsText(diags), "already has") {
		t.Errorf("the server is a duplicate of its replacement: %s", diagsText(diags))
	}
}
