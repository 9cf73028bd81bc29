package instance_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// limits are spending limits that one server of the price fits in, and two do not.
func limits(price int64) map[string]any {
	return map[string]any{"spending": map[string]any{"require_funds": "error", "max_burn_kop_h": price * 3 / 2}}
}

// keyed is the configuration of a server with an idempotency key.
func keyed(name string, arguments ...any) map[string]any {
	config := map[string]any{
		"template": "pytorch", "disk_gb": int64(60), "name": name, "idempotency_key": "key-" + name,
		"offer_query": map[string]any{"gpu": []any{"rtx_4090"}, "num_gpus": []any{int64(1)}},
	}
	for i := 0; i < len(arguments); i += 2 {
		config[arguments[i].(string)] = arguments[i+1]
	}
	return config
}

// expect fails unless the diagnostics contain the texts; without any, unless there are no diagnostics.
func expect(t *testing.T, what string, diags []*tfprotov6.Diagnostic, want ...string) {
	t.Helper()
	text := acctest.Words(said(diags))
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%s: no %q in:\n%s", what, part, text)
		}
	}
	if len(want) == 0 && text != "" {
		t.Errorf("%s:\n%s", what, text)
	}
}

func available(t *testing.T, env *acctest.Env, offerID string, is bool) {
	t.Helper()
	if err := env.SetOffer(offerID, simulator.OfferPatch{Available: &is}); err != nil {
		t.Error(err)
	}
}

