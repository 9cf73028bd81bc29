package instance_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// changes returns the names of the attributes that a plan changes.
func (plan changePlan) changes() (names []string) {
	before := plan.Prior.Attributes()
	for name, value := range plan.Planned.Attributes() {
		if !value.Equal(before[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// effect is what a plan does: nothing, a change of attributes in place, or a replacement that attributes force.
type effect struct{ Changes, Replaces []string }

// expectEffect compares what a plan does. A replacement changes all attributes.
func expectEffect(t *testing.T, what string, plan changePlan, want effect) {
	t.Helper()
	got := effect{Replaces: plan.Replaces}
	if len(plan.Replaces) == 0 {
		got.Changes = plan.changes()
	}
	if diff := cmp.Diff(want, got); diff != "" || hasError(plan.diags) {
		t.Errorf("%s: %s%s", what, diff, diagsText(plan.diags))
	}
}

// The change of an argument has the documented effect, and the plan shows no other change. The default value is the
// same as none, and another spelling of an image is no change.
func TestPlan_ArgumentChanges(t *testing.T) {
	t.Parallel()
	// Without started_at in the last response, a plan shows it as changed, too.
	_, tf, _ := start(t, nil, acctest.WithoutQuirks("optional-fields-absent"))
	stop := []string{"desired_state", "ssh", "status", "stop_reason", "urls"}
	restart := slices.Sorted(slices.Values(append(stop, "price"))) // a start can change the price
	const short, long = "ubuntu:22.04", "docker.io/library/ubuntu:22.04"
	custom := map[string]any{"template": "custom", "image": short}
	spelled := map[string]any{"template": "custom", "image": long}
	cuda := map[string]any{"template": "ubuntu", "image": "docker.io/nvidia/cuda:12.6.3-base-ubuntu24.04"}
	states := map[string]*acctest.Object{}
	for _, prior := range []map[string]any{nil, custom, spelled, cuda, {"desired_state": "stopped"}} {
		config := configWithoutKey("a")
		maps.Copy(config, prior)
		states[fmt.Sprint(prior)] = tf.mustApply(nil, config)
	}
	for _, test := range []struct {
		prior  map[string]any
		change []any
		want   effect
	}{
		{nil, []any{"name", nil}, effect{Changes: []string{"name"}}},
		{nil, []any{"name", "b"}, effect{Changes: []string{"name"}}},
		{nil, []any{"template", "ubuntu"}, effect{Replaces: []string{"template"}}},
		{nil, []any{"disk_gb", int64(61)}, effect{Replaces: []string{"disk_gb"}}},
		{nil, []any{"type", "on_demand"}, effect{}},
		{nil, []any{"type", "interruptible"}, effect{Replaces: []string{"type"}}},
		{custom, []any{"image", "ubuntu:24.04"}, effect{Replaces: []string{"image"}}},
		{custom, []any{"image", long}, effect{}},
		{spelled, []any{"image", short}, effect{}},
		{cuda, []any{"image", "nvidia/cuda:12.6.3-base-ubuntu24.04"}, effect{}},
		{nil, []any{"max_price_kop_h", int64(9_000_000)}, effect{Changes: []string{"max_price_kop_h"}}},
		{nil, []any{"on_outbid", "restart"}, effect{}},
		{nil, []any{"on_outbid", "keep"}, effect{Changes: []string{"on_outbid"}}},
		{nil, []any{"replace_on", []any{"offer_id"}}, effect{Changes: []string{"replace_on"}}},
		{nil, []any{"idempotency_key", "key-1"}, effect{Changes: []string{"idempotency_key"}}},
		{nil, []any{"keep_on_timeout", false}, effect{}},
		{nil, []any{"keep_on_timeout", true}, effect{Changes: []string{"keep_on_timeout"}}},
		{nil, []any{"timeouts", map[string]any{"create": "50m"}}, effect{Changes: []string{"timeouts"}}},
		{nil, []any{"desired_state", "running"}, effect{}},
		{nil, []any{"desired_state", "stopped"}, effect{Changes: stop}},
		{map[string]any{"desired_state": "stopped"}, []any{"desired_state", nil}, effect{Changes: restart}},
	} {
		config := configWithoutKey("a")
		maps.Copy(config, test.prior)
		config[test.change[0].(string)] = test.change[1]
		expectEffect(t, fmt.Sprint(test.change), tf.plan(states[fmt.Sprint(test.prior)], config), test.want)
	}
}

// creations are instances that were created, or imported, with different arguments that apply at creation only.
func creations(t *testing.T, env *acctest.Env, tf *core, offerID string, keys []any) map[string]*acctest.Object {
	t.Helper()
	imported, diags := tf.Import(instanceType, createInstances(env, "imported")[0])
	expectDiags(t, "the import", diags)
	return map[string]*acctest.Object{
		"offer":    tf.mustApply(nil, configWithoutKey("a", "offer_query", nil, "offer_id", offerID)),
		"query":    tf.mustApply(nil, configWithoutKey("a")),
		"keys":     tf.mustApply(nil, configWithoutKey("a", "ssh_key_ids", keys)),
		"imported": &imported,
	}
}

func gpuQuery(gpu, order any) map[string]any {
	return map[string]any{"gpu": []any{gpu}, "num_gpus": []any{int64(1)}, "order": order}
}

// A change of the arguments that apply at creation only keeps the instance and the arguments, unless replace_on
// contains them or the instance does not meet the query. An imported instance adopts them, and nothing is requested.
func TestPlan_CreationArguments(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil, acctest.WithoutQuirks("other-gpu"))
	offers := env.Offers("gpu=rtx_4090&num_gpus=1")
	keys := []any{acctest.Fetch[struct{ Data []struct{ ID string } }](env, "ssh-keys").Data[0].ID}
	states := creations(t, env, tf, offers[5].ID, keys)
	byOffer := func(i int) []any { return []any{"offer_query", nil, "offer_id", offers[i].ID} }
	byQuery := func(gpu, order any) []any { return []any{"offer_query", gpuQuery(gpu, order)} }
	anyGPU, h100 := []any{"offer_query", map[string]any{}}, byQuery("h100_sxm", nil)
	replaceOn := func(arguments []any, names ...any) []any { return append(arguments, "replace_on", names) }
	keep, adoptKeys := effect{}, effect{Changes: []string{"ssh_key_ids"}}
	replaced := func(name string) effect { return effect{Replaces: []string{name}} }
	adopted := func(names ...string) effect { return effect{Changes: names} }
	for i, test := range []struct {
		prior    string
		change   []any
		want     effect
		warnings int
	}{
		{"offer", byOffer(6), keep, 0},
		{"offer", replaceOn(byOffer(6), "offer_id"), replaced("offer_id"), 0},
		{"offer", byQuery("rtx_4090", nil), adopted("offer_id", "offer_query"), 0},
		{"offer", h100, replaced("offer_query"), 1},
		{"query", anyGPU, keep, 1},
		{"query", byQuery("rtx_4090", "dlperf"), keep, 1},
		{"query", h100, replaced("offer_query"), 1},
		{"query", replaceOn(byQuery("rtx_4090", "dlperf"), "offer_query"), replaced("offer_query"), 0},
		{"query", []any{"ssh_key_ids", keys}, adoptKeys, 1},
		{"keys", []any{"ssh_key_ids", nil}, adoptKeys, 1},
		{"keys", []any{"ssh_key_ids", []any{}}, keep, 1},
		{"keys", replaceOn([]any{"ssh_key_ids", []any{}}, "ssh_key_ids"), replaced("ssh_key_ids"), 0},
		{"imported", byOffer(6), adopted("offer_id", "offer_query"), 0},
		{"imported", replaceOn(byOffer(6), "offer_id"), adopted("offer_id", "offer_query", "replace_on"), 0},
		{"imported", h100, adopted("offer_query"), 0},
		{"imported", []any{"ssh_key_ids", keys}, adopted("offer_query", "ssh_key_ids"), 0},
	} {
		name := "a"
		if test.prior == "imported" {
			name = test.prior
		}
		plan := tf.plan(states[test.prior], configWithoutKey(name, test.change...))
		expectEffect(t, fmt.Sprintf("%d. %s", i, test.prior), plan, test.want)
		if len(plan.diags) != test.warnings {
			t.Errorf("%d. %s: %d warnings: %s", i, test.prior, len(plan.diags), diagsText(plan.diags))
		}
	}
	env.ClearRequests()
	config := configWithKey("imported", replaceOn(byQuery("rtx_4090", "dlperf"), "offer_query")...)
	inst := tf.mustApply(states["imported"], config)
	expectEffect(t, "the plan after an import", tf.plan(inst, config), keep)
	if n := env.CountRequests("POST", "/instances") + env.CountRequests("PATCH", "/instances"); n > 0 {
		t.Errorf("%d requests that change something", n)
	}
}

// A plan with unknown values is valid for every final value: Terraform accepts neither an unplanned replacement nor a
// change of a value that was known at plan.
func TestPlan_UnknownValues(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil, acctest.WithoutQuirks("other-gpu"))
	offers := env.Offers("gpu=rtx_4090&num_gpus=1")
	keys := []any{acctest.Fetch[struct{ Data []struct{ ID string } }](env, "ssh-keys").Data[0].ID}
	states := creations(t, env, tf, offers[5].ID, keys)
	interruptible := []any{"type", "interruptible"}
	states["outbid"] = tf.mustApply(nil, configWithoutKey("a", interruptible...))
	states["failed"] = tf.mustApply(nil, configWithoutKey("a"))
	for _, status := range []string{"outbid", "failed"} {
		setStatus(t, env, states[status].Text("id"), status, "running")
		expectDiags(t, "the refresh", newProvider(t, env, nil).refresh(states[status]))
	}
	unknown := any(tftypes.UnknownValue)
	byOffer := func(id any, more ...any) []any { return append(more, "offer_query", nil, "offer_id", id) }
	otherOffer := byOffer(offers[6].ID)
	noKeys := []any{"ssh_key_ids", []any{}}
	for name, test := range map[string]struct {
		prior   string
		unknown []any
		finally [][]any // none if the plan replaces the instance: the plan at apply is then one of a new instance
	}{
		"gpu": {"query", []any{"offer_query", gpuQuery(unknown, nil)}, nil},
		"another term than hardware": {"query", []any{"offer_query", gpuQuery("rtx_4090", unknown)}, [][]any{
			{"offer_query", gpuQuery("rtx_4090", nil)}, {"offer_query", gpuQuery("rtx_4090", "price")},
		}},
		"offer_query": {"query", []any{"offer_query", unknown}, nil},
		"offer_id":    {"offer", byOffer(unknown), [][]any{byOffer(offers[5].ID), otherOffer}},
		"ssh_key_ids": {"keys", []any{"ssh_key_ids", unknown}, [][]any{{"ssh_key_ids", keys}, {"ssh_key_ids", nil}, noKeys}},
		"an SSH key":  {"keys", []any{"ssh_key_ids", []any{unknown}}, [][]any{{"ssh_key_ids", keys}}},
		"replace_on, nothing else changed": {
			"keys", []any{"ssh_key_ids", keys, "replace_on", unknown},
			[][]any{{"ssh_key_ids", keys, "replace_on", []any{"offer_id", "ssh_key_ids"}}},
		},
		"replace_on, another offer": {"offer", append(otherOffer, "replace_on", unknown), nil},
		"an element of replace_on":  {"keys", append(noKeys, "replace_on", []any{unknown}), nil},
		"desired_state":             {"query", []any{"desired_state", unknown}, [][]any{nil, {"desired_state", "stopped"}}},
		"desired_state, failed":     {"failed", []any{"desired_state", unknown}, nil},
		"on_outbid, outbid":         {"outbid", append(interruptible, "on_outbid", unknown), nil},
		"on_outbid, running":        {"query", []any{"on_outbid", unknown}, [][]any{{"on_outbid", "replace"}}},
	} {
		first := tf.plan(states[test.prior], configWithoutKey("a", test.unknown...))
		if replaces := len(first.Replaces) > 0; replaces != (test.finally == nil) || hasError(first.diags) {
			t.Errorf("%s: planned a replacement: %t: %s", name, replaces, diagsText(first.diags))
		}
		for _, arguments := range test.finally {
			last := tf.plan(states[test.prior], configWithoutKey("a", arguments...))
			if len(last.Replaces) > 0 {
				t.Errorf("%s: the plan at apply replaces the instance for %v", name, arguments)
			}
			values := last.Planned.Attributes()
			for attribute, planned := range first.Planned.Attributes() {
				if planned.IsFullyKnown() && !planned.Equal(values[attribute]) {
					t.Errorf("%s: %s is planned as %s and then as %s", name, attribute, planned, values[attribute])
				}
			}
		}
	}
}

// A fallback query wins if the first one has no offer. Later plans keep the instance, even if fallback_queries change,
// unless it meets no query any more.
func TestPlan_FallbackQueries(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil, acctest.WithoutQuirks("optional-fields-absent", "other-gpu"))
	for _, offer := range env.Offers("limit=200&gpu=h100_sxm") {
		must(t, env.SetOffer(offer.ID, simulator.OfferPatch{Available: new(false)}))
	}
	query := func(gpu string) any { return map[string]any{"gpu": []any{gpu}} }
	h100, fallback := query("h100_sxm"), []any{query("no_such"), query("rtx_4090")}
	inst := tf.mustApply(nil, configWithoutKey("a", "offer_query", h100, "fallback_queries", fallback))
	rented := inst.Attributes()["rented_offer"]
	if matched := inst.Attributes()["matched_query"]; !matched.Equal(tftypes.NewValue(tftypes.Number, 2)) ||
		!strings.Contains(rented.String(), `"verified":tftypes.Bool<"true">`) {
		t.Errorf("query %s matched, with the offer %s", matched, rented)
	}
	for _, test := range []struct {
		query    any
		fallback []any
		want     []string
	}{
		{h100, nil, nil},
		{query("h200"), fallback, nil},
		{query("a100_sxm4_80gb"), nil, []string{"offer_query"}},
	} {
		plan := tf.plan(inst, configWithoutKey("a", "offer_query", test.query, "fallback_queries", test.fallback))
		if !slices.Equal(plan.Replaces, test.want) {
			t.Errorf("%v replaces the instance for %v", test, plan.Replaces)
		}
	}
}

// Arguments that exclude or require each other, and values that only this type checks.
func TestValidate_Arguments(t *testing.T) {
	t.Parallel()
	server, schemas := acctest.ProviderServer(t)
	typ := schemas.ResourceSchemas[instanceType].ValueType()
	byOffer := []any{"offer_query", nil, "offer_id", "off_1"}
	for _, test := range []struct {
		arguments []any
		want      string
	}{
		{[]any{"offer_query", nil}, "No attribute specified"},
		{[]any{"offer_id", "off_1"}, "2 attributes specified"},
		{append(byOffer, "wait_for_offer", "1h"), `specified when "wait_for_offer" is`},
		{append(byOffer, "fallback_queries", []any{map[string]any{}}), `specified when "fallback_queries" is`},
		{[]any{"timeouts", map[string]any{"create": "soon"}}, "must be a duration above zero"},
		{[]any{"replace_on", []any{"disk_gb"}}, "replace_on contains an invalid value"},
		{[]any{"ready_when", map[string]any{"log_pattern": "(?=x)"}}, "Invalid regular expression"},
	} {
		resp, err := server.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{
			TypeName: instanceType, Config: acctest.Pack(t, acctest.Value(typ, configWithoutKey("a", test.arguments...))),
		})
		if must(t, err); err == nil {
			expectDiags(t, fmt.Sprint(test.arguments), resp.Diagnostics, test.want)
		}
	}
}
