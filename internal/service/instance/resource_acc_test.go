package instance_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// Create, change in place, start, import. The test framework plans after each step, and that plan must be empty.
func TestAccInstance_basic(t *testing.T) {
	// The test asserts the GPU of the offer, documented values and optional fields, and counts requests.
	env := acctest.Start(t, acctest.WithoutQuirks(
		"other-gpu", "optional-fields-absent", "unknown-enums", "status-after-work", "gateway-errors"))
	text := knownvalue.StringExact
	same := statecheck.CompareValue(compare.ValuesSame())
	sameID := func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("id")) }
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("resources/gpurent_instance/resource.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					sameID(),
					attributeIs("status", text("running")),
					attributeIs("desired_state", text("running")),
					attributeIs("ssh", knownvalue.ObjectPartial(
						map[string]knownvalue.Check{"command": knownvalue.StringRegexp(regexp.MustCompile("^ssh "))})),
					attributeIs("gpu", knownvalue.ObjectPartial(
						map[string]knownvalue.Check{"slug": text("rtx_4090"), "count": knownvalue.Int64Exact(1)})),
					attributeIs("started_at", knownvalue.NotNull()),
					attributeIs("stop_reason", knownvalue.Null()),
				},
			},
			{
				Config:           env.Config(configByOffer(`name = "renamed"`, `desired_state = "stopped"`)),
				ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
				ConfigStateChecks: []statecheck.StateCheck{
					sameID(),
					attributeIs("name", text("renamed")),
					attributeIs("status", text("stopped")),
					attributeIs("stop_reason", text("user")),
				},
			},
			{
				Config: env.Config(configByOffer()),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate,
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("ssh")),
					plancheck.ExpectUnknownValue(address, tfjsonpath.New("price"))),
				ConfigStateChecks: []statecheck.StateCheck{
					sameID(), attributeIs("name", knownvalue.Null()), attributeIs("status", text("running")),
				},
			},
			{
				ResourceName: address, ImportState: true, ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{
					"idempotency_key", "matched_query", "offer_id", "offer_query", "quoted_kop_h", "rented_offer", "rented_offer_id",
				},
			},
		},
		CheckDestroy: func(*terraform.State) error { return env.NothingLeft("instances") },
	})
	if n := env.CountRequests("POST", "/instances"); n != 3 {
		t.Errorf("%d POST requests, want one creation, one stop, one start", n)
	}
}

// createdWithData reads an instance in the apply that creates it.
const createdWithData = `
data "gpurent_instance" "mine" {
  id = gpurent_instance.trainer.id
}

data "gpurent_instances" "all" {
  name_prefix = "mine"
  depends_on  = [gpurent_instance.trainer]
}

output "mine" {
  value = "${data.gpurent_instance.mine.status} ${length(data.gpurent_instances.all.instances)}"
}
`

// The examples of the pages work as they are, and those of resources plan no change afterwards. One has a provisioner,
// for which the simulator has no SSH server. A data source returns an instance of the same apply as the apply left it.
func TestAccInstance_examples(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	// The data sources search for names, which may be null, and sum up a field that may be absent.
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours", "optional-fields-absent"))
	createInstances(env, "shared", "research-1")
	w := env.Workspace(env.Example("resources/gpurent_instance/resource-interruptible.tf",
		"resources/gpurent_instance/resource-image.tf", "functions/ssh_config/function.tf"))
	w.Run("apply", "-auto-approve", "-no-color")
	w.Run("plan", "-no-color", "-detailed-exitcode")
	file := regexp.MustCompile(`^Host worker-1\n  HostName \S+\n  Port \d+\n  User root\n\nHost worker-2\n`)
	if output := w.Run("output", "-raw", "ssh_config"); !file.MatchString(output) {
		t.Errorf("ssh_config is %q", output)
	}
	w.Configure(env.Example("data-sources/gpurent_instance/data-source.tf") +
		resourceBlock(`name = "mine"`, `offer_query = {}`) + createdWithData)
	expectOutput(t, w.Run("apply", "-auto-approve", "-no-color"), `mine = "running 1"`, `ssh = "ssh `)
	w.Configure(env.Example(
		"data-sources/gpurent_instance_logs/data-source.tf", "data-sources/gpurent_instances/data-source.tf"))
	expectOutput(t, w.Run("apply", "-auto-approve", "-no-color"), "log = <<", `running = [ "research-1", ]`)
	w.Configure(env.Example("resources/gpurent_instance/resource-provisioner.tf"))
	w.Run("plan", "-no-color")
}
