package instance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// effect is what a plan does: nothing, a change of attributes in place, or a replacement that attributes force.
type effect struct {
	Replaces   bool
	Attributes []string
}

// argumentChange has the values of an argument, nil for none, and the effect of a change between two of them.
type argumentChange struct {
	name   string
	values []any
	beside []any // further arguments
	effect func(before, after any) effect
}

func inPlace(attributes ...string) func(before, after any) effect {
	return func(_, _ any) effect { return effect{false, attributes} }
}

func replaces(attribute string) func(before, after any) effect {
	return func(_, _ any) effect { return effect{true, []string{attribute}} }
}

// unless excludes a change between the default value and none.
func unless(preset any, otherwise func(before, after any) effect) func(before, after any) effect {
	return func(before, after any) effect {
		if before == nil && after == preset || before == preset && after == nil {
			return effect{}
		}
		return otherwise(before, after)
	}
}

// Every change of one argument has the documented effect, and the plan shows no other change.
func TestPlan_ArgumentChanges(t *testing.T) {
	t.Parallel()
	// Without started_at in the last response, a plan shows it as changed, too.
	env := acctest.Start(t, acctest.WithoutQuirks("optional-fields-absent"))
	env.AddSSHKey()
	must(t, env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(1e10))}))
	tf := newProvider(t, env, nil)
	query := func(gpu, order any) map[string]any { return map[string]any{"gpu": []any{gpu}, "order": order} }
	offers := env.Offers("gpu=rtx_3090&num_gpus=1")
	first, second := offers[0].ID, offers[1].ID
	key := acctest.Fetch[struct{ Data []struct{ ID string } }](env, "ssh-keys").Data[0].ID
	keys := []any{nil, []any{}, []any{key}}
	byOffer := []any{"offer_query", nil}
	named := func(name string, further ...any) []any { return append(further, "replace_on", []any{name}) }
	sameHardware := []any{query("rtx_4090", nil), query("rtx_4090", "dlperf")}
	for _, change := range []argumentChange{
		{"name", []any{nil, "a", "b"}, nil, inPlace("name")},
		{"template", []any{"ubuntu", "pytorch"}, nil, replaces("template")},
		{"disk_gb", []any{int64(60), int64(61)}, nil, replaces("disk_gb")},
		{"type", []any{nil, "on_demand", "interruptible"}, nil, unless("on_demand", replaces("type"))},
		{"image", []any{"ubuntu:22.04", "ubuntu:24.04"}, []any{"template", "custom"}, replaces("image")},
		{"max_price_kop_h", []any{nil, int64(9_000_000), int64(9_000_001)}, nil, inPlace("max_price_kop_h")},
		{"on_outbid", []any{nil, "restart", "keep", "replace"}, nil, unless("restart", inPlace("on_outbid"))},
		{"replace_on", []any{nil, []any{"offer_id"}, []any{"ssh_key_ids"}}, nil, inPlace("replace_on")},
		{"idempotency_key", []any{nil, "key-1", "key-2"}, nil, inPlace("idempotency_key")},
		{"keep_on_timeout", []any{nil, false, true}, nil, unless(false, inPlace("keep_on_timeout"))},
		{"timeouts", []any{nil, map[string]any{"create": "50m"}, map[string]any{"update": "5m"}}, nil, inPlace("timeouts")},
		{
			"desired_state", []any{nil, "running", "stopped"}, nil, unless("running", func(before, _ any) effect {
				changes := effect{false, []string{"desired_state", "status", "stop_reason", "ssh", "urls"}}
				if before == "stopped" { // a start can change the price
					changes.Attributes = append(changes.Attributes, "price")
				}
				return changes
			}),
		},
		{"offer_id", []any{first, second}, byOffer, inPlace()},
		{"offer_id", []any{first, second}, named("offer_id", byOffer...), replaces("offer_id")},
		{"offer_query", sameHardware, nil, inPlace()},
		{"offer_query", sameHardware, named("offer_query"), replaces("offer_query")},
		{"offer_query", []any{query("rtx_4090", nil), query("rtx_3090", nil)}, nil, replaces("offer_query")},
		{"ssh_key_ids", keys, nil, func(before, after any) effect {
			if before == nil || after == nil {
				return effect{false, []string{"ssh_key_ids"}}
			}
			return effect{}
		}},
		{"ssh_key_ids", keys, named("ssh_key_ids"), replaces("ssh_key_ids")},
	} {
		for i, before := range change.values {
			inst := tf.mustApply(nil, configWithoutKey("n", slices.Concat(change.beside, []any{change.name, before})...))
			expectDiags(t, "the refresh", tf.refresh(inst))
			for k, after := range change.values {
				var want effect
				if i != k {
					want = change.effect(before, after)
				}
				plan := tf.plan(inst, configWithoutKey("n", slices.Concat(change.beside, []any{change.name, after})...))
				got := effect{len(plan.Replaces) > 0, plan.Replaces}
				if !got.Replaces {
					got.Attributes = plan.changes()
				}
				slices.Sort(want.Attributes)
				if diff := cmp.Diff(want, got); diff != "" || hasError(plan.diags) {
					t.Errorf("%s from %v to %v: %s%s", change.name, before, after, diff, diagsText(plan.diags))
				}
			}
			tf.mustDestroy(inst)
		}
	}
}

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
	rented := plain(t, inst.Attributes()["rented_offer"]).(map[string]any)
	if matched := plain(t, inst.Attributes()["matched_query"]); matched != 2.0 || rented["verified"] != true {
		t.Errorf("query %v matched, with the offer %v", matched, rented)
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
	tf := &core{acctest.Plugin{T: t, ProviderServer: server, GetProviderSchemaResponse: schemas}}
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
		expectDiags(t, fmt.Sprint(test.arguments), tf.validate(configWithoutKey("a", test.arguments...)), test.want)
	}
	expectDiags(t, "a valid configuration", tf.validate(configWithKey("a")))
}
