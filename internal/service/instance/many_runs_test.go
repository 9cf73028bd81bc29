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
	env := acctest.Start(t)
	// The cheapest offer is not available while its instance is replaced.
	price := env.Offers("gpu=rtx_4090&num_gpus=1")[1].Price.OnDemandKopH
	setAccount(t, env, simulator.AccountPatch{BalanceKop: new(3 * price), CreditLimitKop: new(int64(0))})
	tf := newProvider(t, env, spendingLimits(price))
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
}

// The burn limit is compared before every create and start.
func TestManyRuns_BurnLimitAtApply(t *testing.T) {
	env := acctest.Start(t)
	offers := env.Offers("gpu=rtx_4090&num_gpus=1")
	tf := newProvider(t, env, spendingLimits(offers[0].Price.OnDemandKopH))
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
			expectDiags(t, "beyond the limit", r.diags, "Burn rate would exceed max_burn_kop_h")
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
	expectDiags(t, "the start of the first", diags, "Burn rate would exceed max_burn_kop_h")
	expectDiags(t, "the destruction of the second", tf.destroy(second))
	start, diags = tf.apply(start, configWithKey("a"))
	expectDiags(t, "the start of the first when the second is gone", diags)
	expectDiags(t, "its destruction", tf.destroy(start))
}
