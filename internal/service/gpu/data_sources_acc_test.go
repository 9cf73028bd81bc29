package gpu_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func TestAccGPUDataSources(t *testing.T) {
	// The test checks the tier.
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums"))
	attribute := func(path string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.gpurent_gpu.rtx_4090", tfjsonpath.New(path), value)
	}
	first := tfjsonpath.New("gpus").AtSliceIndex(0)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Example("data-sources/gpurent_gpu/data-source.tf", "data-sources/gpurent_gpus/data-source.tf"),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownOutputValue("vram_gb", knownvalue.Int64Exact(24)),
				attribute("slug", knownvalue.StringExact("rtx_4090")), attribute("name", knownvalue.StringExact("RTX 4090")),
				attribute("vram_gb", knownvalue.Int64Exact(24)), attribute("tier", knownvalue.StringExact("consumer")),
				attribute("available_gpus", knownvalue.NotNull()), attribute("from_kop_h", knownvalue.NotNull()),
				attribute("from_interruptible_kop_h", knownvalue.NotNull()),
				statecheck.ExpectKnownOutputValue("available",
					knownvalue.ListPartial(map[int]knownvalue.Check{0: knownvalue.NotNull()})),
				statecheck.ExpectKnownValue("data.gpurent_gpus.all", first.AtMapKey("slug"), knownvalue.NotNull()),
				statecheck.ExpectKnownValue("data.gpurent_gpus.all", first.AtMapKey("vram_gb"), knownvalue.NotNull()),
			},
		}},
	})
}
