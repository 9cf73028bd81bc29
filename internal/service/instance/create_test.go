package instance_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// An instance whose price is above the cap in a response is destroyed if this apply rented it, otherwise stopped. The
// state matches the result.
func TestCreate_ResponseAboveCap(t *testing.T) {
	t.Parallel()
	const unavailable = "provider_unavailable"
	expensive := []acctest.Rule{isCreate.Do(raisePrice), isGet.Do(raisePrice)}
	for name, test := range map[string]struct {
		rules   []acctest.Rule
		earlier bool // an earlier run rented it with the same key
		want    string
		status  string // in the service
	}{
		"new":            {expensive[:1], false, "The API accepted the request to destroy", "destroyed"},
		"new, when read": {expensive[1:], false, "The API accepted the request to destroy", "destroyed"},
		"perhaps earlier": {
			append([]acctest.Rule{isCreate.Once().Do(acctest.LoseResponse)}, expensive...), false, "it was stopped", "stopped",
		},
		"earlier": {expensive, true, "it was stopped", "stopped"},
		"not to be destroyed": {
			append([]acctest.Rule{isDelete.Do(acctest.Refuse(503, unavailable))}, expensive...), false,
			"It could not be removed", "running",
		},
		"not to be stopped": {
			append([]acctest.Rule{isStop.Do(acctest.Refuse(503, unavailable))}, expensive...), true,
			"It could not be removed", "running",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, p := start(t, nil)
			_, price := cheapestOffer(env)
			config := configWithKey("a", "max_price_kop_h", price)
			if test.earlier {
				newProvider(t, env, nil).mustApply(nil, config)
				env.Advance(time.Minute)
			}
			p.Set(test.rules...)
			inst, diags := tf.apply(nil, config)
			p.Set()
			expectDiags(t, "the apply", diags, test.want, "9,900.16", "max_price_kop_h is")
			env.Advance(time.Minute)
			all := acctest.Fetch[struct {
				Data []struct{ ID, Status string }
			}](env, "instances?status=all").Data
			if len(all) != 1 || all[0].Status != test.status {
				t.Errorf("instances %v, want one that is %s", all, test.status)
			}
			if kept := test.status != "destroyed"; (inst != nil) != kept || kept && inst.id() != all[0].ID {
				t.Errorf("in the state: %t, want %t", inst != nil, kept)
			}
		})
	}
}

// A new instance that does not meet its order is destroyed again. What later responses correct, and a response that
// cannot be read, are no problem: the next plan shows no changes.
func TestCreate_UnexpectedResponse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		response acctest.Interceptor
		want     string // of the error; none for success
	}{
		"another image":  {acctest.SetField("image", "docker.io/library/debian:12"), "docker.io/library/debian:12"},
		"a smaller disk": {acctest.SetField("disk_gb", 20), "disk_gb is 20"},
		"unreadable":     {acctest.SetField("status", 5), ""},
		"everything optional is absent": {acctest.Rewrite(func(body map[string]any) {
			const optional = "name desired_state template image disk_gb country cost_so_far_kop ssh urls created_at " +
				"started_at stop_reason"
			for _, field := range strings.Fields(optional) {
				delete(body, field)
			}
		}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, p := start(t, nil)
			config := configWithKey("a", "template", "custom", "image", "ubuntu:24.04")
			p.Set(isCreate.Do(test.response))
			inst, diags := tf.apply(nil, config)
			p.Set()
			if test.want != "" {
				expectDiags(t, "the apply", diags, "differs from the request", test.want)
				expectCount(t, env, 0, 1)
				if inst != nil {
					t.Error("the state has the instance")
				}
				return
			}
			expectDiags(t, "the apply", diags)
			expectCount(t, env, 1, 1)
			expectDiags(t, "the refresh", tf.refresh(inst))
			if plan := tf.plan(inst, config); len(plan.diags) > 0 || !plan.Planned.State.Equal(inst.State) {
				t.Errorf("the next plan has changes; %s", diagsText(plan.diags))
			}
		})
	}
}

