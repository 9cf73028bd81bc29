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

const offerAddress = "data.gpurent_offer.picked"

// offerConfig returns a data block for an offer.
func offerConfig(id string) string {
	return fmt.Sprintf("data \"gpurent_offer\" \"picked\" {\n  id = %q\n}\n", id)
}

func TestAccOfferDataSource(t *testing.T) {
	env := acctest.Start(t, acctest.WithoutQuirks("cached-offers"))
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
						"server":       knownvalue.StringRegexp(regexp.MustCompile(`^1 x .*4090$`)),
						"available":    knownvalue.Bool(true),
						"rubles_per_h": knownvalue.Float64Exact(float64(kopH) / 100),
					})),
				},
			},
			{
				// An offer that is not available can be read, even without a key.
				PreConfig: func() {
					if err := env.SetOffer(cheapest.ID, simulator.OfferPatch{Available: new(false),
						OnDemandKopH: new(kopH + 100)}); err != nil {
						t.Error(err)
					}
				},
				Config: env.ProviderWithoutKey() + offerConfig(cheapest.ID),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(offerAddress, tfjsonpath.New("available"), knownvalue.Bool(false)),
					statecheck.ExpectKnownValue(offerAddress, tfjsonpath.New("price").AtMapKey("on_demand_kop_h"),
						knownvalue.Int64Exact(kopH+100)),
					statecheck.ExpectKnownValue(offerAddress, tfjsonpath.New("gpu").AtMapKey("count"), knownvalue.Int64Exact(1)),
				},
			},
			{
				Config: env.Config(offerConfig("off_gone")),
				ExpectError: regexp.MustCompile(`(?s)Cannot read offer off_gone.*not_found.*when\s+it\s+is\s+rented.*` +
					`gpurent_offers.*offer_query`),
			},
		},
	})
}

// The price estimate and the availability check of a plan use the offer of the data source, without another request.
func TestAccOfferDataSource_oneRequestPerPlan(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t, acctest.WithoutQuirks("cached-offers"))
	cheapest := env.CheapestOffer("rtx_4090", "on_demand")
	w := env.Workspace(env.Config(offerConfig(cheapest.ID), `
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
		if warned := strings.Contains(plan, "Offer "+cheapest.ID+" is not available"); warned == available {
			t.Errorf("available %t, warning %t:\n%s", available, warned, plan)
		}
	}
}
