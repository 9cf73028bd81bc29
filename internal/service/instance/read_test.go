package instance_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// The API may later return another spelling of the image, for example its digest.
func TestRead_KeepsImage(t *testing.T) {
	t.Parallel()
	_, tf, p := startWithProxy(t)
	config := configWithKey("a", "template", "custom", "image", "ubuntu:24.04")
	inst, diags := tf.apply(nil, config)
	expectDiags(t, "the apply", diags)
	p.set(
		rewriteResponse(isGet, func(body map[string]any) { body["image"] = "ubuntu@sha256:" + strings.Repeat("0a", 32) }),
	)
	tf.refresh(inst)
	if tf.plan(inst, config).replaces {
		t.Error("the plan replaces the server")
	}
}

// The API may normalize names.
func TestRead_KeepsNormalizedName(t *testing.T) {
	t.Parallel()
	env, tf, p := startWithProxy(t)
	name := ""
	lower := func(body map[string]any) { body["name"] = strings.ToLower(name) }
	p.set(
		rewriteResponse(func(r *http.Request) bool { return isGet(r) || isCreate(r) || r.Method == http.MethodPatch }, lower),
	)
	var inst *resourceState
	for _, name = range []string{"First", "Second"} {
		config := configWithKey("a", "name", name)
		var diags []*tfprotov6.Diagnostic
		inst, diags = tf.apply(inst, config)
		expectDiags(t, "the apply", diags)
		tf.refresh(inst)
		if got := stringOf(tf.attribute(inst, "name")); got != name {
			t.Errorf("the state has the name %q, want %q", got, name)
		}
	}
	name = "Third"
	tf = newProvider(t, env, nil)
	tf.refresh(inst)
	if got := stringOf(tf.attribute(inst, "name")); got != "third" {
		t.Errorf("after a rename elsewhere the state has the name %q", got)
	}
	expectCount(t, env, 1, 1)
}

// Another spelling of an image plans no change, in the configuration or in the response.
func TestPlan_ImageSpelling(t *testing.T) {
	t.Parallel()
	const short, long = "ubuntu:24.04", "docker.io/library/ubuntu:24.04"
	for _, test := range []struct{ template, applied, planned string }{
		{"custom", short, long},
		{"custom", long, short},
		{"ubuntu", "docker.io/nvidia/cuda:12.6.3-base-ubuntu24.04", "nvidia/cuda:12.6.3-base-ubuntu24.04"},
	} {
		env, tf, _ := startWithProxy(t)
		config := configWithKey("a", "template", test.template, "image", test.applied)
		inst, diags := tf.apply(nil, config)
		expectDiags(t, "the apply", diags)
		tf.refresh(inst)
		expectDiags(t, "a plan", tf.plan(inst, config).diags)
		config["image"] = test.planned
		plan := tf.plan(inst, config)
		expectDiags(t, "a plan with the other spelling", plan.diags)
		if plan.replaces {
			t.Errorf("%+v: it is replaced", test)
		}
		if config["image"] = "debian:12"; test.template == "custom" && !tf.plan(inst, config).replaces {
			t.Errorf("%+v: another image does not replace it", test)
		}
		expectCount(t, env, 1, 1)
	}
}
