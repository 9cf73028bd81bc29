package instance_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A recovered instance keeps a template with the same content, also if the create response omits the template.
func TestCreate_RecoversInstanceWithoutTemplateInResponse(t *testing.T) {
	t.Parallel()
	env, tf, p := startWithProxy(t)
	const content = `{"name": "Own", "image": "ubuntu:24.04", "launch_mode": "ssh", "ports": [8080]}`
	slugs := func() (own []any) {
		type template struct{ Slug, Owner string }
		for _, t := range acctest.Fetch[struct{ Data []template }](env, "templates?limit=200").Data {
			if t.Owner == "me" {
				own = append(own, t.Slug)
			}
		}
		return own
	}
	env.Post("templates", content)
	first := slugs()
	_, diags := newManyRuns(t, env, nil).apply(nil, configWithKey("a", "template", first[0]))
	expectDiags(t, "the earlier run", diags)
	env.Advance(time.Minute)
	env.Post("templates", content)
	second := slices.DeleteFunc(slugs(), func(slug any) bool { return slug == first[0] })
	p.set(rewriteResponse(isCreate, func(body map[string]any) { delete(body, "template") }))
	config := configWithKey("a", "template", second[0])
	inst, diags := tf.apply(nil, config)
	p.set(nil)
	expectDiags(t, "the takeover", diags, "Recovered instance")
	tf.refresh(inst)
	plan := tf.plan(inst, config)
	expectDiags(t, "a plan", plan.diags)
	if plan.replaces {
		t.Error("the server is replaced")
	}
	expectCount(t, env, 1, 1)
}

// A renamed resource with an unchanged key has one instance after at most two applies, in any order in which Terraform
// destroys the old address and creates the new one.
func TestCreate_RenamedResource(t *testing.T) {
	t.Parallel()
	config := configWithKey("a", "idempotency_key", "k")
	for name, test := range map[string]struct {
		sameProcess bool
		apply       func(tf *core, old *resourceState) *resourceState
	}{
		"destroyed first": {false, func(tf *core, old *resourceState) *resourceState {
			expectDiags(tf.T, "the destruction", tf.destroy(old))
			inst, diags := tf.apply(nil, config)
			expectDiags(tf.T, "the creation", diags)
			return inst
		}},
		"created first": {false, func(tf *core, old *resourceState) *resourceState {
			inst, diags := tf.apply(nil, config)
			expectDiags(tf.T, "the creation", diags, "Recovered instance")
			expectDiags(tf.T, "the destruction", tf.destroy(old), "was not replaced")
			return inst
		}},
		"destroyed first, one process": {true, func(tf *core, old *resourceState) *resourceState {
			expectDiags(tf.T, "the destruction", tf.destroy(old))
			inst, diags := tf.apply(nil, config)
			expectDiags(tf.T, "the creation", diags)
			return inst
		}},
		"created first, one process": {true, func(tf *core, old *resourceState) *resourceState {
			inst, _ := tf.apply(nil, config)
			tf.destroy(old)
			return inst
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, _ := startWithProxy(t)
			old, diags := tf.apply(nil, config)
			expectDiags(t, "the server", diags)
			expectDiags(t, "a plan without changes", tf.plan(old, config).diags)
			env.Advance(time.Minute)
			if !test.sameProcess {
				tf = newManyRuns(t, env, nil)
			}
			inst := test.apply(tf, old)
			env.Advance(time.Minute)
			inst = applyAgain(tf, inst, config)
			if inst := tf.fetch(env, inst); inst.Status != "running" {
				t.Errorf("it is %s", inst.Status)
			}
			expectCount(t, env, 1, -1)
		})
	}
}

// applyAgain returns the resource after another apply.
func applyAgain(tf *core, inst *resourceState, config map[string]any) *resourceState {
	tf.Helper()
	if inst != nil {
		tf.refresh(inst)
		if inst.state.IsNull() {
			inst = nil
		}
	}
	inst, diags := tf.apply(inst, config)
	expectDiags(tf.T, "the second apply", diags)
	return inst
}
