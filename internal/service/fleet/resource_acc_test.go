package fleet_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const address = "gpurent_fleet.train"

// config returns a fleet with additional arguments.
func config(size int, arguments ...string) string {
	return fmt.Sprintf(`
resource "gpurent_fleet" "train" {
  name          = "train"
  size          = %d
  template      = "pytorch"
  disk_gb       = 20
  offer_queries = [{ gpu = ["rtx_4090"] }, {}]
  %s
}
`, size, strings.Join(arguments, "\n  "))
}

// slots returns the ids of the members by slot.
func slots(s *terraform.State) map[string]string {
	ids := map[string]string{}
	for key, value := range s.RootModule().Resources[address].Primary.Attributes {
		parts := strings.Split(key, ".")
		if len(parts) == 3 && parts[0] == "instances" && parts[2] == "id" {
			ids[parts[1]] = value
		}
	}
	return ids
}

// A fleet grows and shrinks without changing the members that stay.
func TestAccFleet_basic(t *testing.T) {
	env := acctest.Start(t, acctest.ChoosesOffers())
	var before remembered
	updates := acctest.Planned(address, plancheck.ResourceActionUpdate)
	test(t, env,
		resource.TestStep{Config: env.Config(config(3)), Check: resource.ComposeTestCheckFunc(
			resource.TestMatchResourceAttr(address, "id", regexp.MustCompile(`^train/[a-z2-7]{16}$`)),
			resource.TestCheckResourceAttr(address, "ready", "3"),
			resource.TestCheckResourceAttr(address, "hosts.#", "3"),
			resource.TestCheckResourceAttr(address, "instances.%", "3"),
			resource.TestCheckResourceAttr(address, "instances.2.status", "running"),
			resource.TestCheckResourceAttr(address, "instances.2.generation", "1"),
			before.remember,
		)},
		resource.TestStep{Config: env.Config(config(3)), ConfigPlanChecks: acctest.Unchanged()},
		resource.TestStep{Config: env.Config(config(5)), ConfigPlanChecks: updates, Check: before.changed("3", "4")},
		resource.TestStep{Config: env.Config(config(2)), ConfigPlanChecks: updates, Check: resource.ComposeTestCheckFunc(
			before.changed("2", "3", "4"),
			func(*terraform.State) error { return env.Left("instances", 2) },
		)},
		resource.TestStep{Config: env.Config(config(0)), Check: resource.ComposeTestCheckFunc(
			before.changed("0", "1"),
			func(*terraform.State) error { return env.NothingLeft("instances") },
		)},
		resource.TestStep{Config: env.Config(config(0)), ConfigPlanChecks: acctest.Unchanged()},
	)
}

// active returns the ids of the active instances by name.
func active(env *acctest.Env) map[string]string {
	ids := map[string]string{}
	acctest.List(env, "instances?limit=200", func(inst struct{ ID, Name string }) { ids[inst.Name] = inst.ID })
	return ids
}

// limitOffers leaves this many offers available, all of the same GPU and country.
func limitOffers(t *testing.T, env *acctest.Env, left int) (withheld []string) {
	t.Helper()
	for _, offer := range env.Offers("limit=200")[left:] {
		withheld = append(withheld, offer.ID)
	}
	available(t, env, false, withheld...)
	return withheld
}

// available makes offers available, or not.
func available(t *testing.T, env *acctest.Env, available bool, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := env.SetOffer(id, simulator.OfferPatch{Available: &available}); err != nil {
			t.Error(err)
		}
	}
}
