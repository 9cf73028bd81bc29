package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A fleet needs a request for each member that it creates or destroys, and one for each page of a list.
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
			w.Configure(fleetConfig(scaledPolling, size))
			constant := func(n int) func(time.Duration) int { return func(time.Duration) int { return n } }
			pages := size/pageSize + 1
			countRequests(t, env, w, constant(6+4*pages), "plan", "-out=plan")
			countRequests(t, env, w, constant(size*115/100+15+10*pages), "apply", "plan")
			countRequests(t, env, w, constant(pages+1), "plan", "-refresh-only")
			countRequests(t, env, w, constant(pages+1), "plan", "-detailed-exitcode")
			countRequests(t, env, w, constant(pages+1), "plan", "-refresh=false", "-detailed-exitcode")
			countRequests(t, env, w, constant(maxDestroyRequests(size)), "destroy", "-auto-approve")
		})
	}
}
