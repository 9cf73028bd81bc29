package offer_test

import (
	"regexp"
	"testing"

	testconfig "github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The examples, and a query with several filters.
func TestAccOfferDataSources(t *testing.T) {
	// The outputs of the example would change with the countries that an API omits now and then.
	env := acctest.Start(t, acctest.WithoutQuirks("cached-offers", "optional-fields-absent"))
	cheapest := env.CheapestOffer("rtx_4090", "on_demand")
	first := tfjsonpath.New("offers").AtSliceIndex(0)
	found := func(path tfjsonpath.Path, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.gpurent_offers.test", path, value)
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Example("data-sources/gpurent_offer/data-source.tf", "data-sources/gpurent_offers/data-source.tf") + `
				data "gpurent_offers" "test" {
				  gpu             = ["rtx_4090"]
				  num_gpus        = [1]
				  min_gpus        = 1
				  type            = "on_demand"
				  max_price_kop_h = 100000
				  min_vram_gb     = 24
				  order           = "price"
				  max_results     = 3
				}
			`,
			ConfigVariables: testconfig.Variables{"offer_id": testconfig.StringVariable(cheapest.ID)},
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownOutputValue("picked", knownvalue.ObjectExact(map[string]knownvalue.Check{
					"server":       knownvalue.StringRegexp(regexp.MustCompile(`^1 x .*4090$`)),
					"available":    knownvalue.Bool(true),
					"rubles_per_h": knownvalue.Float64Exact(float64(cheapest.Price.OnDemandKopH) / 100),
				})),
				statecheck.ExpectKnownOutputValue("spot", knownvalue.ListPartial(map[int]knownvalue.Check{
					0: knownvalue.StringRegexp(regexp.MustCompile(`^\d x .+ \((DE|NL|\?)\): [0-9.]+ rubles an hour$`)),
				})),
				found(tfjsonpath.New("ids").AtSliceIndex(0), knownvalue.StringExact(cheapest.ID)),
				found(first.AtMapKey("price").AtMapKey("on_demand_kop_h"), knownvalue.Int64Exact(cheapest.Price.OnDemandKopH)),
				found(first.AtMapKey("gpu").AtMapKey("slug"), knownvalue.StringExact("rtx_4090")),
			},
		}},
	})
}
