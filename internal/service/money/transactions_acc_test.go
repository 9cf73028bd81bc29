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

const ledger = "data.gpurent_transactions.test"

func transactions(arguments ...string) string {
	return "data \"gpurent_transactions\" \"test\" {\n  " + strings.Join(arguments, "\n  ") + "\n}\n"
}

// entry is what the tests need to know of a transaction.
type entry struct {
	ID, Type   string
	AmountKop  int64  `json:"amount_kop"`
	InstanceID string `json:"instance_id"`
}

// spend rents two servers and lets them run for hours; each hour posts an entry for
// each of them. It returns their ids and the whole ledger.
func spend(t *testing.T, env *acctest.Env, hours int) (servers []string, all []entry) {
	t.Helper()
	if err := env.SetAccount(simulator.AccountPatch{BalanceKop: new(int64(1e10))}); err != nil {
		t.Fatal(err)
	}
	for _, o := range env.Offers("gpu=rtx_4090&num_gpus=1")[:2] {
		servers = append(servers, env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"ubuntu","disk_gb":10}`, o.ID)))
	}
	env.Advance(time.Duration(hours)*time.Hour + 10*time.Minute)
	acctest.List(env, "transactions?limit=200", func(e entry) { all = append(all, e) })
	env.ClearRequests()
	return servers, all
}

func isLedger(size int, index int, path string, value knownvalue.Check) []statecheck.StateCheck {
	return []statecheck.StateCheck{
		statecheck.ExpectKnownValue(ledger, tfjsonpath.New("transactions"), knownvalue.ListSizeExact(size)),
		statecheck.ExpectKnownValue(ledger, tfjsonpath.New("transactions").AtSliceIndex(index).AtMapKey(path), value),
	}
}

func TestAccTransactionsDataSource(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test selects transactions by their documented types, and reads 300 of them often: not in pages of three.
	env := acctest.Start(t, acctest.WithoutQuirks("unknown-enums", "small-pages"))
	servers, all := spend(t, env, 150)
	last := all[len(all)-1]
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Example("data-sources/gpurent_transactions/data-source.tf"),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownOutputValueAtPath("rubles_by_instance", tfjsonpath.New(servers[0]), knownvalue.NumberExact(spentOn(servers[0], all))),
					statecheck.ExpectKnownOutputValueAtPath("rubles_by_instance", tfjsonpath.New(servers[1]), knownvalue.NumberExact(spentOn(servers[1], all))),
				},
			},
			// The newest hundred by default, newest first.
			{Config: env.Config(transactions()), ConfigStateChecks: isLedger(100, 0, "id", knownvalue.StringExact(all[0].ID))},
			{Config: env.Config(transactions()), ConfigStateChecks: isLedger(100, 99, "id", knownvalue.StringExact(all[99].ID))},
			// Beyond a page, to the very first: credits are positive, and for no instance.
			{Config: env.Config(transactions(`max_results = 1000`)), ConfigStateChecks: isLedger(len(all), len(all)-1, "amount_kop", knownvalue.Int64Exact(last.AmountKop))},
			{Config: env.Config(transactions(`types = ["promo_grant"]`)), ConfigStateChecks: isLedger(1, 0, "instance_id", knownvalue.Null())},
			{Config: env.Config(transactions(`types = ["topup", "adjustment"]`)), ConfigStateChecks: isLedger(2, 0, "type", knownvalue.StringExact("adjustment"))},
			// Of one instance, newest first, and negative.
			{
				Config:            env.Config(transactions(`instance_id = "`+servers[0]+`"`, `types = ["usage", "bandwidth"]`, `max_results = 3`)),
				ConfigStateChecks: isLedger(3, 0, "id", knownvalue.StringExact(newestOf(servers[0], all).ID)),
			},
			{
				Config:            env.Config(transactions(`instance_id = "` + servers[1] + `"`)),
				ConfigStateChecks: isLedger(100, 0, "amount_kop", knownvalue.Int64Exact(newestOf(servers[1], all).AmountKop)),
			},
			// None is no error.
			{
				Config:            env.Config(transactions(`types = ["reversal"]`)),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue(ledger, tfjsonpath.New("transactions"), knownvalue.ListSizeExact(0))},
			},
		},
	})
}

func newestOf(server string, all []entry) entry {
	for _, e := range all {
		if e.InstanceID == server {
			return e
		}
	}
	return entry{}
}

// spentOn is what the ledger says of a server, rubles.
func spentOn(server string, all []entry) *big.Float {
	kop := int64(0)
	for _, e := range all {
		if e.InstanceID == server {
			kop -= e.AmountKop
		}
	}
	rubles, _, err := big.ParseFloat(fmt.Sprintf("%d.%02d", kop/100, kop%100), 10, 512, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return rubles
}

// No more of the ledger is read than it takes.
func TestAccTransactionsDataSource_readsNoFurtherThanNeeded(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test counts requests.
	env := acctest.Start(t, acctest.WithoutQuirks("small-pages", "gateway-errors"))
	servers, all := spend(t, env, 250)
	pages := (len(all) + 199) / 200
	if pages < 3 {
		t.Fatalf("%d entries are too few for this test", len(all))
	}
	w := env.Workspace("")
	for _, test := range []struct {
		config string
		pages  int
		query  string // of the first request
	}{
		{transactions(`max_results = 5`), 1, "limit=5"},
		{transactions(), 1, "limit=100"},
		{transactions(`max_results = 200`), 1, "limit=200"},
		{transactions(`max_results = 201`), 2, "limit=200"},
		{transactions(`max_results = 5`, `instance_id = "`+servers[0]+`"`), 1, "limit=200"},
		{transactions(`instance_id = "` + servers[0] + `"`), 1, "limit=200"},
		{transactions(`types = ["reversal"]`), pages, "limit=200"},
		{transactions(`max_results = 100000`), pages, "limit=200"},
	} {
		w.Configure(env.Config(test.config))
		env.ClearRequests()
		w.Run("plan")
		if made := env.Requests(); len(made) != test.pages || made[0].Query != test.query {
			t.Errorf("%d requests, want %d that begin with %s, for %s: %v", len(made), test.pages, test.query, test.config, made)
		}
	}
}

func TestAccTransactionsDataSource_needsAKeyWithTheScope(t *testing.T) {
	acctest.FirstCLIOnly(t)
	acctest.Start(t).NeedsScope(t, "user:read", `(?s)Cannot list transactions.*lacks\s+the\s+scope\s+billing:read`, transactions())
}

func TestAccTransactionsDataSource_badInputIsRefusedBeforeAnyRequest(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{transactions(`types = ["gift"]`), `value\s+must\s+be\s+one\s+of`},
		{transactions(`types = []`), `at\s+least\s+1`},
		{transactions(`instance_id = ""`), `at\s+least\s+1`},
		{transactions(`max_results = 0`), `at\s+least\s+1`},
	})
}
