package offer_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	testconfig "github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const picked = "data.gpurent_offer.picked"

func one(id string) string {
	return fmt.Sprintf("data \"gpurent_offer\" \"picked\" {\n  id = %q\n}\n", id)
}

func TestAccOfferDataSource_showsOneOffer(t *testing.T) {
	env := acctest.Start(t)
	cheapest := env.CheapestOffer("rtx_4090", "on_demand")
	kopH := cheapest.Price.OnDemandKopH
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:          env.Example("data-sources/gpurent_offer/data-source.tf"),
				ConfigVariables: testconfig.Variables{"offer_id": testconfig.StringVariable(cheapest.ID)},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("picked", knownvalue.ObjectExact(map[string]knownvalue.Check{
						"server": knownvalue.StringRegexp(regexp.MustCompile(`^1 x .*4090$`)), "available": knownvalue.Bool(true), "rubles_per_h": knownvalue.Float64Exact(float64(kopH) / 100),
					})),
				},
			},
			{
				// The market moves, and the offer is taken: it is still told of. Nobody needs a key.
				PreConfig: func() {
					if err := env.SetOffer(cheapest.ID, simulator.OfferPatch{Available: new(false), OnDemandKopH: new(kopH + 100)}); err != nil {
						t.Error(err)
					}
				},
				Config: env.ProviderWithoutKey() + one(cheapest.ID),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(picked, tfjsonpath.New("available"), knownvalue.Bool(false)),
					statecheck.ExpectKnownValue(picked, tfjsonpath.New("price").AtMapKey("on_demand_kop_h"), knownvalue.Int64Exact(kopH+100)),
					statecheck.ExpectKnownValue(picked, tfjsonpath.New("gpu").AtMapKey("count"), knownvalue.Int64Exact(1)),
				},
			},
			{
				Config:      env.Config(one("off_gone")),
				ExpectError: regexp.MustCompile(`(?s)Cannot read offer off_gone.*not_found.*when\s+it\s+is\s+rented.*about\s+every\s+minute.*gpurent_offers.*offer_query`),
			},
		},
	})
}

// What was just seen needs no second look when the plan estimates its price, or
// warns that it cannot be rented.
func TestAccOfferDataSource_sparesThePlanALook(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	cheapest := env.CheapestOffer("rtx_4090", "on_demand")
	w := env.Workspace(env.Config(one(cheapest.ID), `
resource "gpurent_instance" "trainer" {
  offer_id = data.gpurent_offer.picked.id
  template = "pytorch"
  disk_gb  = 60
}
`))
	for _, available := range []bool{true, false} {
		if err := env.SetOffer(cheapest.ID, simulator.OfferPatch{Available: &available}); err != nil {
			t.Fatal(err)
		}
		env.ClearRequests()
		plan := w.Run("plan", "-no-color")
		if n := env.CountRequests("GET", "/offers"); n != 1 {
			t.Errorf("%d requests for one offer: %v", n, env.Requests())
		}
		if warned := strings.Contains(plan, "Offer "+cheapest.ID+" is gone"); warned == available {
			t.Errorf("available %t, and warned %t:\n%s", available, warned, plan)
		}
	}
}

func TestAccOfferDataSource_badInputIsRefusedBeforeAnyRequest(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{one(""), `at\s+least\s+1`},
		{`data "gpurent_offer" "picked" {}`, `"id" is required`},
	})
}
