package instance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A refresh removes an instance from the state only after a 404 with the code not_found for its id, or the status
// destroying or destroyed. Any other response keeps it, both for a request by id and for a listing that lacks the
// instance.
func TestRead_RemovesOnlyDestroyedInstance(t *testing.T) {
	t.Parallel()
	const html = "<html><h1>404 Not Found</h1></html>"
	// These quirks replace the status destroying, and leave out the desired state.
	env, tf, p := start(t, nil, acctest.WithoutQuirks("unknown-enums", "optional-fields-absent"))
	inst := tf.mustApply(nil, configWithKey("a"))
	env.Advance(2 * time.Minute) // the API may not find a new one by its id
	for name, test := range map[string]struct {
		response         simtest.Interceptor
		removed, wantErr bool
	}{
		"not_found":                     {response: simtest.Fail(404), removed: true},
		"status destroying":             {response: simtest.SetField("status", "destroying"), removed: true},
		"status destroyed":              {response: simtest.SetField("status", "destroyed"), removed: true},
		"desired_state destroyed":       {response: simtest.SetField("desired_state", "destroyed"), removed: true},
		"status failed":                 {response: simtest.SetField("status", "failed")},
		"unknown status":                {response: simtest.SetField("status", "hibernating")},
		"404 of a proxy":                {response: simtest.Respond(404, html), wantErr: true},
		"404 with another code":         {response: simtest.Refuse(404, "conflict"), wantErr: true},
		"not_found with another status": {response: simtest.Refuse(410, "not_found"), wantErr: true},
		"another server, destroyed": {
			response: simtest.Respond(200, `{"id":"ins_other","status":"destroyed","type":"on_demand"}`), wantErr: true,
		},
		"no server": {response: simtest.Respond(200, `{}`), wantErr: true},
		"forbidden": {response: simtest.Fail(403), wantErr: true},
	} {
		for _, listed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, listed %t", name, listed), func(t *testing.T) {
				run, before := newProvider(t, env, nil), *inst
				if listed {
					expectDiags(t, "the refresh", run.refresh(&before)) // the next one uses a listing
				}
				p.Set(isList.Do(simtest.Respond(200, `{"data":[],"next_cursor":null}`)), isGet.Do(test.response))
				diags := run.refresh(&before)
				p.Set()
				if removed := before.State.IsNull(); removed != test.removed || hasError(diags) != test.wantErr {
					t.Errorf("removed %t, want %t; error wanted %t: %s", removed, test.removed, test.wantErr, diagsText(diags))
				}
			})
		}
	}
}

// The API spells a name otherwise, and only later responses contain it: no plan changes it, and a planned server with
// this name is a duplicate.
func TestPlan_NormalizedName(t *testing.T) {
	t.Parallel()
	lower := func(body map[string]any) {
		if name, ok := body["name"].(string); ok {
			body["name"] = " " + strings.ToLower(name)
		}
	}
	omit := simtest.Rewrite(func(body map[string]any) { delete(body, "name") })
	env, tf, p := start(t, nil)
	p.Set(isGet.Do(simtest.Rewrite(lower)), isList.Do(simtest.RewriteItems(lower)), isCreate.Do(omit))
	config := configWithoutKey("Trainer")
	inst := tf.mustApply(nil, config)
	tf = newProvider(t, env, nil)
	expectDiags(t, "the refresh", tf.refresh(inst))
	if plan := tf.plan(inst, config); !plan.Planned.State.Equal(inst.State) {
		t.Errorf("the plan changes the name %q", inst.Text("name"))
	}
	tf = newProvider(t, env, nil) // which has not read the state
	expectDiags(t, "a second server", tf.plan(nil, config).diags, inst.Text("id"))
}

