package money_test

import (
	"math/big"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// Functions send no request.
func TestAccMoneyFunctions_examples(t *testing.T) {
	env := acctest.Start(t)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("functions/format_rub/function.tf"),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("price",
					knownvalue.StringExact("1 234,56 ₽"))},
			},
			{
				Config: env.Example("functions/kopecks/function.tf"),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownOutputValue("max_price_kop_h",
					knownvalue.Int64Exact(9050))},
			},
			{
				Config: env.Example("functions/monthly_kop/function.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValue("month_kop", knownvalue.Int64Exact(6570000)),
					statecheck.ExpectKnownOutputValue("month", knownvalue.StringExact("65 700,00 ₽")),
				},
			},
		},
	})
	if n := len(env.Requests()); n != 0 {
		t.Errorf("%d requests, want 0", n)
	}
}

// Functions keep all digits of large numbers, and round errors of Terraform's arithmetic.
func TestAccMoneyFunctions_precision(t *testing.T) {
	env := acctest.Start(t)
	month, _ := new(big.Float).SetPrec(512).SetString("90123455979012345597901234559700")
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Config(`
				locals { large = 123456789012345678901234567890 }
				output "large" { value = provider::gpurent::format_rub(local.large) }
				output "month" { value = provider::gpurent::monthly_kop(local.large) }
				output "dust" { value = [for i in [0.01, 0.29, 1234.56] : provider::gpurent::format_rub(i * 100)] }
				output "round_trip" { value = provider::gpurent::kopecks(provider::gpurent::format_rub(-123456)) }
				output "number" { value = provider::gpurent::kopecks(1234.56) }
				resource "terraform_data" "price" { input = 5 }
				output "later" { value = provider::gpurent::format_rub(terraform_data.price.output) }
			`),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply: []plancheck.PlanCheck{plancheck.ExpectUnknownOutputValue("later")},
			},
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownOutputValue("large", knownvalue.StringExact("1 234 567 890 123 456 789 012 345 678,90 ₽")),
				statecheck.ExpectKnownOutputValue("month", knownvalue.NumberExact(month)),
				statecheck.ExpectKnownOutputValue("dust", knownvalue.ListExact([]knownvalue.Check{
					knownvalue.StringExact("0,01 ₽"), knownvalue.StringExact("0,29 ₽"), knownvalue.StringExact("1 234,56 ₽"),
				})),
				statecheck.ExpectKnownOutputValue("round_trip", knownvalue.Int64Exact(-123456)),
				statecheck.ExpectKnownOutputValue("number", knownvalue.Int64Exact(123456)),
				statecheck.ExpectKnownOutputValue("later", knownvalue.StringExact("0,05 ₽")),
			},
		}},
	})
}
