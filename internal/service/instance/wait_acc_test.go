//go:build linux

package instance_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// slowly returns a provider that polls every 20 ms: its lists of a wait are 240 ms apart.
func slowly(env *acctest.Env) string {
	return strings.Replace(env.Provider(), `poll_interval = "1ms"`, `poll_interval = "20ms"`, 1)
}

// awaitLists waits until a running apply has listed the offers n more times.
func awaitLists(t *testing.T, env *acctest.Env, run *acctest.Run, n int) {
	t.Helper()
	for wanted := env.CountRequests("GET", "/offers") + n; env.CountRequests("GET", "/offers") < wanted; {
		if !run.Running() {
			t.Fatalf("the apply has ended:\n%s", run.Output())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// The price cap holds when an offer appears. A price that falls to the cap ends the wait.
func TestAccInstance_waitForOffer(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.WithoutQuirks("cached-offers"))
	env.AddSSHKey()
	offer := sellOut(t, env, "h100_sxm")[0]
	w := env.Workspace(slowly(env) + configByQuery(`{ gpu = ["h100_sxm"] }`, `wait_for_offer = "10m"`,
		"max_price_kop_h = 50000"))
	run := w.Start(t.Context(), "apply", "-auto-approve", "-no-color")
	for !strings.Contains(run.Output(), ": Creating...") && run.Running() {
		time.Sleep(10 * time.Millisecond)
	}
	awaitLists(t, env, run, 3)
	must(t, env.SetOffer(offer.ID, simulator.OfferPatch{Available: new(true), OnDemandKopH: new(int64(90_000))}))
	awaitLists(t, env, run, 4)
	if n := env.CountRequests("POST", "/instances"); n > 0 {
		t.Errorf("%d create requests above the cap", n)
	}
	must(t, env.SetOffer(offer.ID, simulator.OfferPatch{OnDemandKopH: new(int64(45_000))}))
	if output, code := run.Wait(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, output)
	}
	if err := env.Left("instances?status=all", 1); err != nil {
		t.Error(err)
	}
}

// An interrupted creation keeps the server in the state. A destruction right afterwards waits until the API allows it.
func TestAccInstance_interruptedCreation(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	boot := func(c *simulator.Config) { c.Boot = 5 * time.Minute }
	env := acctest.Start(t, boot, acctest.WithoutQuirks("all"), acctest.WithQuirks("busy-while-booting"))
	env.AddSSHKey()
	w := env.Workspace(slowly(env) + configByQuery(`{}`))
	run := w.Start(t.Context(), "apply", "-auto-approve", "-no-color")
	for run.Running() && env.CountRequests(http.MethodPost, "/instances") == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := run.Interrupt(); err != nil {
		t.Fatal(err)
	}
	output, _ := run.Wait()
	saved := acctest.SavedIn[struct{ ID, Status string }](w, instanceType)
	if len(saved) != 1 {
		t.Fatalf("the state has %v:\n%s", saved, output)
	}
	if status := saved[0].Attributes.Status; status != "creating" && status != "starting" {
		t.Fatalf("the server is %s after the interruption, so that the test shows nothing", status)
	}
	w.Run("destroy", "-auto-approve", "-no-color")
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}
