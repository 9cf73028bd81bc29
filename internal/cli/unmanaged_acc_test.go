package cli_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
	"github.com/gpurent/terraform-provider-gpurent/internal/unmanaged"
)

const unmanagedConfig = `
variable "disk_gb" {
  default = 60
}

resource "gpurent_instance" "kept" {
  name        = "kept"
  template    = "pytorch"
  disk_gb     = var.disk_gb
  offer_query = { gpu = ["rtx_4090"] }

  lifecycle {
    create_before_destroy = true
  }
}

resource "gpurent_instance" "lost" {
  count         = 2
  name          = "lost-${count.index}"
  template      = "custom"
  image         = "registry.example/own:1"
  type          = count.index == 0 ? "interruptible" : "on_demand"
  desired_state = count.index == 0 ? "running" : "stopped"
  disk_gb       = 60
  offer_query   = { gpu = ["rtx_3090"] }
}

resource "gpurent_fleet" "train" {
  name          = "train"
  size          = 2
  template      = "pytorch"
  disk_gb       = 60
  offer_queries = [{ gpu = ["rtx_3060"] }]
}
`

// state returns a file with the state of a workspace.
func state(t *testing.T, w *acctest.Workspace) string {
	t.Helper()
	return writeFile(t, w.Run("show", "-json"))
}

// The CLI generates a configuration for the import blocks of servers that a state has lost, also of one with a hostile
// name, and plans no change with it.
// Tainted and deposed objects are managed.
func TestAccUnmanaged_importPlansNoChanges(t *testing.T) {
	t.Parallel()
	// A price that moves shows as a change of the instance. A bid that is outbid needs on_outbid.
	env := acctest.Start(t, acctest.WithoutQuirks("outbid-soon-after-start", "strange-neighbours"))
	w := env.Workspace(env.Provider() + unmanagedConfig)
	if stdout, stderr, code := listUnmanaged(t, env, env.APIKey, "", state(t, w)); code != 0 {
		t.Errorf("exit %d before the first apply: %s%s", code, stdout, stderr)
	}
	w.Run("apply", "-auto-approve", "-no-color")
	w.Run("taint", "gpurent_instance.lost[1]")
	if err := env.AddFault(simulator.Fault{Method: "DELETE", Path: "/instances", Status: 403}); err != nil {
		t.Fatal(err)
	}
	output, err := w.Try("apply", "-auto-approve", "-no-color", "-var=disk_gb=70", "-target=gpurent_instance.kept")
	if err == nil || !strings.Contains(w.Run("show", "-no-color"), "deposed") {
		t.Fatalf("the state has no deposed instance: %v\n%s", err, output)
	}
	if stdout, stderr, code := listUnmanaged(t, env, env.APIKey, "", state(t, w)); code != 0 ||
		!strings.Contains(stdout, "all billed servers of the account (6)") {
		t.Errorf("exit %d with all servers in the state: %s%s", code, stdout, stderr)
	}

	lost := []string{rent(env, hostileName)}
	for _, saved := range acctest.SavedIn[struct{ ID, Name string }](w, "gpurent_instance") {
		if saved.Attributes.Name != "kept" {
			lost = append(lost, saved.Attributes.ID)
		}
	}
	w.Run("state", "rm", "gpurent_instance.lost")
	env.Advance(time.Minute)
	stdout, stderr, code := listUnmanaged(t, env, env.APIKey, "", "--format=json", state(t, w))
	var document unmanaged.Document
	if err := json.Unmarshal([]byte(stdout), &document); err != nil || code != 3 {
		t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	var listed []string
	for _, s := range document.Servers {
		listed = append(listed, s.ID)
	}
	slices.Sort(listed)
	slices.Sort(lost)
	if !slices.Equal(listed, lost) || document.ManagedServers != 4 {
		t.Errorf("%q and %d managed, want %q", listed, document.ManagedServers, lost)
	}

	config, stderr, code := listUnmanaged(t, env, env.APIKey, "", state(t, w), "--format=import")
	if code != 3 || stderr != "" {
		t.Errorf("exit %d, %s", code, stderr)
	}
	other := env.Workspace(env.Provider() + config)
	const imports = "3 to import, 0 to add, 0 to change, 0 to destroy"
	if plan := other.Run("plan", "-no-color", "-generate-config-out=generated.tf"); !strings.Contains(plan, imports) {
		t.Errorf("%s\n%s", config, plan)
	}
	other.Run("apply", "-auto-approve", "-no-color")
	other.Run("plan", "-no-color", "-detailed-exitcode")
	stdout, stderr, code = listUnmanaged(t, env, env.APIKey, "", state(t, w), state(t, other))
	if code != 0 || stderr != "" {
		t.Errorf("exit %d with both states: %s%s", code, stdout, stderr)
	}
}

// hostileName has templates, quotes, line breaks and control characters.
const hostileName = "a\"\n}\r${file(\"/x\")} %{ if true } $${b} \\ \x1b[31m\u202e\u2028`*/ #"
