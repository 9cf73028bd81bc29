//go:build linux

package fleet_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The fourth offer is rented by someone else between the list and the request. While there is no other one, an
// allocation of all members keeps nothing. When there is one in time, all exist.
func TestAccFleet_allWaitsForLostOffer(t *testing.T) {
	var env *acctest.Env
	var last string
	env = startStory(t, nil, onPost(false, func() { available(t, env, false, last) }))
	last = env.Offers("limit=200")[3].ID
	limitOffers(t, env, 4)
	fleet := anyOffer(plain(4, 20, `allocation = "all"`, `wait_for_offer = "5m"`))
	provider := strings.Replace(env.Provider(), `poll_interval = "1ms"`, `poll_interval = "20ms"`, 1)
	w := env.Workspace(provider + fleet)
	run := w.Start(t.Context(), "apply", "-auto-approve", "-no-color")
	rented := func() bool { return env.CountRequests(http.MethodPost, "/instances") > 0 }
	deadline := time.Now().Add(20 * time.Second)
	for run.Running() && !(rented() && len(live(env)) == 0) {
		if time.Now().After(deadline) {
			t.Errorf("the servers %v exist while there is no fourth offer", live(env))
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	available(t, env, true, last)
	if output, code := run.Wait(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, output)
	}
	expectLive(t, env, w, 4)
	expectEmptyPlan(t, w)
	expectDestroyed(t, env, w)
}
