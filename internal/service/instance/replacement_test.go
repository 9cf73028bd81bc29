package instance_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// noPrior is the state of a resource that does not exist.
func (h *host) noPrior() tftypes.Value { return acctest.Value(h.schema().ValueType(), nil) }

// replace plans a replacement as Terraform does, and returns what it shows: the diagnostics of the first plan, and those
// of the second only with an error. forced is -replace.
func (h *host) replace(prior *object, config map[string]any, forced bool) []*tfprotov6.Diagnostic {
	h.Helper()
	change := h.plan(prior, config)
	if failed(change.diags) {
		return change.diags
	}
	if !change.replaces && !forced && !replacesByDisk(h, prior, config) {
		h.Error("the plan does not replace the server")
	}
	h.validates = false // once for both plans
	create := h.planChange(h.noPrior(), change.private, config)
	h.validates = true
	if failed(create.diags) {
		return append(change.diags, create.diags...)
	}
	return change.diags
}

func replacesByDisk(h *host, prior *object, config map[string]any) bool {
	var before map[string]tftypes.Value
	if err := prior.state.As(&before); err != nil {
		h.Fatal(err)
	}
	return !before["disk_gb"].Equal(tftypes.NewValue(tftypes.Number, config["disk_gb"]))
}

// rentAll rents servers in a run of its own.
func rentAll(t *testing.T, env *acctest.Env, configs ...map[string]any) []*object {
	t.Helper()
	h := newRun(t, env, nil)
	var servers []*object
	for _, config := range configs {
		server, diags := h.apply(nil, config)
		expect(t, "a server", diags)
		servers = append(servers, server)
	}
	return servers
}

// unkeyed is the configuration of a server without an idempotency key.
func unkeyed(name string, arguments ...any) map[string]any {
	return keyed(name, append([]any{"idempotency_key", nil}, arguments...)...)
}

const beyondLimit = "Plan exceeds max_burn_kop_h"

// A replacement does not count together with the server that it replaces, at plan and at apply.
func TestReplacement_BurnLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config          func(name string) map[string]any
		tainted, forced bool
	}{
		"another disk":               {func(name string) map[string]any { return keyed(name) }, false, false},
		"-replace":                   {func(name string) map[string]any { return keyed(name) }, false, true},
		"tainted, with a key":        {func(name string) map[string]any { return keyed(name) }, true, false},
		"tainted, with a name":       {func(name string) map[string]any { return unkeyed(name) }, true, false},
		"tainted, with neither":      {func(string) map[string]any { return unkeyed("", "name", nil) }, true, false},
		"tainted, renamed with keys": {func(name string) map[string]any { return keyed(name) }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			env := acctest.Start(t)
			first, second := test.config("a"), test.config("b")
			servers := rentAll(t, env, first, second)
			limit := map[string]any{"spending": map[string]any{"max_burn_kop_h": burnOfAll(env) * 5 / 4}}
			if !test.tainted && !test.forced {
				first["disk_gb"], second["disk_gb"] = int64(61), int64(61)
			}
			if name == "tainted, renamed with keys" {
				first["name"], second["name"] = "c", "d"
			}
			plan := newRun(t, env, limit)
			for i, config := range []map[string]any{first, second} {
				plan.refresh(servers[i])
				if test.tainted {
					expect(t, "the plan", plan.plan(nil, config).diags)
				} else {
					expect(t, "the plan", plan.replace(servers[i], config, test.forced))
				}
			}
			expect(t, "a third server", plan.plan(nil, unkeyed("third")).diags, beyondLimit)

			apply := newRun(t, env, limit)
			for i := range servers {
				expect(t, "the destruction", apply.destroy(servers[i]))
			}
			for i, config := range []map[string]any{first, second} {
				server, diags := apply.apply(nil, config)
				expect(t, "the replacement", diags)
				servers[i] = server
			}
			_, diags := apply.apply(nil, unkeyed("third"))
			expect(t, "a third server at apply", diags, beyondLimit)
			if err := env.Left("instances", 2); err != nil {
				t.Error(err)
			}
		})
	}
}

// burnOfAll is what all servers burn together while running, kopecks per hour.
func burnOfAll(env *acctest.Env) int64 {
	type instance struct {
		Price struct {
			RunningKopH int64 `json:"running_kop_h"`
		}
	}
	total := int64(0)
	for _, inst := range acctest.Fetch[struct{ Data []instance }](env, "instances").Data {
		total += inst.Price.RunningKopH
	}
	return total
}

// With create_before_destroy both servers exist, so both count right before the second is rented.
func TestReplacement_BurnLimit_CreateBeforeDestroy(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T, *acctest.Env, map[string]any) *host{"one run": newRun, "many runs": newHost} {
		t.Run(name, func(t *testing.T) {
			env := acctest.Start(t)
			rentAll(t, env, unkeyed("a"))
			h := start(t, env, map[string]any{"spending": map[string]any{"max_burn_kop_h": burnOfAll(env) * 3 / 2}})
			_, diags := h.apply(nil, unkeyed("a"))
			expect(t, "the replacement", diags, beyondLimit)
			if err := env.Left("instances", 1); err != nil {
				t.Error(err)
			}
		})
	}
}

