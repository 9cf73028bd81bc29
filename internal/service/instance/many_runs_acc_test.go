package instance_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// testConfig has two instances with keys and one without a name, and the assertions of a test file.
const testConfig = `
resource "gpurent_instance" "keyed" {
  count = 2

  name            = "t-${count.index}"
  template        = "pytorch"
  disk_gb         = 60
  offer_query     = { gpu = ["rtx_4090"], num_gpus = [1] }
  idempotency_key = "t-${count.index}"
}

resource "gpurent_instance" "unnamed" {
  template    = "pytorch"
  disk_gb     = 60
  offer_query = { gpu = ["rtx_4090"], num_gpus = [1] }
}

output "ids" {
  value = concat(gpurent_instance.keyed[*].id, [gpurent_instance.unnamed.id])
}
`

// testRuns is a test file. Its provider block makes Terraform 1.13 and newer serve all runs with one provider process.
// Runs do not hand values to one another: OpenTofu 1.12 then destroys nothing at the end.
const testRuns = `
run "plan" {
  command = plan
}

run "apply" {}

run "replace" {
  plan_options {
    replace = [gpurent_instance.unnamed]
  }
}

# What a plan creates or replaces has no known id.
run "plan_without_changes" {
  command = plan

  assert {
    condition     = length(toset(output.ids)) == 3
    error_message = "The ids are ${jsonencode(output.ids)}."
  }
}
`

// A test file with plans, applies and replacements passes without warnings, with limits that are just enough for all
// instances.
func TestAccInstance_terraformTest(t *testing.T) {
	t.Parallel()
	// With max_burn_kop_h, a plan without a balance fails. The test expects no warnings, and limits that are just enough
	// for its instances.
	env := acctest.Start(t,
		acctest.WithoutQuirks("forbidden-balance", "strange-neighbours", "other-gpu", "price-moves-on-create"))
	fits := env.BurnOf(3)
	must(t, env.SetAccount(simulator.AccountPatch{BalanceKop: new(2*fits + 1_000_000), CreditLimitKop: new(int64(0))}))
	env.AddSSHKey()
	w := env.Workspace(testConfig)
	provider := env.Provider(fmt.Sprintf("spending = {\n require_funds = \"error\"\n max_burn_kop_h = %d\n}", fits))
	w.Write("runs.tftest.hcl", provider+testRuns)
	output := w.Run("test", "-no-color", "-verbose")
	if !strings.Contains(output, "4 passed, 0 failed.") || strings.Contains(output, "Warning:") {
		t.Errorf("the test file ends with:\n%s", output)
	}
	if err := errors.Join(env.NothingLeft("instances"), env.Left("instances?status=all", 4)); err != nil {
		t.Error(err)
	}
}

// Every CLI refuses two new instances with one key, and at most one of them is rented.
func TestAccInstance_terraformTestSharedKey(t *testing.T) {
	t.Parallel()
	env := acctest.Start(t)
	w := env.Workspace(resourceBlock("offer_query = {}", `idempotency_key = "same"`, "count = 2"))
	w.Write("runs.tftest.hcl", env.Provider()+"run \"apply\" {}\n")
	output, err := w.Try("test", "-no-color")
	if err == nil || !strings.Contains(acctest.Words(output), "Another resource has instance ins_") {
		t.Errorf("%v, and it prints:\n%s", err, output)
	}
	if rented := len(acctest.Fetch[struct{ Data []struct{} }](env, "instances?status=all").Data); rented > 1 {
		t.Errorf("%d servers were rented", rented)
	}
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}
