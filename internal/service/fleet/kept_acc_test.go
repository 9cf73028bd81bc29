//go:build linux

package fleet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/rental"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// startFailed starts a simulator and applies a fleet of two members whose creation fails. The burn limit allows three
// servers.
func startFailed(t *testing.T) (env *acctest.Env, provider string, w *acctest.Workspace) {
	t.Helper()
	// A CLI kills its provider after two seconds, which is too short for retries.
	env, provider = startLimited(t, 3, acctest.WithoutQuirks("status-after-work", "gateway-errors"))
	w = env.Workspace(provider + plain(2, 20, ready, `timeouts = { create = "3s" }`))
	if output, err := w.Try("apply", "-auto-approve", "-no-color"); err == nil {
		t.Fatal(output)
	}
	if len(members(w)) != 2 {
		t.Fatalf("members %v, want 2", members(w))
	}
	return env, provider, w
}

// afterLostReplacement checks that no member is left of a fleet whose replacement was not created, and that the next
// apply creates the fleet.
func afterLostReplacement(t *testing.T, env *acctest.Env, w *acctest.Workspace, provider string) {
	t.Helper()
	env.Advance(time.Minute)
	for name, id := range active(env) {
		if strings.HasPrefix(name, "train-") {
			t.Errorf("instance %s (%s) is active, and the state has %v", id, name, members(w))
		}
	}
	w.Configure(provider + plain(2, 20))
	w.Run("apply", "-auto-approve", "-no-color")
	if now := members(w); len(now) != 2 {
		t.Errorf("members %v after the next apply, want 2", now)
	}
	contains(t, w.Run("plan", "-no-color"), "No changes.")
	w.Run("destroy", "-auto-approve")
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// Terraform destroys a tainted fleet before it creates its replacement. If the apply ends in between, the state has no
// fleet, so its members are destroyed.
func TestAccFleet_keptMembersWithoutReplacement(t *testing.T) {
	const dependency = `
resource "gpurent_ssh_key" "k" {
  name       = "k"
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0OaWIZVOCwxY7BYFB7Yrr2jRTWMGGTNCXvpGzCvGuL"
}
`
	const size = "resource \"terraform_data\" \"size\" {\n  input = -1\n}\n"
	unknownSize := strings.Replace(plain(2, 20), "size     = 2", "size     = terraform_data.size.output", 1)
	for name, test := range map[string]struct{ config, error string }{
		"failed dependency": {dependency + plain(2, 20, "depends_on = [gpurent_ssh_key.k]"), "Cannot create SSH key"},
		"rejected plan":     {size + unknownSize, "value must be between 0 and 5000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, provider, w := startFailed(t)
			if err := env.AddFault(simulator.Fault{Method: "POST", Path: "/ssh-keys", Status: 403}); err != nil {
				t.Fatal(err)
			}
			w.Configure(provider + test.config)
			output, err := w.Try("apply", "-auto-approve", "-no-color")
			if err == nil {
				t.Error("the apply succeeds")
			}
			contains(t, output, "Fleet train keeps its members", "If the apply ends before", test.error)
			afterLostReplacement(t, env, w, provider)
		})
	}
}

// The same for Ctrl-C between the destruction and the creation.
func TestAccFleet_keptMembersInterrupted(t *testing.T) {
	t.Parallel()
	env, provider, w := startFailed(t)
	dependency := fmt.Sprintf(`
resource "gpurent_instance" "first" {
  name        = "first"
  template    = "pytorch"
  disk_gb     = 20
  offer_query = { gpu = ["rtx_4090"], num_gpus = [1] }
  %s
}
`, ready)
	w.Configure(provider + dependency + plain(2, 20, "depends_on = [gpurent_instance.first]"))
	run := w.Start(t.Context(), "apply", "-auto-approve", "-no-color")
	waits := func() bool {
		return active(env)["first"] != "" && strings.Contains(run.Output(), "Destruction complete")
	}
	for deadline := time.Now().Add(time.Minute); !waits(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) || !run.Running() {
			t.Fatalf("the apply does not wait for its first server:\n%s", run.Output())
		}
	}
	if err := run.Interrupt(); err != nil {
		t.Fatal(err)
	}
	if output, code := run.Wait(); code == 0 {
		t.Errorf("the apply succeeds:\n%s", output)
	}
	afterLostReplacement(t, env, w, provider)
}

// With create_before_destroy, the replacement recovers the members first, and the deletion that follows destroys none.
func TestAccFleet_keptMembersCreateBeforeDestroy(t *testing.T) {
	t.Parallel()
	env, provider, w := startFailed(t)
	before := members(w)
	w.Configure(provider + plain(2, 20, "lifecycle { create_before_destroy = true }"))
	w.Run("apply", "-auto-approve", "-no-color")
	if now := members(w); len(now) != 2 || kept(before, now) != 2 {
		t.Errorf("%v, before %v", now, before)
	}
	contains(t, w.Run("plan", "-no-color"), "No changes.")
	w.Run("destroy", "-auto-approve")
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// The continuation of a failed creation replaces no member that the plan has not named.
func TestAccFleet_keptMemberFailsAfterPlan(t *testing.T) {
	t.Parallel()
	env, provider := startLimited(t, 4, acctest.WithoutQuirks("status-after-work", "gateway-errors"))
	w := env.Workspace(provider + plain(2, 20, ready, `timeouts = { create = "3s" }`))
	if output, err := w.Try("apply", "-auto-approve", "-no-color"); err == nil {
		t.Fatal(output)
	}
	before := members(w)
	w.Configure(provider + plain(2, 20))
	contains(t, w.Run("plan", "-no-color", "-out=plan"), "Fleet train keeps its members", "!is replaced")
	failed := simulator.InstancePatch{Status: new(string(rental.StatusFailed))}
	if err := env.SetInstance(before["1"], failed); err != nil {
		t.Fatal(err)
	}
	output, err := w.Try("apply", "-no-color", "plan")
	if err == nil {
		t.Error("the apply reports no failed member")
	}
	contains(t, output, "is failed now, and the plan did not show that it is destroyed")
	if now := members(w); now["1"] != before["1"] {
		t.Errorf("%v, before %v", now, before)
	}
	w.Run("destroy", "-auto-approve")
}