// A new server does not use the place of one that has its name and stays, in whatever order they are planned.
func TestReplacement_BurnLimit_ServerThatStays(t *testing.T) {
	for _, newFirst := range []bool{true, false} {
		t.Run(fmt.Sprint("the new one first: ", newFirst), func(t *testing.T) {
			env := acctest.Start(t)
			server := rentAll(t, env, unkeyed("a"))[0]
			h := newRun(t, env, map[string]any{"spending": map[string]any{"max_burn_kop_h": burnOfAll(env) * 3 / 2}})
			h.refresh(server)
			plans := []func() []*tfprotov6.Diagnostic{
				func() []*tfprotov6.Diagnostic { return h.plan(nil, unkeyed("a")).diags },
				func() []*tfprotov6.Diagnostic { return h.plan(server, unkeyed("a")).diags },
			}
			if !newFirst {
				plans[0], plans[1] = plans[1], plans[0]
			}
			expect(t, "the first plan", plans[0]())
			expect(t, "the second plan", plans[1](), beyondLimit)
		})
	}
}

// The burn rate of the service may contain a destroyed server for a while.
func TestReplacement_BurnLimit_LaggingBalance(t *testing.T) {
	for name, start := range map[string]func(*testing.T, *acctest.Env, map[string]any) *host{"one run": newRun, "many runs": newHost} {
		t.Run(name, func(t *testing.T) {
			var burn atomic.Int64
			env := acctest.Start(t, acctest.WithWrap(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if kopH := burn.Load(); kopH > 0 && strings.HasSuffix(r.URL.Path, "/balance") {
						w.Header().Set("Content-Type", "application/json")
						fmt.Fprintf(w, `{"balance_kop":100000000,"available_kop":100000000,"credit_limit_kop":0,"burn_kop_h":%d,"currency":"RUB"}`, kopH)
						return
					}
					next.ServeHTTP(w, r)
				})
			}))
			server := rentAll(t, env, unkeyed("a"))[0]
			burn.Store(burnOfAll(env))
			h := start(t, env, map[string]any{"spending": map[string]any{"max_burn_kop_h": burn.Load() * 3 / 2}})
			expect(t, "the destruction", h.destroy(server))
			_, diags := h.apply(nil, unkeyed("a"))
			expect(t, "the replacement", diags)
		})
	}
}

// A replacement that cannot succeed is refused in the plan, as long as the old server exists.
func TestReplacement_RefusedAtPlan(t *testing.T) {
	t.Parallel()
	gone := func(env *acctest.Env) {
		for _, offer := range env.Offers("limit=200") {
			if err := env.SetOffer(offer.ID, simulator.OfferPatch{Available: new(false)}); err != nil {
				panic(err)
			}
		}
	}
	poor := func(env *acctest.Env) {
		if err := env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(100)), CreditLimitKop: new(int64(0))}); err != nil {
			panic(err)
		}
	}
	dear := func(env *acctest.Env) {
		for _, offer := range env.Offers("limit=200") {
			if err := env.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: new(int64(900_000))}); err != nil {
				panic(err)
			}
		}
	}
	crowded := func(env *acctest.Env) { rentAll(t, env, unkeyed("stranger")) }
	disk := []any{"disk_gb", int64(61)}
	for name, test := range map[string]struct {
		before   func(*acctest.Env)
		change   []any
		provider map[string]any
		want     string
		warns    bool // for a replacement that only warns, and only if the first plan knows of it
	}{
		"no offer":                    {gone, disk, nil, "no matching offer", false},
		"only its own":                {nil, append([]any{"offer_query", nil, "offer_id", "own"}, disk...), nil, "may not be available for the replacement", true},
		"no template":                 {nil, append([]any{"template", "none"}, disk...), nil, "No such template", false},
		"small disk":                  {nil, []any{"disk_gb", int64(10)}, nil, "Disk below the template's minimum", false},
		"large disk":                  {nil, []any{"disk_gb", int64(2000), "offer_query", nil, "offer_id", "other"}, nil, "Disk above the offer's maximum", false},
		"above the cap":               {nil, append([]any{"max_price_kop_h", int64(1)}, disk...), nil, "no matching offer", false},
		"no money, error":             {poor, disk, map[string]any{"require_funds": "error"}, "Error: Insufficient balance", false},
		"burn limit":                  {nil, append([]any{"offer_query", map[string]any{"num_gpus": []any{int64(8)}}}, disk...), map[string]any{"max_burn_kop_h": int64(10_000)}, beyondLimit, false},
		"burn limit, exceeded before": {crowded, append([]any{"offer_query", nil, "offer_id", "own"}, disk...), map[string]any{"max_burn_kop_h": int64(7_000)}, beyondLimit, false},
		"no money, warning":           {poor, disk, nil, "Warning: Insufficient balance", true},
		"high prices":                 {dear, disk, nil, "costs more", true},
	} {
		for _, forced := range []bool{false, true} {
			if forced && test.warns {
				continue // the first plan does not know of the replacement
			}
			t.Run(fmt.Sprintf("%s, -replace: %t", name, forced), func(t *testing.T) {
				env := acctest.Start(t)
				offers := env.Offers("gpu=rtx_4090&num_gpus=1")
				config := unkeyed("a", "offer_query", nil, "offer_id", offers[0].ID)
				if test.change[0] != "offer_query" {
					config = unkeyed("a")
				}
				server := rentAll(t, env, config)[0]
				if test.before != nil {
					test.before(env)
				}
				planned := unkeyed("a", test.change...)
				if forced && planned["disk_gb"] == int64(61) {
					planned["disk_gb"] = int64(60)
				}
				switch planned["offer_id"] {
				case "own":
					planned["offer_id"] = offers[0].ID
				case "other":
					planned["offer_id"] = offers[1].ID
				}
				h := newRun(t, env, map[string]any{"spending": test.provider})
				h.refresh(server)
				text := severities(h.replace(server, planned, forced))
				if !strings.Contains(text, test.want) {
					t.Errorf("no %q in:\n%s", test.want, text)
				}
				if strings.Contains(text, "Error:") == test.warns {
					t.Errorf("an error: %t, want %t:\n%s", !test.warns, test.warns, text)
				}
			})
		}
	}
}

