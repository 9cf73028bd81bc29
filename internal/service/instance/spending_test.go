package instance_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// respondWith makes the simulator respond to requests for paths with a suffix, while it is switched on.
func respondWith(on *atomic.Bool, suffix string, status int, body string) acctest.Option {
	return acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !on.Load() || !strings.HasSuffix(r.URL.Path, suffix) || r.Method != http.MethodGet {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			if _, err := w.Write([]byte(body)); err != nil {
				panic(http.ErrAbortHandler)
			}
		})
	})
}

const (
	forbiddenBody = `{"error":{"code":"forbidden","message":"scope missing"}}`
	internalBody  = `{"error":{"code":"internal","message":"trouble"}}`
)

// A limit that cannot be compared fails the plan. The default check warns.
func TestSpending_UnreadableAccount(t *testing.T) {
	hard, burn, warn := map[string]any{
		"require_funds": "error",
	}, map[string]any{
		"max_burn_kop_h": int64(1e9),
	}, map[string]any{
		"require_funds": "warn",
	}
	for name, test := range map[string]struct {
		suffix   string
		status   int
		body     string
		spending map[string]any
		want     []string // none: no diagnostics
	}{
		"403, error": {
			"/balance", 403, forbiddenBody, hard, []string{"ERROR: Cannot check the spending limits", "billing:read"},
		},
		"403, burn limit": {
			"/balance", 403, forbiddenBody, burn, []string{"ERROR: Cannot check the spending limits", "billing:read"},
		},
		"403, warn": {
			"/balance", 403, forbiddenBody, warn, []string{"WARNING: Cannot check the balance", "billing:read", "require_funds"},
		},
		"500, error": {
			"/balance", 500, internalBody, hard, []string{"ERROR: Cannot check the spending limits", "trouble"},
		},
		"500, burn limit": {
			"/balance", 500, internalBody, burn, []string{"ERROR: Cannot check the spending limits", "trouble"},
		},
		"500, warn": {
			"/balance", 500, internalBody, warn, []string{"WARNING: Cannot check the balance", "trouble"},
		},
		"HTML, burn limit": {"/balance", 200, "<html>", burn, []string{"ERROR: Cannot check the spending limits"}},
		"off":              {"/balance", 500, internalBody, map[string]any{"require_funds": "off"}, nil},
		"instances, burn": {
			"/instances", 500, internalBody, burn, []string{"ERROR: Cannot check the spending limits", "trouble"},
		},
		"offers, error": {
			"/offers", 500, internalBody, hard, []string{"ERROR: Cannot determine the price of the planned instance"},
		},
		"offers, burn limit": {
			"/offers", 500, internalBody, burn, []string{"ERROR: Cannot determine the price of the planned instance"},
		},
		"offers, without them": {"/offers", 500, internalBody, warn, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var on atomic.Bool
			env := acctest.Start(t, respondWith(&on, test.suffix, test.status, test.body))
			on.Store(true)
			tf := newProvider(t, env, map[string]any{"max_retries": int64(0), "spending": test.spending})
			expectDiags(t, "the plan", tf.plan(nil, configWithoutKey("a")).diags, test.want...)
			expectDiags(t, "the plan for a second server", tf.plan(nil, configWithoutKey("b")).diags, test.want...)
		})
	}
}

// Nothing is rented or started while the burn limit cannot be compared.
func TestSpending_UnreadableAccountAtApply(t *testing.T) {
	for suffix, want := range map[string]string{
		"/balance": "ERROR: Cannot check the spending limits", "/offers": "ERROR: Cannot list offers",
	} {
		t.Run(suffix, func(t *testing.T) {
			var on atomic.Bool
			env := acctest.Start(t, respondWith(&on, suffix, http.StatusForbidden, forbiddenBody))
			limit := map[string]any{"max_retries": int64(0), "spending": map[string]any{"max_burn_kop_h": int64(1e9)}}
			plan := newProvider(t, env, limit).plan(nil, configWithoutKey("a"))
			expectDiags(t, "the plan", plan.diags)
			on.Store(true)
			tf := newProvider(t, env, limit)
			_, diags := tf.change(tf.absent(), plan, acctest.Value(tf.schema().ValueType(), configWithoutKey("a")))
			expectDiags(t, "the apply", diags, want)
			if err := env.NothingLeft("instances?status=all"); err != nil {
				t.Error(err)
			}
		})
	}
}

// The burn limit applies to an instance for which the plan found no offer.
func TestSpending_OfferAppearsAfterThePlan(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		list string // the first response to GET /offers
		byID bool
		want string
	}{
		"unavailable, by id": {byID: true, want: "is not available"},
		"by query":           {list: `{"data":[],"next_cursor":null}`, want: burnLimitExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &proxy{}
			env := acctest.Start(t, acctest.WithWrap(p.wrap))
			offer, _ := cheapestOffer(env)
			config := configWithoutKey("a")
			if test.byID {
				config["offer_query"], config["offer_id"] = nil, offer.ID
				setAvailable(t, env, offer.ID, false)
			}
			var answered atomic.Bool
			p.set(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
				if test.list != "" && strings.HasSuffix(r.URL.Path, "/offers") && !answered.Swap(true) {
					w.Header().Set("Content-Type", "application/json")
					io.WriteString(w, test.list) //nolint:errcheck // the client reports it
					return
				}
				if isCreate(r) && test.byID {
					setAvailable(t, env, offer.ID, true)
				}
				api.ServeHTTP(w, r)
			})
			tf := newProvider(
				t,
				env,
				map[string]any{"max_retries": int64(0), "spending": map[string]any{"max_burn_kop_h": int64(1)}},
			)
			_, diags := tf.apply(nil, config)
			expectDiags(t, "the apply", diags, "ERROR: ", test.want)
			if err := env.NothingLeft("instances?status=all"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A new instance is outbid while it boots, and a new bid would exceed the burn limit: the error describes the start,
// and not a rental that costs too much.
func TestSpending_OutbidNewInstanceAboveLimit(t *testing.T) {
	t.Parallel()
	p := &proxy{}
	env := acctest.Start(t, acctest.WithWrap(p.wrap))
	price := *env.CheapestOffer("rtx_4090", "interruptible").Price.InterruptibleKopH
	tf := newProvider(t, env, map[string]any{
		"max_retries": int64(0), "spending": map[string]any{"max_burn_kop_h": price * 3},
	})
	var created atomic.Bool
	p.set(func(w http.ResponseWriter, r *http.Request, api http.Handler) {
		created.CompareAndSwap(false, isCreate(r))
		always := func(*http.Request) bool { return true }
		switch {
		case created.Load() && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/offers/"):
			rewriteResponse(always, func(body map[string]any) {
				body["price"].(map[string]any)["interruptible_kop_h"] = price * 50
			})(w, r, api)
		case isGet(r):
			rewriteResponse(isGet, func(body map[string]any) { body["status"] = "outbid" })(w, r, api)
		default:
			api.ServeHTTP(w, r)
		}
	})
	inst, diags := tf.apply(nil, configWithoutKey("a", "type", "interruptible"))
	if inst == nil {
		t.Error("the state has no instance")
	}
	expectDiags(t, "the apply", diags, "max_burn_kop_h", "was not rented or started")
	if strings.Contains(diagsText(diags), "could not be removed") {
		t.Error("the error describes a rental")
	}
}
