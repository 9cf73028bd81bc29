package instance_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
)

// A limit that cannot be compared fails the plan, and prevents rentals at apply. The default check warns.
func TestSpending_UnreadableAccount(t *testing.T) {
	t.Parallel()
	isBalance := simtest.Request("GET", "/balance")
	forbidden, internal := simtest.Fail(403), simtest.Fail(500)
	burn := withSpending("max_burn_kop_h", int64(1e12))
	const unchecked, unpriced = "ERROR: Cannot check the spending limits", "ERROR: Cannot determine the price"
	const noOffers = "ERROR: Cannot read offers"
	for name, test := range map[string]struct {
		rule            simtest.Rule
		spending        map[string]any
		atPlan, atApply []string
	}{
		"balance, burn limit": {
			isBalance.Do(forbidden), burn, []string{unchecked, "billing:read"}, []string{unchecked},
		},
		"balance, error": {
			isBalance.Do(internal), withSpending("require_funds", "error"), []string{unchecked}, nil,
		},
		"balance, warn": {
			isBalance.Do(forbidden), nil,
			[]string{"WARNING: Cannot check the balance", "billing:read", "require_funds"}, nil,
		},
		"balance, off":          {isBalance.Do(internal), withSpending("require_funds", "off"), nil, nil},
		"instances, burn limit": {isList.Do(internal), burn, []string{unchecked}, []string{unchecked}},
		"an endless list": {
			isList.Do(simtest.Respond(200, `{"data":[],"next_cursor":"c"}`)), burn, []string{unchecked, "does not end"},
			[]string{unchecked},
		},
		"offers, burn limit":     {isOffers.Do(internal), burn, []string{unpriced}, []string{noOffers}},
		"offers, without limits": {isOffers.Do(internal), nil, nil, []string{noOffers}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, p := start(t, test.spending, acctest.WithoutQuirks("cached-offers")) // they are read during an outage, too
			config := configWithKey("a")
			plan := tf.plan(nil, config)
			expectDiags(t, "a plan", plan.diags)
			p.Set(test.rule)
			tf = newProvider(t, env, test.spending)
			expectDiags(t, "the plan", tf.plan(nil, config).diags, test.atPlan...)
			if test.atApply == nil {
				return
			}
			_, diags := newProvider(t, env, test.spending).applyPlan(plan)
			expectDiags(t, "the apply", diags, test.atApply...)
			p.Set()
			expectCount(t, env, 0, 0)
		})
	}
}

// The burn limit is compared before every create and start, for concurrent creations too.
func TestSpending_BurnLimitAtApply(t *testing.T) {
	t.Parallel()
	env, _, _ := start(t, nil, acctest.WithoutQuirks("strange-neighbours", "other-gpu")) // the neighbours cost too much
	_, price := cheapestOffer(env)
	limit := withSpending("max_burn_kop_h", price*3/2) // for one instance, and not for two
	tf := newProvider(t, env, limit)
	type result struct {
		inst  *acctest.Object
		diags []*tfprotov6.Diagnostic
	}
	results := make(chan result)
	for n := range 4 {
		go func() {
			inst, diags := tf.apply(nil, configWithKey(fmt.Sprint(n)))
			results <- result{inst, diags}
		}()
	}
	var rented *acctest.Object
	for range 4 {
		switch r := <-results; {
		case r.inst == nil:
			expectDiags(t, "beyond the limit", r.diags, burnLimitExceeded)
		case rented != nil:
			t.Error("a second server was rented")
		default:
			rented = r.inst
			expectDiags(t, "within the limit", r.diags)
		}
	}
	expectCount(t, env, 1, 1)
	if rented == nil {
		t.Fatal("nothing was rented")
	}
	tf.mustDestroy(rented)

	first := tf.mustApply(nil, configWithKey("a"))
	stopped := tf.mustApply(first, configWithKey("a", "desired_state", "stopped"))
	second := tf.mustApply(nil, configWithKey("b"))
	planner := newProvider(t, env, limit)
	plan := planner.plan(stopped, configWithKey("a"))
	expectDiags(t, "the plan of a start", plan.diags, "WARNING: "+burnLimitExceeded)
	started, diags := tf.applyPlan(plan)
	expectDiags(t, "the start", diags, "ERROR: "+burnLimitExceeded)
	tf.mustDestroy(second)
	tf.mustApply(started, configWithKey("a"))
}

// A replacement does not count together with its predecessor, at plan and at apply.
func TestReplacement_BurnLimit(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil, acctest.WithoutQuirks("strange-neighbours")) // they cost more than the limit
	inst := tf.mustApply(nil, configWithKey("a"))
	_, price := cheapestOffer(env)
	tf = newProvider(t, env, withSpending("max_burn_kop_h", price*3/2))
	replacement := configWithKey("a", "disk_gb", int64(61))
	expectDiags(t, "the refresh", tf.refresh(inst))
	expectDiags(t, "the plan", tf.planReplacement(inst, replacement, false))
	expectDiags(t, "the plan of a second one", tf.plan(nil, configWithKey("b")).diags, burnLimitExceeded)
	tf.mustDestroy(inst)
	tf.mustApply(nil, replacement)
	_, diags := tf.apply(nil, configWithKey("b"))
	expectDiags(t, "a second one", diags, "ERROR: "+burnLimitExceeded)
	expectCount(t, env, 1, 2)
}
