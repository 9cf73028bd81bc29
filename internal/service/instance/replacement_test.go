package instance_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A replacement does not count together with its predecessor, at plan and at apply.
func TestReplacement_BurnLimit(t *testing.T) {
	t.Parallel()
	for name, forced := range map[string]bool{"another disk": false, "-replace": true} {
		t.Run(name, func(t *testing.T) {
			env := acctest.Start(t)
			first, second := configWithKey("a"), configWithKey("b")
			instances := createAll(t, env, first, second)
			limit := map[string]any{"spending": map[string]any{"max_burn_kop_h": totalBurn(env) * 5 / 4}}
			if !forced {
				first["disk_gb"], second["disk_gb"] = int64(61), int64(61)
			}
			plan := newProvider(t, env, limit)
			for i, config := range []map[string]any{first, second} {
				plan.refresh(instances[i])
				expectDiags(t, "the plan", plan.planReplacement(instances[i], config, forced))
			}
			expectDiags(t, "a third server", plan.plan(nil, configWithoutKey("third")).diags, burnLimitExceeded)

			apply := newProvider(t, env, limit)
			for i := range instances {
				expectDiags(t, "the destruction", apply.destroy(instances[i]))
			}
			for i, config := range []map[string]any{first, second} {
				inst, diags := apply.apply(nil, config)
				expectDiags(t, "the replacement", diags)
				instances[i] = inst
			}
			_, diags := apply.apply(nil, configWithoutKey("third"))
			expectDiags(t, "a third server at apply", diags, burnLimitExceeded)
			if err := env.Left("instances", 2); err != nil {
				t.Error(err)
			}
		})
	}
}

// With create_before_destroy, both instances exist and count before the second one is rented.
func TestReplacement_BurnLimit_CreateBeforeDestroy(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	createAll(t, env, configWithoutKey("a"))
	tf := newProvider(t, env, map[string]any{"spending": map[string]any{"max_burn_kop_h": totalBurn(env) * 3 / 2}})
	_, diags := tf.apply(nil, configWithoutKey("a"))
	expectDiags(t, "the replacement", diags, burnLimitExceeded)
	if err := env.Left("instances", 1); err != nil {
		t.Error(err)
	}
}