// A provider that is configured once gives the same results however many runs it has served: with a key, a burn limit
// and a balance that one server fits in, and two offers.
func TestManyRuns_sameResultInEveryRound(t *testing.T) {
	t.Parallel()
	for name, validates := range map[string]bool{"without validation": false, "with validation": true} {
		t.Run(name, func(t *testing.T) {
			env := acctest.Start(t)
			// The cheapest offer is taken while its server is replaced.
			price := env.Offers("gpu=rtx_4090&num_gpus=1")[1].Price.OnDemandKopH
			setAccount(t, env, simulator.AccountPatch{BalanceKop: new(3 * price), CreditLimitKop: new(int64(0))})
			h := newHost(t, env, limits(price))
			h.validates = validates
			ids := map[string]bool{}
			for round := range 10 {
				config := keyed("trainer", "max_price_kop_h", price)
				for range 2 {
					expect(t, "a plan for a new server", h.plan(nil, config).diags)
				}
				server, diags := h.apply(nil, config)
				expect(t, "the apply", diags)
				h.refresh(server)
				expect(t, "a plan without changes", h.plan(server, config).diags)

				replacement := keyed("trainer", "max_price_kop_h", price, "disk_gb", int64(61))
				change := h.plan(server, replacement)
				expect(t, "a replacement, planned as a change", change.diags)
				if !change.replaces {
					t.Error("another disk does not replace the server")
				}
				create := h.planChange(acctest.Value(h.schema().ValueType(), nil), change.private, replacement)
				expect(t, "a replacement, planned as a creation", create.diags)
				expect(t, "the destruction before the replacement", h.destroy(server))
				server, diags = h.apply(nil, replacement)
				expect(t, "the replacement", diags)
				h.refresh(server)
				expect(t, "a plan after the replacement", h.plan(server, replacement).diags)
				expect(t, "the destruction", h.destroy(server))
				if ids[h.id(server)] {
					t.Errorf("round %d has a server of an earlier round", round)
				}
				ids[h.id(server)] = true
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

// A run sees the balance, the market and the servers as they are, not as an earlier run saw them.
func TestManyRuns_nothingIsCached(t *testing.T) {
	env := acctest.Start(t)
	offer := env.CheapestOffer("rtx_4090", "on_demand")
	price := offer.Price.OnDemandKopH
	h := newHost(t, env, nil)
	config := keyed("trainer", "max_price_kop_h", price)
	byOffer := keyed("trainer", "offer_query", nil, "offer_id", offer.ID)
	for range 3 {
		setAccount(t, env, simulator.AccountPatch{BalanceKop: new(3 * price), CreditLimitKop: new(int64(0))})
		expect(t, "covered", h.plan(nil, config).diags)
		expect(t, "available", h.plan(nil, byOffer).diags)
		setAccount(t, env, simulator.AccountPatch{BalanceKop: new(price)})
		expect(t, "not covered", h.plan(nil, config).diags, "Insufficient balance")
		setAccount(t, env, simulator.AccountPatch{BalanceKop: new(3 * price)})
		available(t, env, offer.ID, false)
		expect(t, "no offer", h.plan(nil, config).diags, "No matching offer")
		expect(t, "no such offer", h.plan(nil, byOffer).diags, "is not available")
		available(t, env, offer.ID, true)
	}
	server, diags := h.apply(nil, config)
	expect(t, "the apply", diags)
	h.refresh(server)
	for _, state := range []string{"stopped", "running"} {
		changed := keyed("trainer", "max_price_kop_h", price, "desired_state", state)
		server, diags = h.apply(server, changed)
		expect(t, state, diags)
		h.refresh(server)
		type instance struct{ Status string }
		if inst := acctest.Fetch[instance](env, "instances/"+h.id(server)); inst.Status != state {
			t.Errorf("the server is %s, want %s", inst.Status, state)
		}
	}
	expect(t, "the destruction", h.destroy(server))
}

// Two servers never share a key, and a key is free again when its server is gone.
func TestManyRuns_keyOfAnotherServer(t *testing.T) {
	env := acctest.Start(t)
	h := newHost(t, env, nil)
	first, diags := h.apply(nil, keyed("a", "idempotency_key", "k"))
	expect(t, "the first server", diags)
	_, diags = h.apply(nil, keyed("b", "idempotency_key", "k"))
	expect(t, "a second server in the same apply", diags, "Two instances with the same idempotency_key", h.id(first))
	expect(t, "a plan for the first", h.plan(first, keyed("a", "idempotency_key", "k")).diags)
	expect(t, "a plan for a second", h.plan(nil, keyed("b", "idempotency_key", "k")).diags, "Two instances with the same idempotency_key", h.id(first))
	if err := env.Left("instances?status=all", 1); err != nil {
		t.Error(err)
	}
	expect(t, "the destruction", h.destroy(first))
	second, diags := h.apply(nil, keyed("b", "idempotency_key", "k"))
	expect(t, "a server after the first is gone", diags)
	expect(t, "its destruction", h.destroy(second))
}

// A renamed resource keeps its server, in whatever order Terraform plans and applies the old and the new address.
func TestManyRuns_renamedResource(t *testing.T) {
	t.Parallel()
	for _, refreshes := range []bool{true, false} {
		for _, order := range []string{
			"plan and apply the old first", "plan the old first", "apply the old first", "the new first",
		} {
			t.Run(fmt.Sprintf("%s, refresh %t", order, refreshes), func(t *testing.T) {
				t.Parallel()
				env := acctest.Start(t, acctest.WithoutQuirks("all")) // it expects one apply to suffice
				h := newHost(t, env, nil)
				config := keyed("a", "idempotency_key", "k")
				old, diags := h.apply(nil, config)
				expect(t, "the server", diags)
				h.refresh(old)
				expect(t, "a plan without changes", h.plan(old, config).diags)
				env.Advance(time.Minute)

				if refreshes {
					h.refresh(old)
				}
				if strings.HasPrefix(order, "plan") {
					expect(t, "the plan of the destruction", h.planDestroy(old))
					expect(t, "the plan of the creation", h.plan(nil, config).diags)
				} else {
					planned := make(chan instancePlan)
					go func() { planned <- h.plan(nil, config) }()
					time.Sleep(50 * time.Millisecond)
					expect(t, "the plan of the destruction", h.planDestroy(old))
					expect(t, "the plan of the creation", (<-planned).diags)
				}
				var server *object
				if strings.Contains(order, "apply") {
					expect(t, "the destruction", h.destroy(old))
					server, diags = h.apply(nil, config)
					expect(t, "the creation", diags)
				} else {
					server, diags = h.apply(nil, config)
					expect(t, "the creation", diags, "Recovered instance "+h.id(old))
					expect(t, "the destruction", h.destroy(old), "was not replaced")
				}
				if server == nil {
					t.Fatal("the new address has no server")
				}
				h.refresh(server)
				expect(t, "a plan after the rename", h.plan(server, config).diags)
				expect(t, "a plan for another server", h.plan(nil, config).diags, "Two instances with the same idempotency_key")
				if err := env.Left("instances", 1); err != nil {
					t.Error(err)
				}
				expect(t, "the destruction at the end", h.destroy(server))
				if err := env.NothingLeft("instances"); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A server that was taken over is destroyed like any other, also by the process that took it over.
func TestManyRuns_destroysWhatItTookOver(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	lost, diags := newHost(t, env, nil).apply(nil, keyed("a"))
	expect(t, "a server whose state is lost", diags)
	env.Advance(time.Minute)
	h := newHost(t, env, nil)
	server, diags := h.apply(nil, keyed("a"))
	expect(t, "the takeover", diags, "Recovered instance "+h.id(lost))
	h.refresh(server)
	expect(t, "a plan", h.plan(server, keyed("a")).diags)
	expect(t, "the destruction", h.destroy(server))
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// With create_before_destroy and an unchanged key the service returns the server that is to be replaced. It stays, and is
// destroyed when its only object in the state is.
func TestManyRuns_createBeforeDestroyWithTheSameKey(t *testing.T) {
	env := acctest.Start(t)
	h := newHost(t, env, nil)
	old, diags := h.apply(nil, keyed("a"))
	expect(t, "the server", diags)
	env.Advance(time.Minute)
	change := h.plan(old, keyed("a"))
	create := h.planChange(acctest.Value(h.schema().ValueType(), nil), change.private, keyed("a"))
	expect(t, "the plan of the replacement", create.diags)
	successor, diags := h.apply(nil, keyed("a"))
	expect(t, "the replacement", diags, "Recovered instance")
	expect(t, "the destruction of its predecessor", h.destroy(old), "was not replaced")
	if err := env.Left("instances", 1); err != nil {
		t.Error(err)
	}
	expect(t, "the destruction", h.destroy(successor))
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// applyResult is what host.apply returns.
type applyResult struct {
	server *object
	diags  []*tfprotov6.Diagnostic
}

// Where plans have no totals, the burn limit holds when servers are rented and started.
func TestManyRuns_burnLimitHoldsAtApply(t *testing.T) {
	env := acctest.Start(t)
	offers := env.Offers("gpu=rtx_4090&num_gpus=1")
	h := newHost(t, env, limits(offers[0].Price.OnDemandKopH))
	for _, name := range []string{"a", "b"} {
		expect(t, "each server alone", h.plan(nil, keyed(name)).diags)
	}
	results := make(chan applyResult)
	for n := range 4 {
		go func() {
			server, diags := h.apply(nil, keyed(fmt.Sprint(n)))
			results <- applyResult{server, diags}
		}()
	}
	var rented *object
	for range 4 {
		switch r := <-results; {
		case r.server == nil:
			expect(t, "beyond the limit", r.diags, "Plan exceeds max_burn_kop_h")
		case rented != nil:
			t.Error("a second server was rented")
		default:
			rented = r.server
			expect(t, "within the limit", r.diags)
		}
	}
	if err := env.Left("instances?status=all", 1); err != nil || rented == nil {
		t.Fatal(err)
	}
	expect(t, "the destruction", h.destroy(rented))

	first, diags := h.apply(nil, keyed("a"))
	expect(t, "a server", diags)
	stopped, diags := h.apply(first, keyed("a", "desired_state", "stopped"))
	expect(t, "its stop", diags)
	second, diags := h.apply(nil, keyed("b"))
	expect(t, "another server while the first is stopped", diags)
	start, diags := h.apply(stopped, keyed("a"))
	expect(t, "the start of the first", diags, "Plan exceeds max_burn_kop_h")
	expect(t, "the destruction of the second", h.destroy(second))
	start, diags = h.apply(start, keyed("a"))
	expect(t, "the start of the first when the second is gone", diags)
	expect(t, "its destruction", h.destroy(start))
}

// A server whose request is unanswered is already in the listing. It counts once against the burn limit.
func TestManyRuns_burnLimitCountsAnUnansweredRequestOnce(t *testing.T) {
	env, _, service := behindMiddlebox(t)
	var fits int64
	for _, offer := range env.Offers("gpu=rtx_4090&num_gpus=1")[:2] {
		fits += offer.Price.OnDemandKopH
	}
	fits += fits / 4 // the disks, but no third server
	h := newHost(t, env, map[string]any{"max_retries": int64(0), "spending": map[string]any{"max_burn_kop_h": fits}})
	config := keyed("b")
	second := h.plan(nil, config)
	expect(t, "the plan of the second server", second.diags)

	created, listed, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var creates, lists atomic.Int64
	service.set(func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if !isCreate(r) || creates.Add(1) > 1 {
			service.ServeHTTP(w, r)
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/instances") && creates.Load() == 1 && lists.Add(1) == 1 {
				close(listed)
			}
			return
		}
		recorder := recorderFor(w)
		service.ServeHTTP(recorder, r)
		close(created)
		<-listed
		select {
		case <-returned:
		case <-time.After(100 * time.Millisecond): // it waits, which no request shows
		}
		pass(w, recorder)
	})
	answered := make(chan applyResult)
	go func() {
		server, diags := h.apply(nil, keyed("a"))
		answered <- applyResult{server, diags}
	}()
	<-created
	server, diags := h.change(tftypes.NewValue(h.schema().ValueType(), nil), second, acctest.Value(h.schema().ValueType(), config))
	close(returned)
	expect(t, "the second server", diags)
	first := <-answered
	expect(t, "the first server", first.diags)
	if err := env.Left("instances", 2); err != nil {
		t.Fatal(err)
	}
	expect(t, "the destruction of the first", h.destroy(first.server))
	expect(t, "the destruction of the second", h.destroy(server))
}
