package fleet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// testedFleet is a configuration with a fleet and the outputs that a test file asserts.
const testedFleet = `
variable "name" {
  type    = string
  default = "train"
}

variable "size" {
  type    = number
  default = 2
}

resource "gpurent_fleet" "train" {
  name          = var.name
  size          = var.size
  template      = "pytorch"
  disk_gb       = 20
  offer_queries = [{ gpu = ["rtx_4090"], num_gpus = [1] }]
}

output "ids" {
  value = [for slot, member in gpurent_fleet.train.instances : member.id]
}

output "generations" {
  value = [for slot, member in gpurent_fleet.train.instances : member.generation]
}
`

// testedRuns is a test file. Its provider block makes Terraform 1.13 and newer serve all runs with one process.
// Runs do not hand values to one another: OpenTofu 1.12 then destroys nothing at the end.
const testedRuns = `
run "plan" {
  command = plan
}

run "apply" {
  assert {
    condition     = gpurent_fleet.train.ready == 2 && length(toset(output.ids)) == 2
    error_message = "The ids are ${jsonencode(output.ids)}."
  }
}

run "larger" {
  variables {
    size = 3
  }

  assert {
    condition     = gpurent_fleet.train.ready == 3 && toset(output.generations) == toset([1])
    error_message = "The ids are ${jsonencode(output.ids)}."
  }
}

run "other_name" {
  variables {
    name = "serve"
    size = 3
  }

  assert {
    condition     = startswith(gpurent_fleet.train.id, "serve/") && gpurent_fleet.train.ready == 3
    error_message = "The ids are ${jsonencode(output.ids)}."
  }
}

run "replace" {
  variables {
    name = "serve"
    size = 3
  }

  plan_options {
    replace = [gpurent_fleet.train]
  }

  assert {
    condition     = gpurent_fleet.train.ready == 3
    error_message = "The ids are ${jsonencode(output.ids)}."
  }
}
`

// A test file with plans, applies, scaling and replacements passes with a limit that is just enough for three members.
// It rents no member twice, destroys everything, and shows no warnings except those for changes of existing members.
func TestAccFleet_terraformTest(t *testing.T) {
	t.Parallel()
	// The test expects no other warnings, and a limit that is just enough.
	env := acctest.Start(t,
		acctest.WithoutQuirks("forbidden-balance", "strange-neighbours", "other-gpu", "price-moves-on-create"))
	env.AddSSHKey()
	w := env.Workspace(testedFleet)
	limits := fmt.Sprintf("spending = {\n    require_funds  = \"error\"\n    max_burn_kop_h = %d\n  }", env.BurnOf(3))
	w.Write("runs.tftest.hcl", env.Provider(limits)+testedRuns)
	output, err := w.Try("test", "-no-color", "-verbose")
	if err != nil || !strings.Contains(output, "5 passed, 0 failed.") {
		t.Errorf("%v, and the test file ends with:\n%s", err, output)
	}
	for line := range strings.Lines(output) {
		_, warning, found := strings.Cut(line, "Warning: ")
		if found && !strings.Contains(warning, "changes existing members") {
			t.Errorf("a run shows the warning %q", strings.TrimSpace(warning))
		}
	}
	// 2 for apply, 1 for larger, 3 for other_name, 3 for replace
	if err := errors.Join(env.NothingLeft("instances"), env.Left("instances?status=all", 9)); err != nil {
		t.Error(err)
	}
}
