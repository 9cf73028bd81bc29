//go:build linux

package instance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// Ctrl-C during a restart makes the CLI fail and print the status of the instance. The next plan starts it.
func TestAccInstanceActions_interrupt(t *testing.T) {
	t.Parallel()
	acctest.Needs(t, "1.14.0", "")
	// The first stop request must reach the API. The stop ends when the test moves the clock.
	env := acctest.Start(t, acctest.WithoutQuirks("gateway-errors"), func(c *simulator.Config) { c.Step = 0 })
	w := env.Workspace(env.Config(configByQuery(`{}`)))
	apply := w.Start(t.Context(), "apply", "-auto-approve", "-no-color")
	for apply.Running() {
		env.Advance(time.Second)
		time.Sleep(time.Millisecond)
	}
	if output, code := apply.Wait(); code != 0 {
		t.Fatalf("the apply ends with %d:\n%s", code, output)
	}
	id := acctest.SavedIn[struct{ ID string }](w, "gpurent_instance")[0].Attributes.ID
	w.Configure(env.Config(configByQuery(`{}`), actionBlock("restart", id)))
	run := w.Start(t.Context(), "apply", "-invoke=action.gpurent_instance_restart.it", "-auto-approve", "-no-color")
	// Terraform 1.15 crashes if it receives a progress message after the interruption, so it must have printed
	// the last one.
	stopping := func() bool {
		return env.CountRequests("POST", "/instances/"+id+"/stop") > 0 &&
			strings.Contains(run.Output(), "is requested to stop")
	}
	for !stopping() && run.Running() {
		time.Sleep(time.Millisecond)
	}
	if err := run.Interrupt(); err != nil {
		t.Fatal(err)
	}
	output, code := run.Wait()
	if code != 1 ||
		!strings.Contains(acctest.WithoutFrame(output), "Interrupted while instance "+id+" was") ||
		strings.Contains(output, "Apply complete") {
		t.Errorf("the interrupted restart ends with %d:\n%s", code, output)
	}
	env.Advance(time.Minute)
	plan, err := w.Try("plan", "-no-color", "-detailed-exitcode")
	if err == nil || !strings.Contains(plan, `"stopped" -> "running"`) {
		t.Errorf("the next plan: %v\n%s", err, plan)
	}
}
