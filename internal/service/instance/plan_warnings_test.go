package instance_test

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// Every plan warns of a running instance above its cap.
func TestPlan_WarnsAboveCap(t *testing.T) {
	t.Parallel()
	_, tf, p := startWithProxy(t)
	config := configWithKey("a", "max_price_kop_h", int64(10_000))
	inst, diags := tf.apply(nil, config)
	expectDiags(t, "the apply", diags)
	tf.refresh(inst)
	expectDiags(t, "a plan", tf.plan(inst, config).diags)
	p.set(rewriteResponse(isGet, raisePrice))
	tf.refresh(inst)
	expectDiags(
		t,
		"a plan above the cap",
		tf.plan(inst, config).diags,
		"WARNING: Instance "+tf.idOf(inst)+" runs above its price cap",
		"898,95",
	)
}

// The warning about a duplicate name does not list instances of this state, even if the new instance is planned first.
func TestPlan_DuplicateName(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	inst := createAll(t, env, configWithoutKey("a"))[0]
	const warning = "already has this name"
	expectDiags(t, "in no state", newSingleRun(t, env, nil).plan(nil, configWithoutKey("a")).diags, warning)

	tf := newSingleRun(t, env, nil)
	planned := make(chan []*tfprotov6.Diagnostic)
	before := env.CountRequests("GET", "/instances")
	go func() { planned <- tf.plan(nil, configWithoutKey("a")).diags }()
	deadline := time.Now().Add(5 * time.Second)
	for env.CountRequests("GET", "/instances") == before {
		if time.Now().After(deadline) {
			t.Fatal("the plan does not list the servers")
		}
		time.Sleep(time.Millisecond)
	}
	expectDiags(t, "the server itself", tf.plan(inst, configWithoutKey("a")).diags)
	expectDiags(t, "a server of the same name, planned first", <-planned)
	expectDiags(t, "a server of the same name, planned later", tf.plan(nil, configWithoutKey("a")).diags)
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
	tf := newSingleRun(t, env, nil)
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
