package reconcile_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/reconcile"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// requestDestroyAll calls RequestDestroyAll with the time that a CLI gives its provider.
func requestDestroyAll(m *reconcile.Manager, members []reconcile.Member) error {
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	return m.RequestDestroyAll(rental.Urgent(ctx), members, spec(0).Object)
}

// One request destroys a member, without a wait. The error names each instance that is left.
func TestRequestDestroyAll(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		members := e.apply(spec(40), nil).Members
		time.Sleep(time.Minute) // the rate limit
		if err := e.simulator.AddFault(simulator.Fault{
			Method: "DELETE", Path: "/instances/" + members[7].Instance.ID, Status: 403,
		}); err != nil {
			t.Fatal(err)
		}
		e.latency = 200 * time.Millisecond
		lost := reconcile.Member{Slot: 40, Generation: 1}
		err := requestDestroyAll(e.manager(), append(slices.Clone(members), lost))
		if err == nil || !strings.HasPrefix(err.Error(), "instance "+members[7].Instance.ID+": ") ||
			strings.Count(err.Error(), "instance ins_") != 1 {
			t.Errorf("error %v, want one for instance %s", err, members[7].Instance.ID)
		}
		if n := e.count("DELETE"); n != len(members) {
			t.Errorf("%d requests for %d members", n, len(members))
		}
		time.Sleep(time.Minute)
		if left := e.active(); len(left) != 1 {
			t.Errorf("%d instances are left, want 1", len(left))
		}
	})
}

// With create_before_destroy, the replacement has already recovered the members.
func TestRequestDestroyAll_recoveredByReplacement(t *testing.T) {
	run(t, simulator.Config{}, func(t *testing.T, e *env) {
		members := e.apply(spec(2), nil).Members
		m := e.manager()
		replacement := spec(2)
		replacement.Object.Token = "replacement"
		if result := m.Apply(t.Context(), replacement, nil, 30*time.Minute); len(result.Recovered) != 2 {
			t.Fatal(describe(result))
		}
		if err := requestDestroyAll(m, members); err != nil || e.count("DELETE") > 0 {
			t.Errorf("%v, %d requests to destroy", err, e.count("DELETE"))
		}
	})
}
