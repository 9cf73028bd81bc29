package gpu_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

func TestAccGPUsDataSource(t *testing.T) {
	env := acctest.Start(t)
	first := tfjsonpath.New("gpus").AtSliceIndex(0)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_gpus/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("available",
						knownvalue.ListPartial(map[int]knownvalue.Check{0: knownvalue.NotNull()})),
				},
			},
			{
				Config: env.ProviderWithoutKey() + `data "gpurent_gpus" "all" {}`,
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue("data.gpurent_gpus.all", first.AtMapKey("slug"), knownvalue.NotNull()),
					statecheck.ExpectKnownValue("data.gpurent_gpus.all", first.AtMapKey("vram_gb"), knownvalue.NotNull()),
				},
			},
		},
	})
}
