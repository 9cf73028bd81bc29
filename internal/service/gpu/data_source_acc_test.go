package gpu_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func TestAccGPUDataSource(t *testing.T) {
	// The test checks the tier.
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums"))
	const one = "data.gpurent_gpu.one"
	attribute := func(path string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(one, tfjsonpath.New(path), value)
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_gpu/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("vram_gb", knownvalue.Int64Exact(24)),
				},
			},
			{
				Config: env.ProviderWithoutKey() + "data \"gpurent_gpu\" \"one\" {\n  slug = \"rtx_4090\"\n}\n",
				ConfigStateChecks: []statecheck.StateCheck{
					attribute("slug", knownvalue.StringExact("rtx_4090")), attribute("name", knownvalue.StringExact("RTX 4090")),
					attribute("vram_gb", knownvalue.Int64Exact(24)), attribute("tier", knownvalue.StringExact("consumer")),
					attribute("available_gpus", knownvalue.NotNull()), attribute("from_kop_h", knownvalue.NotNull()),
					attribute("from_interruptible_kop_h", knownvalue.NotNull()),
				},
			},
		},
	})
}

func TestAccGPUDataSource_errors(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	config := func(slug string) string {
		return env.ProviderWithoutKey() + "data \"gpurent_gpu\" \"one\" {\n  slug = \"" + slug + "\"\n}\n"
	}
	var steps []resource.TestStep
	for slug, message := range map[string]string{
		"rtx4090":  `(?s)No GPU model with this slug.*Existing: .*gpurent_gpus\s+lists\s+all`,
		"RTX 4090": `(?s)No GPU model with this slug.*rtx_4090\s+\("`,
		"":         `at\s+least\s+1`,
	} {
		steps = append(steps, resource.TestStep{Config: config(slug), ExpectError: regexp.MustCompile(message)})
	}
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
}

// All data sources share one list request.
func TestAccGPUDataSource_sharesOneList(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test counts requests.
	env := acctest.Start(t, acctest.WithoutQuirks("small-pages", "gateway-errors"))
	w := env.Workspace(env.Config(`
data "gpurent_gpus" "all" {}
data "gpurent_gpu" "several" {
  for_each = toset(["rtx_4090", "rtx_3090", "l40s"])
  slug     = each.key
}
`))
	env.ClearRequests()
	w.Run("plan")
	if n := len(env.Requests()); n != 1 {
		t.Errorf("%d requests, want 1: %v", n, env.Requests())
	}
}
