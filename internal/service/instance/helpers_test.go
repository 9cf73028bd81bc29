package instance_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const instanceType = "gpurent_instance"

// core is a provider that is configured once and plans and applies any number of times through the plugin protocol,
// without a CLI. It is how these tests run the resource; acceptance tests show the same with a CLI.
type core struct {
	acctest.Plugin
	hasQuirks bool
}

// changePlan is a plan for one instance.
type changePlan struct {
	acctest.Plan
	diags []*tfprotov6.Diagnostic
}

// start starts a simulator behind a proxy, and a provider as newProvider does. Without the balance, each plan of a
// creation would have a warning.
func start(
	t *testing.T, arguments map[string]any, options ...acctest.Option,
) (*acctest.Env, *core, *simtest.Proxy) {
	t.Helper()
	p := new(simtest.Proxy)
	env := acctest.Start(t, append(options, p.Option(), acctest.WithoutQuirks("forbidden-balance"))...)
	env.AddSSHKey()
	return env, newProvider(t, env, arguments), p
}

// newProvider configures a provider that does not retry, except with quirks.
func newProvider(t *testing.T, env *acctest.Env, arguments map[string]any) *core {
	t.Helper()
	config, hasQuirks := env.Arguments(), len(env.Quirks()) > 0
	config["max_retries"] = int64(0)
	if hasQuirks {
		config["max_retries"] = int64(3)
	}
	maps.Copy(config, arguments)
	return &core{acctest.Configured(t, config), hasQuirks}
}

// plan plans a new instance if prior is nil, a destruction if config is nil, else a change.
func (tf *core) plan(prior *acctest.Object, config map[string]any) changePlan {
	tf.Helper()
	if prior == nil {
		prior = new(tf.None(instanceType))
	}
	plan, diags := tf.Plan(*prior, config)
	return changePlan{plan, diags}
}

// planReplacement plans a replacement as Terraform does. It returns the diagnostics of the first plan, and those of the
// second plan if it fails: Terraform shows no warnings of that. forced is -replace.
func (tf *core) planReplacement(prior *acctest.Object, config map[string]any, forced bool) []*tfprotov6.Diagnostic {
	tf.Helper()
	change := tf.plan(prior, config)
	if hasError(change.diags) {
		return change.diags
	}
	if len(change.Replaces) == 0 && !forced {
		tf.Error("the plan does not replace the server")
	}
	none := tf.None(instanceType)
	none.Private = change.Planned.Private
	create := tf.plan(&none, config)
	if hasError(create.diags) {
		return append(change.diags, create.diags...)
	}
	return change.diags
}

// apply plans an instance, and applies the plan.
func (tf *core) apply(prior *acctest.Object, config map[string]any) (*acctest.Object, []*tfprotov6.Diagnostic) {
	tf.Helper()
	plan := tf.plan(prior, config)
	if hasError(plan.diags) {
		return prior, plan.diags
	}
	after, diags := tf.applyPlan(plan)
	return after, append(plan.diags, diags...)
}

// applyPlan returns nil if the resource does not exist afterwards.
func (tf *core) applyPlan(plan changePlan) (*acctest.Object, []*tfprotov6.Diagnostic) {
	tf.Helper()
	after, diags := tf.Apply(plan.Plan)
	if after.State.IsNull() {
		return nil, diags
	}
	return &after, diags
}

// mustApply is apply for a change without warnings, except those that quirks cause.
func (tf *core) mustApply(prior *acctest.Object, config map[string]any) *acctest.Object {
	tf.Helper()
	after, diags := tf.apply(prior, config)
	if after == nil || hasError(diags) || len(diags) > 0 && !tf.hasQuirks {
		tf.Fatal(diagsText(diags))
	}
	return after
}

// refresh reads the instance.
func (tf *core) refresh(s *acctest.Object) (diags []*tfprotov6.Diagnostic) {
	tf.Helper()
	*s, diags = tf.Refresh(*s)
	return diags
}

// destroy destroys the instance, and reports whether it left the state.
func (tf *core) destroy(s *acctest.Object) (left bool, diags []*tfprotov6.Diagnostic) {
	tf.Helper()
	after, diags := tf.Destroy(*s)
	return after.State.IsNull(), diags
}

