package fleet_test

import (
	"path"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// Each example of the documentation can be applied, and the next plan has no changes.
func TestAccFleet_examples(t *testing.T) {
	for _, example := range []string{
		"resources/gpurent_fleet/resource.tf",
		"resources/gpurent_fleet/resource-all.tf",
	} {
		t.Run(path.Base(example), func(t *testing.T) {
			env := acctest.Start(t)
			test(t, env,
				resource.TestStep{Config: env.Example(example)},
				resource.TestStep{Config: env.Example(example), ConfigPlanChecks: acctest.Unchanged()},
			)
		})
	}
}
