package fleet_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
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

func TestAccFleet_basic(t *testing.T) {
	env := acctest.Start(t, acctest.ChoosesOffers())
	var before map[string]string
	remember := func(s *terraform.State) error {
		before = slots(s)
		return nil
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		CheckDestroy:             func(*terraform.State) error { return env.NothingLeft("instances") },
		Steps: []resource.TestStep{
			{
				Config: env.Config(config(3)),
				Check: resource.ComposeTestCheckFunc(
					resource.TestCheckResourceAttr(address, "id", "train"),
					resource.TestCheckResourceAttr(address, "ready", "3"),
					resource.TestCheckResourceAttr(address, "hosts.#", "3"),
					resource.TestCheckResourceAttr(address, "instances.%", "3"),
					resource.TestCheckResourceAttr(address, "instances.2.status", "running"),
					resource.TestCheckResourceAttr(address, "instances.2.generation", "1"),
					remember,
				),
			},
			{Config: env.Config(config(3)), ConfigPlanChecks: acctest.Unchanged()},
			{
				Config:           env.Config(config(5)),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
				Check: func(s *terraform.State) error {
					now := slots(s)
					for slot, id := range before {
						if now[slot] != id {
							return fmt.Errorf("slot %s changed", slot)
						}
					}
					if len(now) != 5 {
						return fmt.Errorf("%v", now)
					}
					return remember(s)
				},
			},
			{
				Config:           env.Config(config(2)),
				ConfigPlanChecks: acctest.Planned(address, plancheck.ResourceActionUpdate),
				Check: func(s *terraform.State) error {
					now := slots(s)
					if len(now) != 2 || now["0"] != before["0"] || now["1"] != before["1"] {
						return fmt.Errorf("%v, before %v", now, before)
					}
					return env.Left("instances", 2)
				},
			},
			{
				Config: env.Config(config(0)),
				Check: resource.ComposeTestCheckFunc(
					resource.TestCheckResourceAttr(address, "instances.%", "0"),
					func(*terraform.State) error { return env.NothingLeft("instances") },
				),
			},
			{Config: env.Config(config(0)), ConfigPlanChecks: acctest.Unchanged()},
		},
	})
}

// active returns the ids of the active instances by name.
func active(env *acctest.Env) map[string]string {
	ids := map[string]string{}
	acctest.List(env, "instances?limit=200", func(inst struct{ ID, Name string }) { ids[inst.Name] = inst.ID })
	return ids
}

// limitOffers leaves so many offers available, all of the same GPU and country.
func limitOffers(t *testing.T, env *acctest.Env, left int) (withheld []string) {
	t.Helper()
	for _, offer := range env.Offers("limit=200")[left:] {
		withheld = append(withheld, offer.ID)
	}
	available(t, env, false, withheld...)
	return withheld
}