// The response to a rename can show that the instance was destroyed since the last refresh. The apply then fails, and
// the next plan creates another instance.
func TestUpdate_DestroyedSinceRefresh(t *testing.T) {
	t.Parallel()
	renamed := configWithKey("renamed", "idempotency_key", "key-trainer")
	env, tf, _ := start(t, nil)
	inst := tf.mustApply(nil, configWithKey("trainer"))
	plan := tf.plan(inst, renamed)
	setStatus(t, env, inst.Text("id"), "destroyed", "destroyed")
	after, diags := tf.applyPlan(plan)
	expectDiags(t, "the rename", diags, "Instance "+inst.Text("id")+" no longer exists", "the apply creates another.")
	expectDiags(t, "the refresh", tf.refresh(after), "for instance "+inst.Text("id")+". It leaves the state")
	if !after.State.IsNull() {
		t.Errorf("after the refresh the state has %v", after.State)
	}
}

// An instance spells its country, and rounds its memory, otherwise than its offer. Another term of the query changes:
// the hardware that the query demanded before is no reason to replace the instance.
func TestPlan_SpellingOfHardware(t *testing.T) {
	t.Parallel()
	respell := simtest.RewriteItems(func(inst map[string]any) {
		if country, ok := inst["country"].(string); ok {
			inst["country"] = strings.ToLower(country)
		}
		if gpu, ok := inst["gpu"].(map[string]any); ok {
			gpu["vram_gb"] = 23
		}
	})
	env, tf, p := start(t, nil)
	p.Set(isGet.Do(respell), isList.Do(respell))
	query := func(reliability float64, countries ...any) []any {
		return []any{"offer_query", map[string]any{
			"gpu": []any{"rtx_4090"}, "num_gpus": []any{int64(1)}, "min_vram_gb": 24.0, "country": countries,
			"min_reliability": reliability,
		}}
	}
	countries := []any{"DE", "FI", "NL", "RU", "US", "SE", "FR", "PL", "KZ"}
	inst := tf.mustApply(nil, configWithoutKey("a", query(0.1, countries...)...))
	tf = newProvider(t, env, nil)
	expectDiags(t, "the refresh", tf.refresh(inst))
	for what, changed := range map[string][]any{
		"another reliability": query(0.2, countries...), "one more country": query(0.1, append(countries, "CZ")...),
	} {
		if plan := tf.plan(inst, configWithoutKey("a", changed...)); len(plan.Replaces) > 0 {
			t.Errorf("%s replaces the instance: %s", what, diagsText(plan.diags))
		}
	}
}

// An outbid instance is kept, gets a new bid within its cap, or is replaced.
func TestRead_Outbid(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil, acctest.WithoutQuirks("outbid-soon-after-start")) // the test outbids the instance itself
	offer := env.CheapestOffer("rtx_4090", "interruptible")
	bid := *offer.Price.InterruptibleKopH
	config := func(arguments ...any) map[string]any {
		return configWithoutKey("a", append(arguments, "offer_query", nil, "offer_id", offer.ID, "type", "interruptible")...)
	}
	inst := tf.mustApply(nil, config())
	must(t, env.SetOffer(offer.ID, simulator.OfferPatch{InterruptibleKopH: new(bid + 100)}))
	tf = newProvider(t, env, nil)
	expectDiags(t, "the refresh", tf.refresh(inst))
	if changes := tf.plan(inst, config("on_outbid", "keep")).changes(); !slices.Equal(changes, []string{"on_outbid"}) {
		t.Errorf("an instance to keep changes %v", changes)
	}
	if plan := tf.plan(inst, config("on_outbid", "replace")); !slices.Equal(plan.Replaces, []string{"status"}) {
		t.Errorf("it is replaced for %v: %s", plan.Replaces, diagsText(plan.diags))
	}
	inst, diags := tf.apply(inst, config("max_price_kop_h", bid))
	expectDiags(t, "a bid above the cap", diags, "costs more than a limit")
	inst = tf.mustApply(inst, config("max_price_kop_h", bid+100))
	if status := inst.Text("status"); status != "running" {
		t.Errorf("after a new bid it is %s", status)
	}
}
