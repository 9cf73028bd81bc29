package money_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The function rounds errors of Terraform's arithmetic, takes numbers and unknown values, and sends no request.
func TestAccMoneyFunctions(t *testing.T) {
	env := acctest.Start(t)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("functions/format_rub/function.tf"),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("price",
					knownvalue.StringExact("1,234.56 ₽"))},
			},
			{
				Config: env.Config(`
					output "dust" { value = [for i in [0.01, 0.29, 1234.56] : provider::gpurent::format_rub(i * 100)] }
					resource "terraform_data" "price" { input = 5 }
					output "later" { value = provider::gpurent::format_rub(terraform_data.price.output) }
				`),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("dust", knownvalue.ListExact([]knownvalue.Check{
						knownvalue.StringExact("0.01 ₽"), knownvalue.StringExact("0.29 ₽"), knownvalue.StringExact("1,234.56 ₽"),
					})),
					statecheck.ExpectKnownOutputValue("later", knownvalue.StringExact("0.05 ₽")),
				},
			},
		},
	})
	if n := len(env.Requests()); n != 0 {
		t.Errorf("%d requests, want 0", n)
	}
}
