package offer_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const address = "data.gpurent_offers.test"

func config(arguments ...string) string {
	return "data \"gpurent_offers\" \"test\" {\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

func TestAccOffersDataSource(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	cheapest := env.CheapestOffer("rtx_4090", "on_demand")
	first := tfjsonpath.New("offers").AtSliceIndex(0)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_offers/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("spot", knownvalue.ListPartial(map[int]knownvalue.Check{
						0: knownvalue.StringRegexp(regexp.MustCompile(`^\d x .+ in (DE|NL): [0-9.]+ rubles an hour$`)),
					})),
				},
			},
			{
				// Several filters, without a key.
				Config: env.ProviderWithoutKey() + config(`gpu = ["rtx_4090"]`, `num_gpus = [1]`, `min_gpus = 1`,
					`type = "on_demand"`,
					`max_price_kop_h = 100000`, `min_vram_gb = 24`, `order = "price"`, `max_results = 3`),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("ids").AtSliceIndex(0), knownvalue.StringExact(cheapest.ID)),
					statecheck.ExpectKnownValue(address, first.AtMapKey("price").AtMapKey("on_demand_kop_h"),
						knownvalue.Int64Exact(cheapest.Price.OnDemandKopH)),
					statecheck.ExpectKnownValue(address, first.AtMapKey("gpu").AtMapKey("slug"), knownvalue.StringExact("rtx_4090")),
				},
			},
			{
				Config: env.Config(config(`country = ["DE", "NL", "FI", "RU", "US", "KZ"]`, `verified = true`, `min_cuda = 11.5`,
					`min_disk_gb = 10`,
					`min_inet_down_mbps = 1`, `min_reliability = 0.1`)),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, first.AtMapKey("verified"), knownvalue.Bool(true)),
				},
			},
			{
				Config: env.Config(config(`max_price_kop_h = 0`)),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("ids"), knownvalue.ListSizeExact(0)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("offers"), knownvalue.ListSizeExact(0)),
				},
			},
		},
	})
}

func TestAccOffersDataSource_unknownGPU(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours"))
	w := env.Workspace(env.ProviderWithoutKey() + `data "gpurent_offers" "wrong" { gpu = ["rtx_4090", "rtx-3090"] }`)
	if plan := acctest.Words(w.Run("plan", "-no-color")); !strings.Contains(plan, "No such GPU model") ||
		!strings.Contains(plan, `run "terraform-provider-gpurent gpus"`) {
		t.Errorf("no warning:\n%s", plan)
	}
}
