package instance_test

import (
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental/rentaltest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simtest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// An instance whose price is above the cap in a response is destroyed if this apply rented it, otherwise stopped. The
// state matches the result.
func TestCreate_ResponseAboveCap(t *testing.T) {
	t.Parallel()
	expensive := []simtest.Rule{isCreate.Do(raisePrice), isGet.Do(raisePrice)}
	for name, test := range map[string]struct {
		rules   []simtest.Rule
		earlier bool // an earlier run rented it with the same key
		want    string
		status  string // in the service
	}{
		"new":            {expensive[:1], false, "The API accepted the request to destroy", "destroyed"},
		"new, when read": {expensive[1:], false, "The API accepted the request to destroy", "destroyed"},
		"perhaps earlier": {
			append([]simtest.Rule{isCreate.Once().Do(simtest.LoseResponse)}, expensive...), false, "it was stopped", "stopped",
		},
		"earlier": {expensive, true, "it was stopped", "stopped"},
		"not to be destroyed": {
			append([]simtest.Rule{isDelete.Do(simtest.Fail(503))}, expensive...), false,
			"It could not be removed", "running",
		},
		"not to be stopped": {
			append([]simtest.Rule{isStop.Do(simtest.Fail(503))}, expensive...), true,
			"It could not be removed", "running",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// After a lost response, an instance counts as an earlier one.
			env, tf, p := start(t, nil, acctest.WithoutQuirks("status-after-work"))
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
			if kept := test.status != "destroyed"; (inst != nil) != kept || kept && inst.Text("id") != all[0].ID {
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
		response simtest.Interceptor
		want     string // of the error; none for success
	}{
		"another image":  {simtest.SetField("image", "docker.io/library/debian:12"), "docker.io/library/debian:12"},
		"a smaller disk": {simtest.SetField("disk_gb", 20), "disk_gb is 20"},
		"unreadable":     {simtest.SetField("status", 5), ""},
		"everything optional is absent": {simtest.Rewrite(func(body map[string]any) {
			const optional = "name desired_state template image disk_gb country cost_so_far_kop ssh urls created_at " +
				"started_at stop_reason"
			for _, field := range strings.Fields(optional) {
				delete(body, field)
			}
		}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// These quirks change the image and the GPU, too.
			env, tf, p := start(t, nil, acctest.WithoutQuirks("image-spelling", "other-gpu"))
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
			if expectDiags(t, "the apply", diags); inst == nil {
				t.Fatal("the state has no instance")
			}
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
	env, tf, p := start(t, nil, acctest.WithoutQuirks("first-answer-replays")) // which has no id for ever
	p.Set(isCreate.Do(simtest.Rewrite(func(body map[string]any) { delete(body, "id") })))
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
	unavailable := simtest.Fail(503)
	rents := func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		simtest.Record(w, r, api)
		unavailable(w, r, api)
	}
	for name, test := range map[string]struct {
		first           simtest.Interceptor // responds to the first request to rent; nil if the price rises before
		running, rented int
		want            []string
	}{
		"before the request":                    {nil, 0, 0, []string{"Offer price above max_price_kop_h"}},
		"before the repetition":                 {unavailable, 0, 1, []string{"more than a limit allows", "to destroy it"}},
		"after a rental whose response is lost": {rents, 1, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// With these quirks, the price that the provider reads is old, or another request is the repetition.
			without := acctest.WithoutQuirks("cached-offers", "gateway-errors", "status-after-work", "other-gpu")
			env, tf, p := start(t, map[string]any{"request_timeout": "1s"}, without) // after it no lost request is in flight
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

// An instance that is destroyed or fails while it boots ends its creation with an error, and the next apply creates
// another.
func TestCreate_EndsMeanwhile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status, desired string
		want            []string
	}{
		{"destroyed", "destroyed", []string{"no longer exists", "the apply creates another"}},
		{"failed", "running", []string{"cannot be used", "next apply replaces", `status "failed"`, "end of its log"}},
	} {
		// After a lost response, the provider rents again at once if the instance is destroyed.
		env, tf, p := start(t, nil, acctest.WithoutQuirks("status-after-work"))
		p.Set(isGet.Once().Do(simtest.Before(func(r *http.Request) {
			setStatus(t, env, path.Base(r.URL.Path), test.status, test.desired)
		})))
		config := configWithKey("a")
		inst, diags := tf.apply(nil, config)
		if expectDiags(t, test.status, diags, test.want...); inst == nil {
			t.Fatal("it is not in the state")
		}
		tf.refresh(inst)
		if left := inst.State.IsNull(); left != (test.status == "destroyed") {
			t.Errorf("%s: left the state: %t", test.status, left)
		} else if plan := tf.plan(inst, config); !left && !slices.Equal(plan.Replaces, []string{"status"}) {
			t.Errorf("%s: it is replaced for %v", test.status, plan.Replaces)
		}
	}
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

// A template that nobody can log in to causes a warning.
func TestPlan_KeyWarnings(t *testing.T) {
	t.Parallel()
	// The neighbours have SSH keys.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "forbidden-balance"))
	tf := newProvider(t, env, nil)
	expectDiags(t, "a plan without keys", tf.plan(nil, configWithoutKey("a")).diags,
		"WARNING: No SSH key for the instance")
	expectDiags(t, "a plan that attaches none", tf.plan(nil, configWithoutKey("a", "ssh_key_ids", []any{})).diags)
}

// Errors of a plan or a creation name the cause and the next step, and nothing is rented.
func TestCreate_Errors(t *testing.T) {
	t.Parallel()
	env, _, _ := start(t, nil)
	fails := func(provider map[string]any, arguments []any, want ...string) {
		t.Helper()
		inst, diags := newProvider(t, env, provider).apply(nil, configWithoutKey("a", arguments...))
		if expectDiags(t, "the apply", diags, want...); inst != nil || !hasError(diags) {
			t.Errorf("%v is no error", want)
		}
	}
	offer, _ := cheapestOffer(env)
	byOffer := func(id string, more ...any) []any { return append(more, "offer_query", nil, "offer_id", id) }
	large := map[string]any{"gpu": []any{"rtx_4090"}, "num_gpus": []any{int64(1)}, "min_ram_gb": int64(100_000)}
	const noRAM = "0 match min_ram_gb = 100000"
	fails(map[string]any{"api_key": rentaltest.Key}, nil, "API key rejected", "comes from the provider argument api_key")
	reader := env.Secret(`{"name":"reader","scopes":["instances:read"]}`)
	fails(map[string]any{"api_key": reader}, nil, "lacks the scope instances:write")
	fails(map[string]any{"idempotency_prefix": "team-"}, []any{"name", nil}, "ERROR: Instance without a name")
	fails(nil, []any{"template", "PyTorc"}, "ERROR: No such template", "gpurent_templates")
	fails(nil, byOffer(offer.ID, "max_price_kop_h", int64(1)), "Offer price above max_price_kop_h", "per month")
	fails(nil, byOffer("off_gone"), "WARNING: No matching offer", "Offer off_gone is not available. Nothing was rented")
	fails(nil, []any{"offer_query", large}, "Matching the query: 0", noRAM, "Without min_ram_gb, ", " offers match, from ")
	large["country"] = []any{"AQ"}
	fails(nil, []any{"offer_query", large}, noRAM, "change at least two of these")

	must(t, env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(100)), CreditLimitKop: new(int64(0))}))
	fails(nil, nil, "WARNING: Insufficient balance for this plan", "Missing: ", "Top up")
	fails(withSpending("require_funds", "error"), nil, "ERROR: Insufficient balance")
	must(t, env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(1e9)), MaxInstances: new(int64(0))}))
	fails(nil, nil, "limit of the account", "destroy an instance")
	expectCount(t, env, 0, 0)
}

// With keep_on_timeout, a timeout is a warning, and the next apply waits for the same instance. Otherwise it is an
// error, which taints the instance.
func TestCreate_Timeout(t *testing.T) {
	t.Parallel()
	slowBoot := func(c *simulator.Config) { c.Boot = time.Hour }
	// The test asserts the status creating, which a quirk replaces.
	slow := map[string]any{"poll_interval": "100ms"}
	env, tf, _ := start(t, slow, slowBoot, acctest.WithoutQuirks("unknown-enums"))
	create := func(keep bool) (*acctest.Object, []*tfprotov6.Diagnostic) {
		return tf.apply(nil, configWithoutKey("a", "keep_on_timeout", keep, "timeouts", map[string]any{"create": "2s"}))
	}
	inst, diags := create(true)
	expectDiags(t, "a creation that keeps it", diags, "is not ready yet", "The next apply continues to wait for it")
	if inst == nil || hasError(diags) {
		t.Fatal(diagsText(diags))
	}
	env.Advance(2 * time.Hour)
	after := tf.mustApply(inst, configWithoutKey("a"))
	if after.Text("status") != "running" || after.Attributes()["started_at"].IsNull() ||
		after.Text("id") != inst.Text("id") {
		t.Errorf("after the next apply, the state is %s", after.State)
	}
	inst, diags = create(false)
	expectDiags(t, "a creation", diags, "ERROR: Instance", "is not ready yet", "untaint ADDRESS", `status "creating"`)
	if inst == nil {
		t.Error("the state has no instance")
	}
	expectCount(t, env, 2, 2)
}

// An interrupted creation keeps the instance, with a warning. A destruction right afterwards waits until the API allows
// it.
func TestCreate_Interrupted(t *testing.T) {
	t.Parallel()
	boot := func(c *simulator.Config) { c.Boot = 5 * time.Minute }
	env, tf, p := start(t, nil, boot, acctest.WithoutQuirks("all"), acctest.WithQuirks("busy-while-booting"))
	p.Set(isCreate.Do(simtest.After(func(*http.Request) { tf.interrupt() })))
	inst, diags := tf.apply(nil, configWithoutKey("a"))
	expectDiags(t, "the interrupted apply", diags, "Interrupted while instance", "It is rented and in the state")
	if inst == nil || hasError(diags) {
		t.Fatal(diagsText(diags))
	}
	newProvider(t, env, nil).mustDestroy(inst)
	expectCount(t, env, 0, 1)
}

// An apply waits for ready_when. The next plan continues to wait, although the instance runs.
func TestCreate_ReadyWhen(t *testing.T) {
	t.Parallel()
	// With these quirks, the last response before the timeout may be an error.
	env, tf, p := start(t, map[string]any{"poll_interval": "10ms"}, acctest.WithoutQuirks("gateway-errors"))
	config := configWithoutKey("a", "keep_on_timeout", true, "ready_when", map[string]any{"log_pattern": `epoch \d+`},
		"timeouts", map[string]any{"create": "3s"})
	inst, diags := tf.apply(nil, config)
	expectDiags(t, "the creation", diags, "ready_when.log_pattern is not met", "The end of its log", `status "running"`)
	tf = newProvider(t, env, nil)
	expectDiags(t, "the refresh", tf.refresh(inst))
	plan := tf.plan(inst, config)
	if len(plan.Replaces) > 0 || !slices.Contains(plan.changes(), "status") {
		t.Errorf("the next plan does not wait: %v", plan.changes())
	}
	p.Set(simtest.Request("GET", "/instances/.*/logs").Do(simtest.SetField("lines", []string{"epoch 1"})))
	inst = tf.mustApply(inst, config)
	if changes := tf.plan(inst, config).changes(); len(changes) > 0 {
		t.Errorf("the last plan changes %v", changes)
	}
}

// Instances that get no SSH address, because of their template or their desired state, are complete. Their attribute
// ssh is not null, so that an output can refer to the host.
func TestCreate_WithoutSSH(t *testing.T) {
	t.Parallel()
	_, tf, _ := start(t, nil)
	for status, argument := range map[string][]any{
		"running": {"template", "vllm"}, "stopped": {"desired_state", "stopped"},
	} {
		config := configWithoutKey("a"+status, argument...)
		inst := tf.mustApply(nil, config)
		ssh := inst.Attributes()["ssh"]
		none := ssh.Equal(acctest.Value(ssh.Type(), map[string]any{}))
		if changes := tf.plan(inst, config).changes(); inst.Text("status") != status || !none || len(changes) > 0 {
			t.Errorf("it is %s with %s, and the next plan changes %v", inst.Text("status"), ssh, changes)
		}
	}
}
