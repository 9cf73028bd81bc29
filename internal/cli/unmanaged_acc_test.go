package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const unmanagedConfig = `
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

// The CLI generates a configuration for the import blocks of servers that a state has lost, also of one with a hostile
// name, and plans no change with it.
func TestAccUnmanaged_importPlansNoChanges(t *testing.T) {
	// A price that moves shows as a change of the instance. A bid that is outbid needs on_outbid.
	env := acctest.Start(t, acctest.WithoutQuirks("outbid-soon-after-start", "strange-neighbours"))
	w := env.Workspace(env.Provider() + unmanagedConfig)
	w.Run("apply", "-auto-approve", "-no-color")
	w.Run("state", "rm", "gpurent_instance.lost")
	rent(env, hostileName)
	env.Advance(time.Minute)
	kept := writeFile(t, w.Run("show", "-json"))
	config, stderr, code := listUnmanaged(t, env, env.APIKey, kept, "--format=import")
	if code != 3 || stderr != "" || strings.Count(config, "import {") != 3 {
		t.Errorf("exit %d, %s%s", code, config, stderr)
	}
	other := env.Workspace(env.Provider() + config)
	const imports = "3 to import, 0 to add, 0 to change, 0 to destroy"
	if plan := other.Run("plan", "-no-color", "-generate-config-out=generated.tf"); !strings.Contains(plan, imports) {
		t.Errorf("%s\n%s", config, plan)
	}
	other.Run("apply", "-auto-approve", "-no-color")
	stdout, stderr, code := listUnmanaged(t, env, env.APIKey, kept, writeFile(t, other.Run("show", "-json")))
	if code != 0 || stderr != "" {
		t.Errorf("exit %d with both states: %s%s", code, stdout, stderr)
	}
}

// hostileName has templates, quotes, line breaks and control characters.
const hostileName = "a\"\n}\r${file(\"/x\")} %{ if true } $${b} \\ \x1b[31m\u202e\u2028`*/ #"
