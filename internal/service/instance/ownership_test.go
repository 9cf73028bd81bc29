package instance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// A new resource takes an instance that was rented under its key before only if it is young. An older one stays as it
// is, and the error contains what the user needs.
func TestOwnership_AgeOfAnInstanceUnderTheKey(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		within any // recover_within
		age    time.Duration
		diskGB int64
		want   []string // of the error; none if the instance is taken
	}{
		"young":          {nil, 50 * time.Minute, 60, nil},
		"young, differs": {nil, 50 * time.Minute, 80, []string{"differs from the configuration", "disk_gb is 60"}},
		"old":            {nil, 2 * time.Hour, 60, []string{"import {", "moved block", "created at 2", "per hour"}},
		"longer limit":   {"3h", 2 * time.Hour, 60, nil},
		"shorter limit":  {"0s", 3 * time.Minute, 60, []string{"recover_within is 0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, _ := start(t, nil)
			first := tf.mustApply(nil, configWithKey("a"))
			env.Advance(test.age)
			tf = newProvider(t, env, map[string]any{"recover_within": test.within})
			second, diags := tf.apply(nil, configWithKey("a", "disk_gb", test.diskGB))
			if test.want == nil {
				expectDiags(t, "the second state", diags, "Recovered instance "+first.Text("id"), "terraform state rm")
				expectDiags(t, "the refresh", tf.refresh(second))
				expectDiags(t, "a plan", tf.plan(second, configWithKey("a")).diags)
			} else {
				expectDiags(t, "the second state", diags, append(test.want, "idempotency", first.Text("id"))...)
				if second != nil {
					t.Error("the second state has an instance")
				}
			}
			if status := acctest.Fetch[struct{ Status string }](env, "instances/"+first.Text("id")).Status; status != "running" {
				t.Errorf("it is %s", status)
			}
			expectCount(t, env, 1, 1)
		})
	}
}

// The key of an instance without idempotency_key derives from idempotency_prefix and its name. A run that lost the
// instance recovers it, and a replacement gets another one.
func TestOwnership_KeyOfThePrefix(t *testing.T) {
	t.Parallel()
	prefix := map[string]any{"idempotency_prefix": "team-"}
	env, tf, _ := start(t, prefix)
	config := configWithoutKey("a")
	lost := tf.mustApply(nil, config)
	tf = newProvider(t, env, prefix)
	inst, diags := tf.apply(nil, config)
	expectDiags(t, "the second state", diags, "Recovered instance "+lost.Text("id"))
	if changes := tf.plan(inst, config).changes(); len(changes) > 0 || !inst.Attributes()["matched_query"].IsNull() {
		t.Errorf("the next plan changes %v", changes)
	}
	tf.mustDestroy(inst)
	tf.mustApply(nil, config)
	expectCount(t, env, 1, 2)
}

// A resource that is imported and read beside the one that manages the instance, as by a get of Pulumi, prevents no
// change of it. A creation does not take an instance that was only read.
func TestOwnership_GetBesideTheManagedResource(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil)
	config := configWithKey("a")
	inst := tf.mustApply(nil, config)
	for first, state := range map[string]string{"get": "stopped", "managed": "running"} {
		tf = newProvider(t, env, nil)
		get := func() {
			_, diags := tf.Import(instanceType, inst.Text("id"))
			expectDiags(t, first+" first: the get", diags)
		}
		if first == "get" {
			get()
		}
		expectDiags(t, first+" first: the refresh", tf.refresh(inst))
		expectDiags(t, first+" first: a plan", tf.plan(inst, config).diags)
		if first == "managed" {
			get()
		}
		expectDiags(t, first+" first: a second refresh", tf.refresh(inst))
		inst = tf.mustApply(inst, configWithKey("a", "desired_state", state))
	}
	expectDiags(t, "the plan of a replacement", tf.planReplacement(inst, config, true))
	expectDiags(t, "the plan of the destruction", tf.plan(inst, nil).diags)
	tf = newProvider(t, env, nil)
	_, diags := tf.Import(instanceType, inst.Text("id"))
	expectDiags(t, "a get before a creation", diags)
	_, diags = tf.apply(nil, config)
	expectDiags(t, "a creation under the key", diags, "Another resource has instance "+inst.Text("id"))
	tf.mustDestroy(inst)
	expectCount(t, env, 0, 1)
}

