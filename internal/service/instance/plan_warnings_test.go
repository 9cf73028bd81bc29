package instance_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// Every plan warns of a running instance above its cap.
func TestPlan_WarnsAboveCap(t *testing.T) {
	t.Parallel()
	env, tf, p := startWithProxy(t)
	config := configWithKey("a", "max_price_kop_h", int64(10_000))
	inst, diags := tf.apply(nil, config)
	expectDiags(t, "the apply", diags)
	tf.refresh(inst)
	expectDiags(t, "a plan", tf.plan(inst, config).diags)
	p.set(rewriteResponse(isGet, raisePrice))
	tf = newProvider(t, env, nil)
	tf.refresh(inst)
	expectDiags(
		t,
		"a plan above the cap",
		tf.plan(inst, config).diags,
		"WARNING: Running instances cost more than max_price_kop_h", tf.idOf(inst),
		"898,95",
	)
}

// The warning about a duplicate name does not list instances that were read from this state.
func TestPlan_DuplicateName(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	inst := createAll(t, env, configWithoutKey("a"))[0]
	const warning = "already has this name"
	expectDiags(t, "in no state", newProvider(t, env, nil).plan(nil, configWithoutKey("a")).diags, warning)

	tf := newProvider(t, env, nil)
	expectDiags(t, "the server itself", tf.plan(inst, configWithoutKey("a")).diags)
	expectDiags(t, "a server of the same name", tf.plan(nil, configWithoutKey("a")).diags)
}

// A plan that replaces an instance because of its template, also an unknown one, warns that the disk is lost.
func TestPlan_TemplateReplaces(t *testing.T) {
	t.Parallel()
	_, tf, _ := startWithProxy(t)
	inst, diags := tf.apply(nil, configWithKey("a"))
	expectDiags(t, "the apply", diags)
	warning := "WARNING: Instance " + tf.idOf(inst) + " is replaced because its template changes"
	for _, template := range []any{"pytorch-jupyter", tftypes.UnknownValue} {
		tf.refresh(inst)
		diags := tf.plan(inst, configWithKey("a", "template", template)).diags
		expectDiags(t, "another template", diags, warning, "ignore_changes = [template]")
	}
	expectDiags(t, "the same template", tf.plan(inst, configWithKey("a")).diags)
}

// A plan warns of GPU slugs that do not exist, also beside others and in fallback queries, with one request for all
// instances, and none without a slug.
func TestPlan_UnknownGPU(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours"))
	query := func(gpus ...any) map[string]any { return map[string]any{"gpu": gpus} }
	tf := newProvider(t, env, nil)
	expectDiags(t, "no slug", tf.plan(nil, configWithoutKey("a", "offer_query", map[string]any{})).diags)
	if n := env.CountRequests("GET", "/gpus"); n != 0 {
		t.Errorf("%d requests without a slug", n)
	}
	waiting := configWithoutKey("b", "wait_for_offer", "5m", "offer_query", query("RTX_4090", "rtx_4090"))
	planned := tf.plan(nil, waiting).diags
	expectDiags(t, "a misspelled slug", planned, "WARNING: No such GPU model",
		"offer_query.gpu that are no GPU model: 1 of 2", "Similar models: rtx_4090.")
	planned = tf.plan(nil, configWithoutKey("c", "fallback_queries", []any{query("rtx_4090"), query("A-100")})).diags
	expectDiags(t, "a fallback query", planned, "fallback_queries[1].gpu that are no GPU model: 1 of 1")
	if n := env.CountRequests("GET", "/gpus"); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}
