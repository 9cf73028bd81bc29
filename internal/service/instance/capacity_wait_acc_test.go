//go:build linux

package instance_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// waitingProvider returns a provider whose lists of a wait are 240 ms apart.
func waitingProvider(env *acctest.Env, arguments ...string) string {
	return strings.Replace(env.Provider(arguments...), `poll_interval = "1ms"`, `poll_interval = "20ms"`, 1)
}

// awaitLooks waits until a creation of a running apply has begun, and has listed the offers n more times.
func awaitLooks(t *testing.T, env *acctest.Env, run *acctest.Run, n int) {
	t.Helper()
	lists := func() (count int) {
		for _, r := range env.Requests() {
			if r.Path == "/offers" && !strings.Contains(r.Query, "cursor") {
				count++
			}
		}
		return count
	}
	for !strings.Contains(run.Output(), ": Creating...") && run.Running() {
		time.Sleep(10 * time.Millisecond)
	}
	for wanted := lists() + n; lists() < wanted; time.Sleep(10 * time.Millisecond) {
		if !run.Running() {
			t.Fatalf("the apply has ended:\n%s", run.Output())
		}
	}
}

// configOfWaiting returns instances that wait for an H100.
func configOfWaiting(count int, arguments ...string) string {
	return fmt.Sprintf(`
resource "gpurent_instance" "trainer" {
  count          = %d
  name           = "trainer-${count.index}"
  template       = "pytorch"
  disk_gb        = 60
  offer_query    = { gpu = ["h100_sxm"] }
  %s
}
`, count, strings.Join(arguments, "\n  "))
}

// The price cap and the burn limit hold when an offer appears, also if others rented instances during the wait. A price
// that falls to the cap ends the wait.
func TestAccInstance_waitForOfferPrice(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance", "cached-offers"))
	env.AddSSHKey()
	offers := sellOut(t, env, "h100_sxm")
	offer := offers[0]
	const limit = "max_price_kop_h = 50000"
	w := env.Workspace(waitingProvider(env) + configOfWaiting(1, `wait_for_offer = "1m"`, limit))
	run := w.Start(t.Context(), "apply", "-auto-approve", "-no-color")
	awaitLooks(t, env, run, 3)
	setOffer(t, env, offer.ID, simulator.OfferPatch{Available: new(true), OnDemandKopH: new(int64(90_000))})
	awaitLooks(t, env, run, 4)
	if creates := env.CountRequests("POST", "/instances"); creates > 0 {
		t.Errorf("%d create requests above the cap", creates)
	}
	setOffer(t, env, offer.ID, simulator.OfferPatch{OnDemandKopH: new(int64(45_000))})
	if output, code := run.Wait(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, output)
	}

	w.Configure(waitingProvider(env, "spending = { max_burn_kop_h = 100000 }") +
		configOfWaiting(2, `wait_for_offer = "1m"`, limit))
	run = w.Start(t.Context(), "apply", "-auto-approve", "-no-color")
	awaitLooks(t, env, run, 3)
	setOffer(t, env, offers[2].ID, simulator.OfferPatch{Available: new(true), OnDemandKopH: new(int64(60_000))})
	env.Offers("gpu=h100_sxm") // reads the new price
	env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":60}`, offers[2].ID))
	setOffer(t, env, offers[1].ID, simulator.OfferPatch{Available: new(true), OnDemandKopH: new(int64(40_000))})
	output, code := run.Wait()
	if code != 1 || !strings.Contains(acctest.WithoutFrame(output), "max_burn_kop_h") {
		t.Errorf("exit code %d:\n%s", code, output)
	}
	if err := env.Left("instances", 2); err != nil {
		t.Error(err)
	}
}

// Ctrl-C ends the wait at once with nothing rented, and the message describes what was missing.
func TestAccInstance_waitForOfferInterrupted(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	env.AddSSHKey()
	cheapest := env.Offers("gpu=h100_sxm")[0].Price.OnDemandKopH
	w := env.Workspace(waitingProvider(env) + configOfWaiting(
		2, `wait_for_offer = "10m"`, fmt.Sprintf("max_price_kop_h = %d", cheapest-1),
	))
	run := w.Start(t.Context(), "apply", "-auto-approve", "-no-color")
	awaitLooks(t, env, run, 2)
	began := time.Now()
	if err := run.Interrupt(); err != nil {
		t.Fatal(err)
	}
	output, code := run.Wait()
	text := acctest.Words(acctest.WithoutFrame(output))
	for _, want := range []string{
		"The run was interrupted before anything was rented. Apply again.",
		"Available on_demand offers with this gpu: ",
		"Without max_price_kop_h, ", "the cheapest costs",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the output:\n%s", want, output)
		}
	}
	if took := time.Since(began); code != 1 || took > 3*time.Second {
		t.Errorf("exit code %d after %s", code, took)
	}
	if n := env.CountRequests("POST", "/instances"); n > 0 {
		t.Errorf("%d create requests", n)
	}
}
