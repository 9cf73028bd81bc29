package money_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestAccBalanceDataSource(t *testing.T) {
	// The test reads the balance.
	env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance"))
	balance := int64(123_456_00)
	if err := env.SetAccount(simulator.AccountPatch{BalanceKop: &balance}); err != nil {
		t.Fatal(err)
	}
	const address = "data.gpurent_balance.now"
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_balance/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("balance_kop"), knownvalue.Int64Exact(balance)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("burn_kop_h"), knownvalue.Int64Exact(0)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("runway_hours"), knownvalue.Null()),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("currency"), knownvalue.StringExact("RUB")),
				},
			},
		},
	})
}
