package instance_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// largeAccount adds instances of other configurations to the list, a thousand on each page, without end. The first page
// contains one with the name "duplicate". It counts the pages.
func largeAccount(pages *atomic.Int64) acctest.Option {
	var large atomic.Bool
	large.Store(true)
	return largeAccountWhile(&large, pages)
}

// largeAccountWhile is largeAccount while large is true.
func largeAccountWhile(large *atomic.Bool, pages *atomic.Int64) acctest.Option {
	return acctest.WithWrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !large.Load() || r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/instances") {
				next.ServeHTTP(w, r)
				return
			}
			page := pages.Add(1)
			entries := []string{
				`{"id":"duplicate","name":"duplicate","status":"running","type":"on_demand","price":{"running_kop_h":1}}`,
			}
			for i := range int64(999) {
				entries = append(
					entries,
					fmt.Sprintf(`{"id":"other-%d","status":"running","type":"on_demand","price":{"running_kop_h":1}}`, 1000*page+i),
				)
			}
			w.Header().Set("Content-Type", "application/json")
			body := fmt.Sprintf(`{"data":[%s],"next_cursor":"c%d"}`, strings.Join(entries, ","), page)
			io.WriteString(w, body) //nolint:errcheck // the client reports it
		})
	})
}

// listedPages is the number of pages after which a list of instances is too long.
const listedPages = 21

// In an account with more servers than the provider lists, a plan warns of what it cannot check, and fails if there is
// a limit.
func TestPlan_LargeAccount(t *testing.T) {
	const unchecked = "WARNING: Cannot check the names of all instances"
	burn := map[string]any{"spending": map[string]any{"max_burn_kop_h": int64(1e12)}}
	for name, test := range map[string]struct {
		arguments    map[string]any
		config       map[string]any
		first, other []string // of the plans for one server, and for another one; none: no diagnostics
	}{
		"without a key": {
			nil, configWithoutKey("a"), []string{unchecked, "more than 20000 entries", "idempotency_key"},
			[]string{unchecked},
		},
		"with a key":     {nil, configWithKey("a"), nil, nil},
		"without a name": {nil, configWithoutKey("", "name", nil), nil, []string{unchecked}},
		"a name on page 1": {
			nil, configWithoutKey("duplicate"), []string{"WARNING: Instance duplicate already has this name"},
			[]string{unchecked},
		},
		"a burn limit": {
			burn, configWithKey("a"), []string{"ERROR: Cannot check the spending limits", "more than 20000 entries"},
			[]string{"ERROR: Cannot check the spending limits"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var pages atomic.Int64
			env := acctest.Start(t, largeAccount(&pages))
			tf := newProvider(t, env, test.arguments)
			expectDiags(t, "the plan", tf.plan(nil, test.config).diags, test.first...)
			other := configWithoutKey("b")
			if test.config["idempotency_key"] != nil {
				other = configWithKey("b")
			}
			expectDiags(t, "the plan for another server", tf.plan(nil, other).diags, test.other...)
			most := int64(listedPages)
			if test.arguments != nil {
				most *= 2 // the limit reads the list separately
			}
			if pages.Load() > most {
				t.Errorf("%d pages were read, want %d at most", pages.Load(), most)
			}
		})
	}
}

// A burn limit that cannot be compared at apply prevents rentals, too.
func TestApply_BurnLimitInALargeAccount(t *testing.T) {
	var pages atomic.Int64
	var large atomic.Bool
	env := acctest.Start(t, largeAccountWhile(&large, &pages))
	tf := newProvider(t, env, map[string]any{"spending": map[string]any{"max_burn_kop_h": int64(1e12)}})
	plan := tf.plan(nil, configWithKey("a"))
	expectDiags(t, "the plan", plan.diags)
	large.Store(true)
	tf = newProvider(t, env, map[string]any{"spending": map[string]any{"max_burn_kop_h": int64(1e12)}})
	_, diags := tf.change(tf.absent(), plan, acctest.Value(tf.schema().ValueType(), configWithKey("a")))
	expectDiags(t, "the apply", diags, "ERROR: Cannot check the spending limits", "more than 20000 entries")
	if n := env.CountRequests(http.MethodPost, "/instances"); n != 0 {
		t.Errorf("%d servers were rented", n)
	}
}

// Servers are rented, read and destroyed in a large account, and a key is free when its server is gone.
func TestApply_LargeAccount(t *testing.T) {
	var pages atomic.Int64
	env := acctest.Start(t, largeAccount(&pages))
	tf := newProvider(t, env, nil)
	inst, diags := tf.apply(nil, configWithKey("a"))
	if hasError(diags) || inst == nil {
		t.Fatal(diagsText(diags))
	}
	tf.refresh(inst)
	expectDiags(t, "a plan without changes", tf.plan(inst, configWithKey("a")).diags)
	err := env.SetInstance(
		tf.idOf(inst),
		simulator.InstancePatch{Status: new("destroyed"), DesiredState: new("destroyed")},
	)
	if err != nil {
		t.Fatal(err)
	}
	second, diags := tf.apply(nil, configWithKey("b", "idempotency_key", "key-a"))
	if hasError(diags) || second == nil {
		t.Error("a second one, when the first is gone:", diagsText(diags))
	}
}
