package instance_test

import (
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A replacement that cannot succeed fails at plan, while the old instance exists. It does so without a change of an
// argument, too (-replace).
func TestReplacement_FailsAtPlan(t *testing.T) {
	t.Parallel()
	patchOffers := func(patch simulator.OfferPatch) func(t *testing.T, env *acctest.Env, p *simtest.Proxy, own string) {
		return func(t *testing.T, env *acctest.Env, _ *simtest.Proxy, _ string) {
			for _, offer := range env.Offers("limit=200") {
				must(t, env.SetOffer(offer.ID, patch))
			}
		}
	}
	noMoney := func(t *testing.T, env *acctest.Env, _ *simtest.Proxy, _ string) {
		must(t, env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(100)), CreditLimitKop: new(int64(0))}))
	}
	noOwnOffer := func(_ *testing.T, _ *acctest.Env, p *simtest.Proxy, _ string) {
		p.Set(isOffer.Do(simtest.Fail(404)))
	}
	// The listing can still contain the offer of the instance.
	onlyOwnOffer := func(_ *testing.T, env *acctest.Env, p *simtest.Proxy, own string) {
		offer := acctest.Fetch[map[string]any](env, "offers/"+own)
		offer["available"] = true
		p.Set(isOffers.Do(simtest.Rewrite(func(body map[string]any) { body["data"] = []any{offer} })))
	}
	unreadable := func(_ *testing.T, _ *acctest.Env, p *simtest.Proxy, _ string) {
		p.Set(simtest.Request("GET", "/templates").Do(simtest.Fail(500)))
	}
	const otherDisk, cannot = int64(61), "ERROR: Cannot replace"
	burn := withSpending("max_burn_kop_h", int64(10_000))
	eightGPUs := map[string]any{"num_gpus": []any{int64(8)}}
	for name, test := range map[string]struct {
		before   func(t *testing.T, env *acctest.Env, p *simtest.Proxy, own string)
		byID     bool  // with offer_id, which stays the same
		change   []any // none for -replace
		spending map[string]any
		want     string
	}{
		"no offer":               {patchOffers(simulator.OfferPatch{Available: new(false)}), false, nil, nil, cannot},
		"only its own offer":     {onlyOwnOffer, false, nil, nil, cannot},
		"its offer is gone":      {noOwnOffer, true, []any{"disk_gb", otherDisk}, nil, cannot},
		"its offer":              {nil, true, []any{"disk_gb", otherDisk}, nil, "may not be available for the replacement"},
		"an unreadable template": {unreadable, false, nil, nil, "ERROR: Cannot read the template"},
		"an unknown key": {
			nil, false, []any{"ssh_key_ids", []any{"key_none"}, "disk_gb", otherDisk}, nil, "ERROR: No such SSH key",
		},
		"an image of its own": {nil, false, []any{"image", "ubuntu:1"}, nil, `ERROR: Image differs`},
		"no template":         {nil, false, []any{"template", "none"}, nil, "ERROR: No such template"},
		"a small disk":        {nil, false, []any{"disk_gb", int64(10)}, nil, "ERROR: Disk below the template's minimum"},
		"a large disk":        {nil, true, []any{"disk_gb", int64(2000)}, nil, "ERROR: Disk above the offer's maximum"},
		"above the cap":       {nil, false, []any{"max_price_kop_h", int64(1), "disk_gb", otherDisk}, nil, cannot},
		"above the burn limit": {
			nil, false, []any{"offer_query", eightGPUs, "disk_gb", otherDisk}, burn, "ERROR: " + burnLimitExceeded,
		},
		"no money, by default": {noMoney, false, nil, nil, "ERROR: Insufficient balance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Changes of the offers are not visible at once, and the neighbours cost more than the limit.
			env, tf, p := start(t, test.spending, acctest.WithoutQuirks("cached-offers", "strange-neighbours"))
			offer, _ := cheapestOffer(env)
			var by []any
			if test.byID {
				by = []any{"offer_query", nil, "offer_id", offer.ID}
			}
			inst := tf.mustApply(nil, configWithoutKey("a", by...))
			if test.before != nil {
				test.before(t, env, p, offer.ID)
			}
			tf = newProvider(t, env, test.spending)
			expectDiags(t, "the refresh", tf.refresh(inst))
			config := configWithoutKey("a", append(by, test.change...)...)
			expectDiags(t, "the plan", tf.planReplacement(inst, config, test.change == nil), test.want)
		})
	}
}

// Every plan warns of a running instance above its cap.
func TestPlan_WarnsAboveCap(t *testing.T) {
	t.Parallel()
	env, tf, p := start(t, nil)
	config := configWithKey("a", "max_price_kop_h", int64(10_000))
	inst := tf.mustApply(nil, config)
	expectDiags(t, "a plan", tf.plan(inst, config).diags)
	p.Set(isGet.Do(raisePrice))
	tf = newProvider(t, env, nil)
	expectDiags(t, "the refresh", tf.refresh(inst))
	const warning = "WARNING: Running instances cost more than max_price_kop_h"
	expectDiags(t, "a plan above the cap", tf.plan(inst, config).diags, warning, inst.Text("id"), "898.95")
}