// A replacement that cannot succeed fails at plan, while the old instance exists.
func TestReplacement_FailsAtPlan(t *testing.T) {
	t.Parallel()
	noOffers := func(env *acctest.Env) {
		for _, offer := range env.Offers("limit=200") {
			if err := env.SetOffer(offer.ID, simulator.OfferPatch{Available: new(false)}); err != nil {
				panic(err)
			}
		}
	}
	lowBalance := func(env *acctest.Env) {
		err := env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(100)), CreditLimitKop: new(int64(0))})
		if err != nil {
			panic(err)
		}
	}
	expensive := func(env *acctest.Env) {
		for _, offer := range env.Offers("limit=200") {
			if err := env.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: new(int64(900_000))}); err != nil {
				panic(err)
			}
		}
	}
	otherInstance := func(env *acctest.Env) { createAll(t, env, configWithoutKey("stranger")) }
	disk := []any{"disk_gb", int64(61)}
	for name, test := range map[string]struct {
		before   func(*acctest.Env)
		change   []any
		provider map[string]any
		want     string
		warns    bool // for a replacement that only warns, and only if the first plan has prior state
	}{
		"no offer": {noOffers, disk, nil, "no matching offer", false},
		"only its own": {
			nil, append([]any{"offer_query", nil, "offer_id", "own"}, disk...), nil, "may not be available for the replacement",
			true,
		},
		"no template": {nil, append([]any{"template", "none"}, disk...), nil, "No such template", false},
		"small disk":  {nil, []any{"disk_gb", int64(10)}, nil, "Disk below the template's minimum", false},
		"large disk": {
			nil, []any{"disk_gb", int64(2000), "offer_query", nil, "offer_id", "other"}, nil, "Disk above the offer's maximum",
			false,
		},
		"above the cap": {
			nil, append([]any{"max_price_kop_h", int64(1)}, disk...), nil, "no matching offer", false,
		},
		"no money, error": {
			lowBalance, disk, map[string]any{"require_funds": "error"}, "Error: Insufficient balance", false,
		},
		"burn limit": {
			nil, append([]any{"offer_query", map[string]any{"num_gpus": []any{int64(8)}}}, disk...),
			map[string]any{"max_burn_kop_h": int64(10_000)}, burnLimitExceeded, false,
		},
		"burn limit, exceeded before": {
			otherInstance, append([]any{"offer_query", nil, "offer_id", "own"}, disk...),
			map[string]any{"max_burn_kop_h": int64(7_000)}, burnLimitExceeded, false,
		},
		"no money, warning": {lowBalance, disk, nil, "Error: Insufficient balance", false},
		"high prices":       {expensive, disk, nil, "costs more", true},
	} {
		for _, forced := range []bool{false, true} {
			if forced && test.warns {
				continue // the first plan has no prior state of the replacement
			}
			t.Run(fmt.Sprintf("%s, -replace: %t", name, forced), func(t *testing.T) {
				env := acctest.Start(t)
				offers := env.Offers("gpu=rtx_4090&num_gpus=1")
				config := configWithoutKey("a", "offer_query", nil, "offer_id", offers[0].ID)
				if test.change[0] != "offer_query" {
					config = configWithoutKey("a")
				}
				inst := createAll(t, env, config)[0]
				if test.before != nil {
					test.before(env)
				}
				planned := configWithoutKey("a", test.change...)
				if forced && planned["disk_gb"] == int64(61) {
					planned["disk_gb"] = int64(60)
				}
				switch planned["offer_id"] {
				case "own":
					planned["offer_id"] = offers[0].ID
				case "other":
					planned["offer_id"] = offers[1].ID
				}
				tf := newProvider(t, env, map[string]any{"spending": test.provider})
				tf.refresh(inst)
				text := diagsAsShown(tf.planReplacement(inst, planned, forced))
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

// A cached listing can still contain the offer of the instance that is to be replaced.
func TestReplacement_FailsAtPlan_OnlyOwnOfferListed(t *testing.T) {
	var responses sync.Map
	env := acctest.Start(t, acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/offers") || r.URL.Query().Get("max_price_kop_h") == "" {
				next.ServeHTTP(w, r)
				return
			}
			body := newRecorder(w)
			next.ServeHTTP(body, r)
			first, _ := responses.LoadOrStore(r.URL.RawQuery, body.Body.Bytes())
			maps.Copy(w.Header(), body.Header())
			w.Header().Del("Content-Length")
			if _, err := w.Write(first.([]byte)); err != nil {
				panic(http.ErrAbortHandler)
			}
		})
	}))
	config := configWithoutKey("a", "max_price_kop_h", env.Offers("gpu=rtx_4090&num_gpus=1")[0].Price.OnDemandKopH)
	inst := createAll(t, env, config)[0]
	tf := newProvider(t, env, nil)
	tf.refresh(inst)
	expectDiags(t, "the plan", tf.planReplacement(inst, config, true), "no matching offer")
}

// The offer of an instance may no longer exist.
func TestReplacement_FailsAtPlan_OwnOfferDeleted(t *testing.T) {
	t.Parallel()
	env, tf, p := startWithProxy(t)
	config := configWithoutKey("a", "offer_query", nil, "offer_id", env.Offers("gpu=rtx_4090&num_gpus=1")[0].ID)
	inst := createAll(t, env, config)[0]
	p.set(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		if strings.Contains(r.URL.Path, "/offers/") {
			writeError(w, http.StatusNotFound, "not_found")
			return
		}
		api.ServeHTTP(w, r)
	})
	config["disk_gb"] = int64(61)
	tf.refresh(inst)
	expectDiags(t, "the plan", tf.planReplacement(inst, config, false), "no matching offer")
}
