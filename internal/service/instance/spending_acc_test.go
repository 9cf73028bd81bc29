package instance_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// A plan compares the balance with each instance alone.
func TestAccInstance_requireFunds(t *testing.T) {
	acctest.FirstCLIOnly(t)
	// The test compares the balance.
	env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance"))
	offers := env.Offers("gpu=rtx_4090&num_gpus=1")
	price := offers[0].Price.OnDemandKopH
	setAccount(t, env, simulator.AccountPatch{BalanceKop: new(2*price - 100), CreditLimitKop: new(int64(0))})
	query := `{ gpu = ["rtx_4090"], num_gpus = [1] }`

	w := env.Workspace(env.Config(configOfTwo(query)))
	output := acctest.Words(w.Run("plan", "-no-color"))
	for _, want := range []string{"Insufficient balance for this plan", "Missing: ", "per hour (", "per month)"} {
		if !strings.Contains(output, want) {
			t.Errorf("no %q in the plan:\n%s", want, output)
		}
	}
	w.Configure(configWithSpending(env, `require_funds = "off"`, configOfTwo(query)))
	if output := w.Run("plan", "-no-color"); strings.Contains(output, "balance") {
		t.Errorf("the check is off, and yet:\n%s", output)
	}
	w.Configure(configWithSpending(env, `require_funds = "error"`, configOfTwo(query)))
	output, err := w.Try("apply", "-auto-approve", "-no-color")
	if err == nil || !strings.Contains(acctest.Words(output), "Error: Insufficient balance for this plan") {
		t.Errorf("%v, output:\n%s", err, output)
	}
	if err := env.NothingLeft("instances?status=all"); err != nil {
		t.Error(err)
	}
}

func TestAccInstance_maxBurn(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	// With max_burn_kop_h, a plan without a balance fails, and the instances of the neighbours quirk exceed the limit.
	env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance", "strange-neighbours"))
	offers := env.Offers("gpu=rtx_4090&num_gpus=1")
	query := `{ gpu = ["rtx_4090"], num_gpus = [1] }`
	// The limit suffices for one instance with its disk, and not for two.
	limit := fmt.Sprintf("max_burn_kop_h = %d", offers[0].Price.OnDemandKopH*3/2)
	one, two := configWithSpending(env, limit, configByQuery(query)), configWithSpending(env, limit, configOfTwo(query))
	w := env.Workspace(two)
	w.Run("plan", "-no-color") // each one alone
	output, err := w.Try("apply", "-auto-approve", "-no-color")
	if err == nil || !strings.Contains(acctest.Words(output), "Burn rate would exceed max_burn_kop_h") {
		t.Errorf("%v, output:\n%s", err, output)
	}
	if err := env.Left("instances", 1); err != nil {
		t.Error(err)
	}
	if output := w.Run("plan", "-no-color"); !strings.Contains(output, "Warning: Burn rate would exceed max_burn_kop_h") {
		t.Errorf("a second one:\n%s", output)
	}
	w.Run("destroy", "-auto-approve", "-no-color") // before it, a CLI plans the second one, too
	w.Configure(one)
	w.Run("apply", "-auto-approve", "-no-color")
	// A replacement does not add to its predecessor, and a running instance does not prevent other changes.
	w.Run("plan", "-no-color", "-replace=gpurent_instance.trainer")
	w.Configure(configWithSpending(env, limit, configByQuery(query, `name = "a"`)))
	w.Run("apply", "-auto-approve", "-no-color")
	w.Configure(configWithSpending(env, limit, configByQuery(query, `desired_state = "stopped"`)))
	w.Run("apply", "-auto-approve", "-no-color")
	w.Configure(configWithSpending(env, "max_burn_kop_h = 1", configByQuery(query)))
	output, err = w.Try("plan", "-no-color")
	if err == nil || !strings.Contains(acctest.Words(output), "Burn rate would exceed max_burn_kop_h") {
		t.Errorf("a start beyond the limit: %v, output:\n%s", err, output)
	}
	w.Configure(configWithSpending(env, "max_burn_kop_h = 1", ""))
	w.Run("apply", "-auto-approve", "-no-color")
	if err := env.NothingLeft("instances"); err != nil {
		t.Error(err)
	}
}

