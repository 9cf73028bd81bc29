package money_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const address = "data.gpurent_transactions.test"

// transactions returns a data block with arguments.
func transactions(arguments ...string) string {
	return "data \"gpurent_transactions\" \"test\" {\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

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
	acctest.List(env, "transactions?limit=200", func(e transaction) { all = append(all, e) })
	env.ClearRequests()
	return instances, all
}

// expectTransactions checks the number of entries and an attribute of one of them.
func expectTransactions(size int, index int, path string, value knownvalue.Check) []statecheck.StateCheck {
	return []statecheck.StateCheck{
		statecheck.ExpectKnownValue(address, tfjsonpath.New("transactions"), knownvalue.ListSizeExact(size)),
		statecheck.ExpectKnownValue(address, tfjsonpath.New("transactions").AtSliceIndex(index).AtMapKey(path), value),
	}
}

func TestAccTransactionsDataSource(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test selects transactions by their documented types, and reads hundreds of them several times.
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums", "small-pages"))
	instances, all := createTransactions(t, env, 150)
	last := all[len(all)-1]
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_transactions/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValueAtPath("rubles_by_instance", tfjsonpath.New(instances[0]),
						knownvalue.NumberExact(cost(instances[0], all))),
					statecheck.ExpectKnownOutputValueAtPath("rubles_by_instance", tfjsonpath.New(instances[1]),
						knownvalue.NumberExact(cost(instances[1], all))),
				},
			},
			// By default, the newest 100 entries.
			{Config: env.Config(transactions()), ConfigStateChecks: expectTransactions(100, 99, "id",
				knownvalue.StringExact(all[99].ID))},
			// All entries, up to the first one: a credit, which is positive and has no instance.
			{Config: env.Config(transactions(`max_results = 1000`)), ConfigStateChecks: expectTransactions(len(all), len(all)-1,
				"amount_kop", knownvalue.Int64Exact(last.AmountKop))},
			{Config: env.Config(transactions(`types = ["promo_grant"]`)),
				ConfigStateChecks: expectTransactions(1, 0, "instance_id", knownvalue.Null())},
			// Charges of one instance are negative.
			{
				Config: env.Config(transactions(`instance_id = "`+instances[0]+`"`, `types = ["usage", "bandwidth"]`,
					`max_results = 3`)),
				ConfigStateChecks: expectTransactions(3, 0, "id", knownvalue.StringExact(newestTransaction(instances[0], all).ID)),
			},
			// No match is no error.
			{
				Config: env.Config(transactions(`types = ["reversal"]`)),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(address, tfjsonpath.New("transactions"),
					knownvalue.ListSizeExact(0))},
			},
		},
	})
}

// newestTransaction returns the newest entry of an instance.
func newestTransaction(instance string, all []transaction) transaction {
	for _, e := range all {
		if e.InstanceID == instance {
			return e
		}
	}
	return transaction{}
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