// mustDestroy is destroy that must go well without warnings.
func (tf *core) mustDestroy(s *acctest.Object) {
	tf.Helper()
	if left, diags := tf.destroy(s); !left || len(diags) > 0 {
		tf.Fatalf("it left the state: %t; %s", left, diagsText(diags))
	}
}

// configWithoutKey returns the configuration of an instance, with further arguments.
func configWithoutKey(name string, arguments ...any) map[string]any {
	config := map[string]any{
		"template": "pytorch", "disk_gb": int64(60), "name": name,
		"offer_query": map[string]any{"gpu": []any{"rtx_4090"}, "num_gpus": []any{int64(1)}},
	}
	for i := 0; i < len(arguments); i += 2 {
		config[arguments[i].(string)] = arguments[i+1]
	}
	return config
}

// configWithKey is configWithoutKey with an idempotency key.
func configWithKey(name string, arguments ...any) map[string]any {
	return configWithoutKey(name, append([]any{"idempotency_key", "key-" + name}, arguments...)...)
}

// createInstances creates an instance through the API for each name, "" for none, and waits until they run.
func createInstances(env *acctest.Env, names ...string) (ids []string) {
	free := env.Offers("limit=200")
	for i, name := range names {
		named := ""
		if name != "" {
			named = fmt.Sprintf(`,"name":%q`, name)
		}
		order := fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":60%s}`, free[i].ID, named)
		ids = append(ids, env.Post("instances", order))
	}
	env.Advance(time.Minute)
	env.ClearRequests()
	return ids
}

// cheapestOffer returns the offer that these configurations rent from, and its price.
func cheapestOffer(env *acctest.Env) (acctest.Offer, int64) {
	offer := env.CheapestOffer("rtx_4090", "on_demand")
	return offer, offer.Price.OnDemandKopH
}

func withSpending(arguments ...any) map[string]any {
	limits := map[string]any{}
	for i := 0; i < len(arguments); i += 2 {
		limits[arguments[i].(string)] = arguments[i+1]
	}
	return map[string]any{"spending": limits}
}

var (
	isCreate = simtest.Request("POST", "/instances")
	isStart  = simtest.Request("POST", "/instances/[^/]+/start")
	isStop   = simtest.Request("POST", "/instances/[^/]+/stop")
	isGet    = simtest.Request("GET", "/instances/[^/]+")
	isDelete = simtest.Request("DELETE", "/instances/[^/]+")
	isList   = simtest.Request("GET", "/instances")
	isOffers = simtest.Request("GET", "/offers")
	isOffer  = simtest.Request("GET", "/offers/[^/]+")
)

// raisePrice makes an instance cost 9,900.16 ₽ per hour.
var raisePrice = simtest.Rewrite(func(body map[string]any) {
	body["price"].(map[string]any)["running_kop_h"] = 990_016
})

const burnLimitExceeded = "Burn rate would exceed max_burn_kop_h"

// hasError reports whether there is an error among the diagnostics.
func hasError(diags []*tfprotov6.Diagnostic) bool {
	return strings.Contains(diagsText(diags), "ERROR: ")
}

// diagsText returns all diagnostics as one text.
func diagsText(diags []*tfprotov6.Diagnostic) string {
	var text strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&text, "%s: %s: %s\n", d.Severity, d.Summary, d.Detail)
	}
	return text.String()
}

// expectDiags fails the test unless the diagnostics contain the texts. Without texts, there must be no diagnostics.
func expectDiags(t *testing.T, what string, diags []*tfprotov6.Diagnostic, want ...string) {
	t.Helper()
	text := acctest.Words(diagsText(diags))
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%s: no %q in:\n%s", what, part, text)
		}
	}
	if len(want) == 0 && text != "" {
		t.Errorf("%s:\n%s", what, text)
	}
}

// expectCount checks the number of instances that exist, and of those that were ever rented.
func expectCount(t *testing.T, env *acctest.Env, active, ever int) {
	t.Helper()
	for list, want := range map[string]int{"instances": active, "instances?status=all": ever} {
		if err := env.Left(list, want); err != nil {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// must fails the test on an error, for example of a change of the simulator.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// setStatus changes the status of an instance and what it is heading for.
func setStatus(t *testing.T, env *acctest.Env, id, status, desired string) {
	t.Helper()
	must(t, env.SetInstance(id, simulator.InstancePatch{Status: &status, DesiredState: &desired}))
}
