package money_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// transaction is an entry of the ledger.
type transaction struct {
	ID, Type   string
	AmountKop  int64  `json:"amount_kop"`
	InstanceID string `json:"instance_id"`
}

// createTransactions runs two instances for a number of hours. Each hour adds an entry for each of them. It returns the
// ids of the instances and all entries, newest first.
func createTransactions(t *testing.T, env *acctest.Env, hours int) (instances []string, all []transaction) {
	t.Helper()
	if err := env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(1e10))}); err != nil {
		t.Fatal(err)
	}
	for _, o := range env.Offers("gpu=rtx_4090&num_gpus=1")[:2] {
		instances = append(instances,
			env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"ubuntu","disk_gb":10}`, o.ID)))
	}
	env.Advance(time.Duration(hours)*time.Hour + 10*time.Minute)
	for _, id := range instances { // so that the balance stays
		env.Delete("instances/" + id)
	}
	env.Advance(time.Minute)
	acctest.List(env, "transactions?limit=200", func(e transaction) { all = append(all, e) })
	return instances, all
}

// The examples. The function rounds errors of Terraform's arithmetic, and takes numbers and unknown values.
func TestAccMoney_examples(t *testing.T) {
	// The test reads the balance, selects transactions by their documented types, and reads hundreds of them.
	env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance", "unknown-enums", "small-pages"))
	instances, all := createTransactions(t, env, 150)
	if err := env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(123_456_00))}); err != nil {
		t.Fatal(err)
	}
	balance := func(name string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.gpurent_balance.now", tfjsonpath.New(name), value)
	}
	spent := func(instance string) statecheck.StateCheck {
		return statecheck.ExpectKnownOutputValueAtPath("rubles_by_instance", tfjsonpath.New(instance),
			knownvalue.NumberExact(cost(instance, all)))
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Example("data-sources/gpurent_balance/data-source.tf",
				"data-sources/gpurent_transactions/data-source.tf", "functions/format_rub/function.tf") + `
				output "dust" { value = [for i in [0.01, 0.29, 1234.56] : provider::gpurent::format_rub(i * 100)] }
				resource "terraform_data" "price" { input = 5 }
				output "later" { value = provider::gpurent::format_rub(terraform_data.price.output) }
			`,
			ConfigStateChecks: []statecheck.StateCheck{
				balance("balance_kop", knownvalue.Int64Exact(123_456_00)), balance("burn_kop_h", knownvalue.Int64Exact(0)),
				balance("runway_hours", knownvalue.Null()), balance("currency", knownvalue.StringExact("RUB")),
				spent(instances[0]), spent(instances[1]),
				statecheck.ExpectKnownOutputValue("price", knownvalue.StringExact("1,234.56 ₽")),
				statecheck.ExpectKnownOutputValue("dust", knownvalue.ListExact([]knownvalue.Check{
					knownvalue.StringExact("0.01 ₽"), knownvalue.StringExact("0.29 ₽"), knownvalue.StringExact("1,234.56 ₽"),
				})),
				statecheck.ExpectKnownOutputValue("later", knownvalue.StringExact("0.05 ₽")),
			},
		}},
	})
}

// cost returns the sum of the charges of an instance in rubles.
func cost(instance string, all []transaction) *big.Float {
	kop := int64(0)
	for _, e := range all {
		if e.InstanceID == instance {
			kop -= e.AmountKop
		}
	}
	rubles, _, err := big.ParseFloat(fmt.Sprintf("%d.%02d", kop/100, kop%100), 10, 512, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return rubles
}
