package instance_test

import (
	"fmt"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A provider that is configured once gives the same results for every run: with a key, a burn limit and a balance for
// one instance, and two offers.
func TestManyRuns_SameResult(t *testing.T) {
	t.Parallel()
	for name, validates := range map[string]bool{"without validation": false, "with validation": true} {
		t.Run(name, func(t *testing.T) {
			env := acctest.Start(t)
			// The cheapest offer is not available while its instance is replaced.
			price := env.Offers("gpu=rtx_4090&num_gpus=1")[1].Price.OnDemandKopH
			setAccount(t, env, simulator.AccountPatch{BalanceKop: new(3 * price), CreditLimitKop: new(int64(0))})
			tf := newManyRuns(t, env, spendingLimits(price))
			tf.validates = validates
			ids := map[string]bool{}
			for round := range 10 {
				config := configWithKey("trainer", "max_price_kop_h", price)
				for range 2 {
					expectDiags(t, "a plan for a new server", tf.plan(nil, config).diags)
				}
				inst, diags := tf.apply(nil, config)
				expectDiags(t, "the apply", diags)
				tf.refresh(inst)
				expectDiags(t, "a plan without changes", tf.plan(inst, config).diags)

				replacement := configWithKey("trainer", "max_price_kop_h", price, "disk_gb", int64(61))
				change := tf.plan(inst, replacement)
				expectDiags(t, "a replacement, planned as a change", change.diags)
				if !change.replaces {
					t.Error("another disk does not replace the server")
				}
				create := tf.planChange(acctest.Value(tf.schema().ValueType(), nil), change.private, replacement)
				expectDiags(t, "a replacement, planned as a creation", create.diags)
				expectDiags(t, "the destruction before the replacement", tf.destroy(inst))
				inst, diags = tf.apply(nil, replacement)
				expectDiags(t, "the replacement", diags)
				tf.refresh(inst)
				expectDiags(t, "a plan after the replacement", tf.plan(inst, replacement).diags)
				expectDiags(t, "the destruction", tf.destroy(inst))
				if ids[tf.idOf(inst)] {
					t.Errorf("round %d has a server of an earlier round", round)
				}
				ids[tf.idOf(inst)] = true
				setAccount(t, env, simulator.AccountPatch{BalanceKop: new(3 * price)})
				if t.Failed() {
					t.Fatalf("in round %d", round)
				}
			}
			if err := env.NothingLeft("instances"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A run uses the current balance, offers and instances, not those of an earlier run.
func TestManyRuns_NothingCached(t *testing.T) {
	env := acctest.Start(t)
	offer := env.CheapestOffer("rtx_4090", "on_demand")
	price := offer.Price.OnDemandKopH
	tf := newManyRuns(t, env, nil)
	config := configWithKey("trainer", "max_price_kop_h", price)
	byOffer := configWithKey("trainer", "offer_query", nil, "offer_id", offer.ID)
	for range 3 {
		setAccount(t, env, simulator.AccountPatch{BalanceKop: new(3 * price), CreditLimitKop: new(int64(0))})
		expectDiags(t, "covered", tf.plan(nil, config).diags)
		expectDiags(t, "available", tf.plan(nil, byOffer).diags)
		setAccount(t, env, simulator.AccountPatch{BalanceKop: new(price)})
		expectDiags(t, "not covered", tf.plan(nil, config).diags, "Insufficient balance")
		setAccount(t, env, simulator.AccountPatch{BalanceKop: new(3 * price)})
		setAvailable(t, env, offer.ID, false)
		expectDiags(t, "no offer", tf.plan(nil, config).diags, "No matching offer")
		expectDiags(t, "no such offer", tf.plan(nil, byOffer).diags, "is not available")
		setAvailable(t, env, offer.ID, true)
	}
	inst, diags := tf.apply(nil, config)
	expectDiags(t, "the apply", diags)
	tf.refresh(inst)
	for _, state := range []string{"stopped", "running"} {
		changed := configWithKey("trainer", "max_price_kop_h", price, "desired_state", state)
		inst, diags = tf.apply(inst, changed)
		expectDiags(t, state, diags)
		tf.refresh(inst)
		type instance struct{ Status string }
		if inst := acctest.Fetch[instance](env, "instances/"+tf.idOf(inst)); inst.Status != state {
			t.Errorf("the server is %s, want %s", inst.Status, state)
		}
	}
	expectDiags(t, "the destruction", tf.destroy(inst))
}

// In a process without totals, the burn limit is checked before every create and start.
func TestManyRuns_BurnLimitAtApply(t *testing.T) {
	env := acctest.Start(t)
	offers := env.Offers("gpu=rtx_4090&num_gpus=1")
	tf := newManyRuns(t, env, spendingLimits(offers[0].Price.OnDemandKopH))
	for _, name := range []string{"a", "b"} {
		expectDiags(t, "each server alone", tf.plan(nil, configWithKey(name)).diags)
	}
	results := make(chan applyResult)
	for n := range 4 {
		go func() {
			inst, diags := tf.apply(nil, configWithKey(fmt.Sprint(n)))
			results <- applyResult{inst, diags}
		}()
	}
	var rented *resourceState
	for range 4 {
		switch r := <-results; {
		case r.server == nil:
			expectDiags(t, "beyond the limit", r.diags, "Plan exceeds max_burn_kop_h")
		case rented != nil:
			t.Error("a second server was rented")
		default:
			rented = r.server
			expectDiags(t, "within the limit", r.diags)
		}
	}
	if err := env.Left("instances?status=all", 1); err != nil || rented == nil {
		t.Fatal(err)
	}
	expectDiags(t, "the destruction", tf.destroy(rented))

	first, diags := tf.apply(nil, configWithKey("a"))
	expectDiags(t, "a server", diags)
	stopped, diags := tf.apply(first, configWithKey("a", "desired_state", "stopped"))
	expectDiags(t, "its stop", diags)
	second, diags := tf.apply(nil, configWithKey("b"))
	expectDiags(t, "another server while the first is stopped", diags)
	start, diags := tf.apply(stopped, configWithKey("a"))
	expectDiags(t, "the start of the first", diags, "Plan exceeds max_burn_kop_h")
	expectDiags(t, "the destruction of the second", tf.destroy(second))
	start, diags = tf.apply(start, configWithKey("a"))
	expectDiags(t, "the start of the first when the second is gone", diags)
	expectDiags(t, "its destruction", tf.destroy(start))
}