// A request with a success response without an id is repeated with the same key, up to a limit. The error names the
// key, with which the next apply finds the instance.
func TestCreate_ResponseWithoutID(t *testing.T) {
	t.Parallel()
	env, tf, p := start(t, nil)
	p.Set(isCreate.Do(acctest.Rewrite(func(body map[string]any) { delete(body, "id") })))
	_, diags := tf.apply(nil, configWithoutKey("a"))
	expectDiags(t, "the apply", diags, "Cannot determine whether the instance was created")
	expectCount(t, env, 1, 1)
	if n := env.CountRequests("POST", "/instances"); n < 2 || n > 5 {
		t.Errorf("%d requests", n)
	}
	p.Set()
	key := regexp.MustCompile(`idempotency_key = "(tf-\w+)"`).FindStringSubmatch(diagsText(diags))
	if key == nil {
		t.Fatal("the error does not name the key")
	}
	_, diags = tf.apply(nil, configWithoutKey("a", "idempotency_key", key[1]))
	expectDiags(t, "the apply with the key", diags, "Recovered instance")
	expectCount(t, env, 1, 1)
}

// The price of the offer is read again before the request, and the price in the answer is compared, too: what costs
// more than the cap is not rented, or destroyed again.
func TestCreate_PriceRisesAfterThePlan(t *testing.T) {
	t.Parallel()
	unavailable := acctest.Refuse(503, "provider_unavailable")
	rents := func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		acctest.Record(w, r, api)
		unavailable(w, r, api)
	}
	for name, test := range map[string]struct {
		first           acctest.Interceptor // responds to the first request to rent; nil if the price rises before
		running, rented int
		want            []string
	}{
		"before the request":                    {nil, 0, 0, []string{"Offer price above max_price_kop_h"}},
		"before the repetition":                 {unavailable, 0, 1, []string{"more than a limit allows", "to destroy it"}},
		"after a rental whose response is lost": {rents, 1, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, p := start(t, map[string]any{"request_timeout": "1s"}) // after it no lost request is in flight
			offer, price := cheapestOffer(env)
			rise := func() { must(t, env.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: new(100 * price)})) }
			config := configWithoutKey("a", "offer_query", nil, "offer_id", offer.ID, "max_price_kop_h", price)
			plan := tf.plan(nil, config)
			expectDiags(t, "the plan", plan.diags)
			if test.first == nil {
				rise()
				tf = newProvider(t, env, nil)
			} else {
				p.Set(isCreate.Once().Do(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
					defer rise()
					test.first(w, r, api)
				}))
			}
			_, diags := tf.applyPlan(plan)
			expectDiags(t, "the apply", diags, test.want...)
			expectCount(t, env, test.running, test.rented)
		})
	}
}

// A new instance is outbid while it boots, and a new bid would exceed the burn limit: the error describes the start,
// and not a rental that costs too much.
func TestCreate_OutbidAboveBurnLimit(t *testing.T) {
	t.Parallel()
	p := new(acctest.Proxy)
	env := acctest.Start(t, p.Option())
	env.AddSSHKey()
	price := *env.CheapestOffer("rtx_4090", "interruptible").Price.InterruptibleKopH
	tf := newProvider(t, env, withSpending("max_burn_kop_h", price*3))
	config := configWithoutKey("a", "type", "interruptible")
	plan := tf.plan(nil, config)
	expensive := acctest.Rewrite(func(body map[string]any) {
		body["price"].(map[string]any)["interruptible_kop_h"] = price * 50
	})
	p.Set(isGet.Once().Do(acctest.Before(func(*http.Request) {
		p.Set(isOffer.Do(expensive), isGet.Do(acctest.SetField("status", "outbid")))
	})))
	inst, diags := tf.applyPlan(plan)
	if inst == nil {
		t.Error("the state has no instance")
	}
	expectDiags(t, "the apply", diags, "max_burn_kop_h", "It was not started", "is tainted")
	if strings.Contains(diagsText(diags), "could not be removed") {
		t.Error("the error describes a rental")
	}
}