// severities is the text of all diagnostics as a CLI shows it.
func severities(diags []*tfprotov6.Diagnostic) string {
	return strings.NewReplacer("ERROR: ", "Error: ", "WARNING: ", "Warning: ").Replace(acctest.Words(said(diags)))
}

// The replacement of a tainted server is refused like any other.
func TestReplacement_RefusedAtPlan_Tainted(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	server := rentAll(t, env, unkeyed("a"))[0]
	for _, offer := range env.Offers("gpu=rtx_4090&num_gpus=1") {
		available(t, env, offer.ID, false)
	}
	h := newRun(t, env, nil)
	h.refresh(server)
	expect(t, "the plan", h.plan(nil, unkeyed("a")).diags, "ERROR: Cannot replace instance "+h.id(server)+": no matching offer")
	expect(t, "a new server", h.plan(nil, unkeyed("b")).diags, "WARNING: No matching offer")
}

// A cached market can still list the offer of the server that is to be replaced.
func TestReplacement_RefusedAtPlan_OnlyItsOwnOfferIsListed(t *testing.T) {
	var answers sync.Map
	env := acctest.Start(t, acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/offers") || r.URL.Query().Get("max_price_kop_h") == "" {
				next.ServeHTTP(w, r)
				return
			}
			body := &bufferedBody{ResponseWriter: w}
			next.ServeHTTP(body, r)
			first, _ := answers.LoadOrStore(r.URL.RawQuery, body.Bytes())
			w.Header().Del("Content-Length")
			if _, err := w.Write(first.([]byte)); err != nil {
				panic(http.ErrAbortHandler)
			}
		})
	}))
	config := unkeyed("a", "max_price_kop_h", env.Offers("gpu=rtx_4090&num_gpus=1")[0].Price.OnDemandKopH)
	server := rentAll(t, env, config)[0]
	h := newRun(t, env, nil)
	h.refresh(server)
	expect(t, "the plan", h.replace(server, config, true), "no matching offer")
}

// The offer that a server is rented from may not exist any more.
func TestReplacement_RefusedAtPlan_OwnOfferIsGone(t *testing.T) {
	t.Parallel()
	env, h, m := behindMiddlebox(t)
	config := unkeyed("a", "offer_query", nil, "offer_id", env.Offers("gpu=rtx_4090&num_gpus=1")[0].ID)
	server := rentAll(t, env, config)[0]
	m.set(func(w http.ResponseWriter, r *http.Request, service http.Handler) {
		if strings.Contains(r.URL.Path, "/offers/") {
			fails(w, http.StatusNotFound, "not_found")
			return
		}
		service.ServeHTTP(w, r)
	})
	config["disk_gb"] = int64(61)
	h.refresh(server)
	expect(t, "the plan", h.replace(server, config, false), "no matching offer")
}

// A renamed resource with its key takes its server over, so it needs no offer.
func TestReplacement_RenamedResource(t *testing.T) {
	env := acctest.Start(t)
	config := keyed("a", "offer_query", nil, "offer_id", env.Offers("gpu=rtx_4090&num_gpus=1")[0].ID)
	server := rentAll(t, env, config)[0]
	h := newRun(t, env, nil)
	h.refresh(server)
	planned := make(chan []*tfprotov6.Diagnostic)
	go func() { planned <- h.plan(nil, config).diags }()
	none := h.pack(h.noPrior())
	resp, err := h.server.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: instanceType, Config: none, PriorState: h.pack(server.state), PriorPrivate: server.private, ProposedNewState: none,
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "the plan for the old name", resp.Diagnostics)
	expect(t, "the plan for the new name", <-planned, "WARNING: Offer off_", "is not available")
}

// bufferedBody keeps the body of a successful answer back.
type bufferedBody struct {
	http.ResponseWriter
	bytes.Buffer
}

func (b *bufferedBody) Write(content []byte) (int, error) { return b.Buffer.Write(content) }

func (b *bufferedBody) WriteHeader(int) {}
