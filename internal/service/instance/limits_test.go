package instance_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// answering makes the service answer requests for paths with the suffix like this, while it is switched on.
func answering(on *atomic.Bool, suffix string, status int, body string) acctest.Option {
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
	forbidden = `{"error":{"code":"forbidden","message":"scope missing"}}`
	internal  = `{"error":{"code":"internal","message":"trouble"}}`
)

// A limit that cannot be checked fails the plan, and the default check warns once.
func TestSpending_UnreadableAccount(t *testing.T) {
	hard, burn, warn := map[string]any{"require_funds": "error"}, map[string]any{"max_burn_kop_h": int64(1e9)}, map[string]any{"require_funds": "warn"}
	for name, test := range map[string]struct {
		suffix   string
		status   int
		body     string
		spending map[string]any
		want     []string // none: no diagnostics
	}{
		"403, error":           {"/balance", 403, forbidden, hard, []string{"ERROR: Cannot check the spending limits", "billing:read"}},
		"403, burn limit":      {"/balance", 403, forbidden, burn, []string{"ERROR: Cannot check the spending limits", "billing:read"}},
		"403, warn":            {"/balance", 403, forbidden, warn, []string{"WARNING: Cannot check the balance", "billing:read", "require_funds"}},
		"500, error":           {"/balance", 500, internal, hard, []string{"ERROR: Cannot check the spending limits", "trouble"}},
		"500, burn limit":      {"/balance", 500, internal, burn, []string{"ERROR: Cannot check the spending limits", "trouble"}},
		"500, warn":            {"/balance", 500, internal, warn, []string{"WARNING: Cannot check the balance", "trouble"}},
		"HTML, burn limit":     {"/balance", 200, "<html>", burn, []string{"ERROR: Cannot check the spending limits"}},
		"off":                  {"/balance", 500, internal, map[string]any{"require_funds": "off"}, nil},
		"instances, burn":      {"/instances", 500, internal, burn, []string{"ERROR: Cannot check the spending limits", "trouble"}},
		"offers, error":        {"/offers", 500, internal, hard, []string{"ERROR: Cannot determine the price of the planned instance"}},
		"offers, burn limit":   {"/offers", 500, internal, burn, []string{"ERROR: Cannot determine the price of the planned instance"}},
		"offers, without them": {"/offers", 500, internal, warn, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var on atomic.Bool
			env := acctest.Start(t, answering(&on, test.suffix, test.status, test.body))
			on.Store(true)
			h := newRun(t, env, map[string]any{"max_retries": int64(0), "spending": test.spending})
			expect(t, "the plan", h.plan(nil, unkeyed("a")).diags, test.want...)
			second := h.plan(nil, unkeyed("b")).diags
			if warned := len(test.want) > 0 && strings.HasPrefix(test.want[0], "WARNING"); warned {
				expect(t, "the plan for a second server", second)
			} else {
				expect(t, "the plan for a second server", second, test.want...)
			}
		})
	}
}

// Where plans have no totals, nothing is rented or started while the burn limit cannot be checked.
func TestSpending_UnreadableAccountAtApply(t *testing.T) {
	for _, suffix := range []string{"/balance", "/offers"} {
		t.Run(suffix, func(t *testing.T) {
			var on atomic.Bool
			env := acctest.Start(t, answering(&on, suffix, http.StatusForbidden, forbidden))
			h := newHost(t, env, map[string]any{"max_retries": int64(0), "spending": map[string]any{"max_burn_kop_h": int64(1e9)}})
			plan := h.plan(nil, unkeyed("a"))
			expect(t, "the plan", plan.diags)
			on.Store(true)
			_, diags := h.change(h.noPrior(), plan, acctest.Value(h.schema().ValueType(), unkeyed("a")))
			expect(t, "the apply", diags, "ERROR: Cannot check the spending limits")
			if err := env.NothingLeft("instances?status=all"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A burn limit holds for a server whose offer the plan did not find.
func TestSpending_OfferAppearsAfterThePlan(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		list string // the first answer to GET /offers
		byID bool
		want string
	}{
		"unavailable, by id": {byID: true, want: "is not available"},
		"by query":           {list: `{"data":[],"next_cursor":null}`, want: beyondLimit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &middlebox{}
			env := acctest.Start(t, acctest.WithWrap(m.wrap))
			offer, _ := cheapest(env)
			config := unkeyed("a")
			if test.byID {
				config["offer_query"], config["offer_id"] = nil, offer.ID
				available(t, env, offer.ID, false)
			}
			var answered atomic.Bool
			m.set(func(w http.ResponseWriter, r *http.Request, service http.Handler) {
				if test.list != "" && strings.HasSuffix(r.URL.Path, "/offers") && !answered.Swap(true) {
					w.Header().Set("Content-Type", "application/json")
					io.WriteString(w, test.list) //nolint:errcheck // the client reports it
					return
				}
				if isCreate(r) && test.byID {
					available(t, env, offer.ID, true)
				}
				service.ServeHTTP(w, r)
			})
			h := newRun(t, env, map[string]any{"max_retries": int64(0), "spending": map[string]any{"max_burn_kop_h": int64(1)}})
			_, diags := h.apply(nil, config)
			expect(t, "the apply", diags, "ERROR: ", test.want)
			if err := env.NothingLeft("instances?status=all"); err != nil {
				t.Error(err)
			}
		})
	}
}

// The warning about an equal name does not name servers of this state, even if the new server is planned first.
func TestPlan_NameOfAnotherServer(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	server := rentAll(t, env, unkeyed("a"))[0]
	const warning = "already has this name"
	expect(t, "in no state", newRun(t, env, nil).plan(nil, unkeyed("a")).diags, warning)

	h := newRun(t, env, nil)
	planned := make(chan []*tfprotov6.Diagnostic)
	before := env.CountRequests("GET", "/instances")
	go func() { planned <- h.plan(nil, unkeyed("a")).diags }()
	for deadline := time.Now().Add(5 * time.Second); env.CountRequests("GET", "/instances") == before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the plan does not list the servers")
		}
	}
	expect(t, "the server itself", h.plan(server, unkeyed("a")).diags)
	expect(t, "a server of the same name, planned first", <-planned)
	expect(t, "a server of the same name, planned later", h.plan(nil, unkeyed("a")).diags)
}
