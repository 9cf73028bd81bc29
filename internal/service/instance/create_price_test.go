package instance_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// The price in every response to a create request is compared with the cap. Above it, an instance of this apply is
// destroyed, an instance of an earlier run is stopped, and the state matches the result.
func TestCreate_ResponseAboveCap(t *testing.T) {
	t.Parallel()
	unavailable := func(method, suffix string, intercept interceptor) interceptor {
		return func(w http.ResponseWriter, r *http.Request, api http.Handler) {
			if r.Method == method && strings.HasSuffix(r.URL.Path, suffix) && strings.Contains(r.URL.Path, "/instances/") {
				writeError(w, http.StatusServiceUnavailable, "provider_unavailable")
				return
			}
			intercept(w, r, api)
		}
	}
	for name, test := range map[string]struct {
		intercept interceptor
		earlier   bool // an earlier run rented it with the same key
		byQuery   bool
		want      string
		state     bool
		status    string // in the service
	}{
		"new": {
			intercept: rewriteResponse(isCreate, raisePrice), want: "The API accepted the request to destroy",
			status: "destroyed",
		},
		"new, by query": {
			intercept: rewriteResponse(isCreate, raisePrice), byQuery: true, want: "The API accepted the request to destroy",
			status: "destroyed",
		},
		"own or another run's, replayed": {
			intercept: loseFirstResponse(isCreate, rewriteResponse(isCreateOrGet, raisePrice)),
			want:      "it was stopped", state: true, status: "stopped",
		},
		"new, cannot be destroyed": {
			intercept: unavailable("DELETE", "", rewriteResponse(isCreate, raisePrice)),
			want:      "It could not be removed", state: true, status: "running",
		},
		"new, expensive when read": {
			intercept: rewriteResponse(isGet, raisePrice), want: "The API accepted the request to destroy",
			status: "destroyed",
		},
		"earlier, refused at first": {
			intercept: conflictTwice(isStop, rewriteResponse(isCreateOrGet, raisePrice)), earlier: true,
			want: "it was stopped", state: true, status: "stopped",
		},
		"earlier, stop is lost": {
			intercept: loseFirstResponse(isStop, rewriteResponse(isCreateOrGet, raisePrice)), earlier: true,
			want: "it was stopped", state: true, status: "stopped",
		},
		"earlier": {
			intercept: rewriteResponse(isCreateOrGet, raisePrice), earlier: true,
			want:  "it was stopped",
			state: true, status: "stopped",
		},
		"earlier, cannot be stopped": {
			intercept: unavailable("POST", "/stop", rewriteResponse(isCreateOrGet, raisePrice)), earlier: true,
			want: "It could not be removed", state: true, status: "running",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, p := startWithProxy(t)
			offer, price := cheapestOffer(env)
			config := configWithKey("a", "max_price_kop_h", price)
			if !test.byQuery {
				config["offer_query"], config["offer_id"] = nil, offer.ID
			}
			if test.earlier {
				_, diags := newProvider(t, env, nil).apply(nil, config)
				expectDiags(t, "the earlier run", diags)
				env.Advance(time.Minute)
			}
			p.set(test.intercept)
			inst, diags := tf.apply(nil, config)
			p.set(nil)
			expectDiags(t, "the apply", diags, test.want, "9 900,16", "max_price_kop_h is")
			if (inst != nil) != test.state {
				t.Fatalf("in the state: %t", inst != nil)
			}
			env.Advance(time.Minute)
			all := acctest.Fetch[struct {
				Data []struct{ ID, Status string }
			}](env, "instances?status=all").Data
			if len(all) != 1 || all[0].Status != test.status || test.state && all[0].ID != tf.idOf(inst) {
				t.Errorf("instances %v, want one that is %s", all, test.status)
			}
		})
	}
}

// The price of the disk does not count against the cap.
func TestCreate_CapExcludesDisk(t *testing.T) {
	t.Parallel()
	env, tf, _ := startWithProxy(t)
	offer, price := cheapestOffer(env)
	inst, diags := tf.apply(nil, configWithOffer("a", offer.ID, price, "disk_gb", int64(120)))
	expectDiags(t, "the apply", diags)
	var parts map[string]tftypes.Value
	if err := tf.attribute(inst, "price").As(&parts); err != nil {
		t.Fatal(err)
	}
	if parts["running_kop_h"].Equal(tftypes.NewValue(tftypes.Number, price)) {
		t.Error("the disk costs nothing: this tests nothing")
	}
}