// The destruction of a new instance in another way ends its creation with an error, and the next apply creates another.
func TestCreate_DestroyedMeanwhile(t *testing.T) {
	t.Parallel()
	env, tf, p := start(t, nil)
	p.Set(isGet.Once().Do(acctest.Before(func(r *http.Request) {
		setStatus(t, env, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], "destroyed", "destroyed")
	})))
	inst, diags := tf.apply(nil, configWithKey("a"))
	expectDiags(t, "the apply", diags, "no longer exists", "the apply creates another")
	expectDiags(t, "the refresh", tf.refresh(inst), "Object no longer exists")
	tf.mustApply(nil, configWithKey("a"))
}

// A wait for an offer that ends early rents nothing, and explains what was missing.
func TestCreate_WaitEnds(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil)
	config := configWithoutKey("a", "max_price_kop_h", int64(1), "wait_for_offer", "5m",
		"timeouts", map[string]any{"create": "300ms"})
	_, diags := tf.applyPlan(tf.plan(nil, config))
	expectDiags(t, "the timeout", diags, "before anything was rented", "raise timeouts.create")
	config = configWithoutKey("a", "max_price_kop_h", int64(1), "wait_for_offer", "300ms")
	_, diags = tf.applyPlan(tf.plan(nil, config))
	expectDiags(t, "the end of wait_for_offer", diags, "Without max_price_kop_h, ", "offers match, from ")
	expectCount(t, env, 0, 0)
}

// An instance of the key that differs from the configuration is neither recovered nor duplicated.
func TestCreate_KeyOfAnotherConfiguration(t *testing.T) {
	t.Parallel()
	env, tf, _ := start(t, nil)
	tf.mustApply(nil, configWithKey("a"))
	other := configWithKey("a", "disk_gb", int64(80))
	_, diags := newProvider(t, env, nil).apply(nil, other)
	expectDiags(t, "the apply", diags, "differs from the configuration", "disk_gb is 60")
	expectCount(t, env, 1, 1)
}

// An instance whose boot fails stays in the state with an error, so that the next apply replaces it.
func TestCreate_FailedBoot(t *testing.T) {
	t.Parallel()
	env, tf, p := start(t, nil)
	p.Set(acctest.Request("POST", "/instances").Do(acctest.After(func(*http.Request) {
		must(t, env.SetInstance(env.Overview().Instances[0].ID, simulator.InstancePatch{Status: new("failed")}))
	})))
	inst, diags := tf.apply(nil, configWithKey("a"))
	expectDiags(t, "the apply", diags, "cannot be used", "next apply replaces", `status "failed"`, "end of its log")
	if inst == nil || inst.Text("status") != "failed" {
		t.Errorf("the state has %v", inst)
	}
}

// With idempotency_prefix, an instance needs a name.
func TestPlan_PrefixNeedsName(t *testing.T) {
	t.Parallel()
	_, tf, _ := start(t, map[string]any{"idempotency_prefix": "team-"})
	expectDiags(t, "with a name", tf.plan(nil, configWithoutKey("a")).diags)
	unnamed := configWithoutKey("", "name", nil)
	expectDiags(t, "without", tf.plan(nil, unnamed).diags, "ERROR: Instance without a name", "idempotency_prefix")
}

// A template that nobody can log in to causes a warning.
func TestPlan_KeyWarnings(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours")) // they have SSH keys
	tf := newProvider(t, env, nil)
	expectDiags(t, "a plan without keys", tf.plan(nil, configWithoutKey("a")).diags,
		"WARNING: No SSH key for the instance")
	expectDiags(t, "a plan that attaches none", tf.plan(nil, configWithoutKey("a", "ssh_key_ids", []any{})).diags)
	expectDiags(t, "a typo", tf.plan(nil, configWithoutKey("a", "template", "PyTorc")).diags, "ERROR: No such template",
		"gpurent_templates")
}
