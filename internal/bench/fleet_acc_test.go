package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A fleet needs a request for each member that it creates or destroys, and one for each page of a list. The test logs
// the time of a refresh beside those of a fleet without members and of a plan without a refresh.
func TestAccRequests_Fleet(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	sizes := []int{60}
	if acctest.Whole() {
		sizes = []int{200, 1000, 5000}
	}
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			env := startUnlimited(t, size)
			w := env.Workspace(fleetConfig(scaledPolling, 0))
			w.Run("apply", "-auto-approve")
			began := time.Now()
			w.Run("plan", "-refresh-only")
			empty := time.Since(began)
			w.Configure(fleetConfig(scaledPolling, size))
			constant := func(n int) func(time.Duration) int { return func(time.Duration) int { return n } }
			pages := size/pageSize + 1
			countRequests(t, env, w, constant(6+4*pages), "plan", "-out=plan")
			countRequests(t, env, w, constant(size*115/100+15+10*pages), "apply", "plan")
			began = time.Now()
			countRequests(t, env, w, constant(pages+1), "plan", "-refresh-only")
			t.Logf("refresh of %d members: %s, of none: %s", size, time.Since(began), empty)
			began = time.Now()
			countRequests(t, env, w, constant(pages+1), "plan", "-detailed-exitcode")
			refreshed := time.Since(began)
			began = time.Now()
			countRequests(t, env, w, constant(0), "plan", "-refresh=false", "-detailed-exitcode")
			t.Logf("plan of %d members: %s with a refresh, %s without", size, refreshed, time.Since(began))
			countRequests(t, env, w, constant(maxDestroyRequests(size)), "destroy", "-auto-approve")
		})
	}
}