// Of two objects with the same instance, the plan of the second fails, whatever it plans, and so does its deletion: the
// instance and all that the state has of the object stay. Reads, and repeated plans of one object, do not fail.
func TestOwnership_TwoObjectsWithOneInstance(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil)
	config := configWithKey("a")
	first := tf.mustApply(nil, config)
	imported, diags := newProvider(t, env, nil).Import(instanceType, first.Text("id"))
	expectDiags(t, "the import", diags)
	second := &imported
	want := []string{
		"Instance " + first.Text("id") + " is in the state twice", "terraform state list -id=" + first.Text("id"),
		"terraform state rm ADDRESS",
	}
	for _, pair := range [][2]*acctest.Object{{first, second}, {second, first}} {
		for name, change := range map[string]map[string]any{
			"no change": config, "a change": configWithKey("a", "desired_state", "stopped"), "a destruction": nil,
			"a replacement": configWithKey("a", "disk_gb", int64(61)),
		} {
			tf = newProvider(t, env, nil)
			for range 2 {
				expectDiags(t, "a refresh of one object", tf.refresh(pair[0]))
				expectDiags(t, "a refresh of the other", tf.refresh(pair[1]),
					"Instance "+first.Text("id")+" may be in the state twice", "If both manage it and one of the two is tainted")
				expectDiags(t, "the plan of one object", tf.plan(pair[0], config).diags)
			}
			expectDiags(t, "the plan of the other: "+name, tf.plan(pair[1], change).diags, want...)
		}
		private := string(pair[1].Private)
		left, diags := tf.destroy(pair[1])
		expectDiags(t, "the deletion of the other", diags, want...)
		if after, _ := tf.Destroy(*pair[1]); left || string(after.Private) != private {
			t.Errorf("it left the state: %t; its private state is %s, before %s", left, after.Private, private)
		}
	}
	expectCount(t, env, 1, 1)
	newProvider(t, env, nil).mustDestroy(first)
	expectCount(t, env, 0, 1)
}

// A process that serves many runs reports no second object: an object that is planned, changed, replaced, planned or
// destroyed without its private state, or created again is the same one.
func TestOwnership_ManyRunsInOneProcess(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil)
	config := configWithKey("a")
	inst := tf.mustApply(nil, config)
	lost := new(*inst)
	lost.Private = nil // the provider was killed during an earlier apply
	for run := range 2 {
		expectDiags(t, "a refresh", tf.refresh(inst))
		expectDiags(t, "a plan", tf.plan(inst, config).diags)
		expectDiags(t, "a plan of a replacement", tf.planReplacement(inst, config, true))
		expectDiags(t, "a plan of the destruction", tf.plan(inst, nil).diags)
		expectDiags(t, "a plan without a refresh and private state", tf.plan(lost, config).diags)
		inst = tf.mustApply(inst, configWithKey("a", "desired_state", []string{"stopped", "running"}[run]))
	}
	tf.mustDestroy(inst)
	bridged := tf.mustApply(nil, config) // Pulumi passes no private state to a deletion
	expectDiags(t, "a refresh in Pulumi", tf.refresh(bridged))
	expectDiags(t, "a plan in Pulumi", tf.plan(bridged, config).diags)
	bridged.Private = nil
	tf.mustDestroy(bridged)
	expectCount(t, env, 0, 2)
}

// Two resources never have the same instance, even if the API ignores the key.
func TestCreate_SameInstanceForTwoResources(t *testing.T) {
	t.Parallel()
	env, tf, p := start(t, nil)
	first := tf.mustApply(nil, configWithKey("a"))
	tf = newProvider(t, env, nil)
	expectDiags(t, "the refresh of the first", tf.refresh(first))
	p.Set(isCreate.Do(simtest.Rewrite(func(body map[string]any) {
		env.Delete("instances/" + body["id"].(string))
		body["id"] = first.Text("id")
	})))
	second, diags := tf.apply(nil, configWithKey("b"))
	p.Set()
	expectDiags(t, "the second", diags, "Another resource has instance "+first.Text("id"))
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
	expectDiags(t, "the creation", diags, "Recovered instance "+old.Text("id"))
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