// A new bid counts with the price of its offer at that moment, and not with the old price of the instance.
func TestAccInstance_maxBurnOfNewBid(t *testing.T) {
	acctest.FirstCLIOnly(t)
	t.Parallel()
	// The test outbids the instance itself, and the API must return the new price at once.
	env := acctest.Start(t, acctest.WithoutQuirks("forbidden-balance", "strange-neighbours", "outbid-soon-after-start",
		"cached-offers"))
	offer := env.CheapestOffer("rtx_4090", "interruptible")
	bid := *offer.Price.InterruptibleKopH
	setBid := func(kopH int64) {
		t.Helper()
		if err := env.SetOffer(offer.ID, simulator.OfferPatch{InterruptibleKopH: &kopH}); err != nil {
			t.Fatal(err)
		}
	}
	limited := func(kopH int64) string {
		return configWithSpending(env, fmt.Sprintf("max_burn_kop_h = %d", kopH),
			resourceBlock(fmt.Sprintf("%q", offer.ID), `type = "interruptible"`))
	}
	w := env.Workspace(limited(3 * bid))
	w.Run("apply", "-auto-approve", "-no-color")
	sent := env.CountRequests("POST", "/instances")
	setBid(2 * bid) // it is outbid
	w.Run("plan", "-no-color", "-out=saved")
	setBid(10 * bid)
	output, err := w.Try("apply", "-no-color", "saved")
	if err == nil || !strings.Contains(acctest.Words(output), "Burn rate would exceed max_burn_kop_h") {
		t.Errorf("%v, output:\n%s", err, output)
	}
	if n := env.CountRequests("POST", "/instances") - sent; n != 0 {
		t.Errorf("%d requests to start it", n)
	}
	w.Configure(limited(11 * bid))
	w.Run("apply", "-auto-approve", "-no-color")
	w.Run("plan", "-no-color", "-detailed-exitcode")
	w.Run("destroy", "-auto-approve", "-no-color")
}

func TestAccInstance_planErrors(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	offer := env.CheapestOffer("rtx_4090", "on_demand")
	named := func(change ...string) string {
		return strings.NewReplacer(change...).Replace(resourceBlock(fmt.Sprintf("%q", offer.ID), "max_price_kop_h = 900000"))
	}
	refused := func(config, message string) resource.TestStep {
		return resource.TestStep{Config: env.Config(config), PlanOnly: true, ExpectError: regexp.MustCompile(message)}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			refused(named(`"pytorch"`, `"no-such"`), `(?s)No such template.*gpurent_templates`),
			refused(named("= 60", "= 10"), `(?s)Disk below the template's minimum.*disk_gb\s+is\s+10`),
			refused(named("900000", "1"), `(?s)Offer price above max_price_kop_h.*per\s+month`),
			refused(configByQuery(`{}`, fmt.Sprintf("offer_id = %q", offer.ID)), `2 attributes specified`),
			refused(
				"resource \"gpurent_instance\" \"none\" {\n  template = \"pytorch\"\n  disk_gb = 60\n}\n",
				`No attribute specified`,
			),
			refused(configByQuery(`{ num_gpus = [3] }`), `value must be one of`),
			refused(configByQuery(`{ max_attempts = 0 }`), `between 1 and 50`),
			refused(configByQuery(`{}`, `replace_on = ["disk_gb"]`), `value must be one of`),
			refused(configByQuery(`{}`, fmt.Sprintf("idempotency_key = %q", strings.Repeat("k", 65))), `64`),
		},
	})
	if n := env.CountRequests("POST", "/instances"); n != 0 {
		t.Errorf("%d requests to rent", n)
	}
}