// An offer above the cap is not rented, whether or not it is available.
func TestCreate_UnavailableOfferAboveCap(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]any{"random key": nil, "fixed key": "k"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, p := startWithProxy(t)
			offer, price := cheapestOffer(env)
			// The API rents although the listing and the offer show that it is not available.
			p.set(
				rewriteResponse(
					func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/offers/"+offer.ID) },
					func(body map[string]any) {
						body["available"] = false
						body["price"].(map[string]any)["on_demand_kop_h"] = price + 1
					},
				),
			)
			inst, diags := tf.apply(nil, configWithOffer("a", offer.ID, price, "idempotency_key", key))
			expectDiags(t, "the apply", diags, "Offer price above max_price_kop_h")
			if inst != nil {
				t.Error("the state has a server")
			}
			expectCount(t, env, 0, 0)
		})
	}
}

// An unavailable offer is not requested with a random key. It is requested with a fixed key, because an earlier run may
// have rented it.
func TestCreate_OfferUnavailable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		key   any
		posts int
	}{"random key": {nil, 0}, "fixed key": {"k", 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, _ := startWithProxy(t)
			offer, price := cheapestOffer(env)
			setAvailable(t, env, offer.ID, false)
			_, diags := tf.apply(nil, configWithOffer("a", offer.ID, price, "idempotency_key", test.key))
			expectDiags(t, "the apply", diags, "offer "+offer.ID+" is not available")
			if n := env.CountRequests("POST", "/instances"); n != test.posts {
				t.Errorf("%d requests to rent, want %d", n, test.posts)
			}
		})
	}
}

// The instance of an earlier run is recovered by its key although its offer is above the cap. Its own price is locked.
func TestCreate_RecoversInstanceWhileOfferIsAboveCap(t *testing.T) {
	t.Parallel()
	env, tf, _ := startWithProxy(t)
	offer, price := cheapestOffer(env)
	config := configWithOffer("a", offer.ID, price)
	first, diags := newProvider(t, env, nil).apply(nil, config)
	expectDiags(t, "the earlier run", diags)
	env.Advance(time.Minute)
	if err := env.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: new(2 * price)}); err != nil {
		t.Fatal(err)
	}
	// The plan would fail before the request, so this test covers a price that rises after the plan.
	plan := tf.plan(nil, configWithKey("a", "offer_query", nil, "offer_id", offer.ID, "max_price_kop_h", 3*price))
	config["max_price_kop_h"] = price
	value := acctest.Value(tf.schema().ValueType(), config)
	plan.state = tf.pack(tf.with(tf.unpack(plan.state), "max_price_kop_h", price))
	inst, diags := tf.change(acctest.Value(tf.schema().ValueType(), nil), plan, value)
	expectDiags(t, "the recovery", diags, "Recovered instance "+tf.idOf(first))
	if tf.idOf(inst) != tf.idOf(first) {
		t.Error("it is another server")
	}
}

// The price is read again before a repetition. Above the cap, the repetition can only return the instance of an earlier
// attempt.
func TestCreate_PriceRisesBetweenRetries(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rented bool // by the request whose response was lost
		want   string
	}{
		"nothing was rented": {false, "Offer price above max_price_kop_h"},
		"it was rented":      {true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, tf, p := startWithProxy(t, "request_timeout", "1s") // after which no lost request is in flight
			offer, price := cheapestOffer(env)
			var posts atomic.Int64
			p.set(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
				if !isCreate(r) || posts.Add(1) > 3 {
					api.ServeHTTP(w, r)
					return
				}
				if posts.Load() == 1 && test.rented {
					api.ServeHTTP(newRecorder(w), r)
				}
				if err := env.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: new(100 * price)}); err != nil {
					t.Error(err)
				}
				writeError(w, http.StatusServiceUnavailable, "provider_unavailable")
			})
			inst, diags := tf.apply(nil, configWithOffer("a", offer.ID, price, "idempotency_key", nil))
			p.set(nil)
			if test.want == "" {
				expectDiags(t, "the apply", diags)
				tf.fetch(env, inst)
				expectCount(t, env, 1, 1)
				return
			}
			expectDiags(t, "the apply", diags, test.want)
			expectCount(t, env, 0, 0)
		})
	}
}
