package instance_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

func TestAccInstance_offerQueryNextOffer(t *testing.T) {
	acctest.FirstCLIOnly(t)
	var env *acctest.Env
	var all []acctest.Offer
	set := func(offer acctest.Offer, patch simulator.OfferPatch) {
		if err := env.SetOffer(offer.ID, patch); err != nil {
			t.Error(err)
		}
	}
	env = acctest.Start(t,
		// When the list is read, the first offer is not available, and the second is too expensive.
		afterFirst("GET", `/offers$`, func() {
			all = env.Offers("gpu=rtx_4090&num_gpus=1")
			set(all[0], simulator.OfferPatch{Available: new(false)})
			set(all[1], simulator.OfferPatch{OnDemandKopH: new(int64(1_000_000))})
		}),
	)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Config(configByQuery(`{ gpu = ["rtx_4090"], num_gpus = [1] }`, "max_price_kop_h = 900000")),
			Check: func(s *terraform.State) error {
				return resource.TestCheckResourceAttr(address, "rented_offer_id", all[2].ID)(s)
			},
		}},
		CheckDestroy: checkDestroyed(env),
	})
}

// Another customer rents the offer right after the provider has listed it, and the API still returns it as available
// from its cache. The creation continues with the next offer.
func TestAccInstance_offerQueryRentedByOthers(t *testing.T) {
	acctest.FirstCLIOnly(t)
	var env *acctest.Env
	var taken string
	env = acctest.Start(t,
		func(c *simulator.Config) { c.Quirks = []string{"cached-offers"} },
		afterFirst("GET", `/offers`, func() {
			taken = env.Offers("gpu=rtx_4090&num_gpus=1")[0].ID
			env.Post("instances", fmt.Sprintf(`{"offer_id":%q,"template":"pytorch","disk_gb":60}`, taken))
		}),
	)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Config(configByQuery(`{ gpu = ["rtx_4090"], num_gpus = [1] }`)),
			Check: func(s *terraform.State) error {
				if resource.TestCheckResourceAttr(address, "rented_offer_id", taken)(s) == nil {
					return fmt.Errorf("rented the offer %s, which another customer has rented", taken)
				}
				return nil
			},
		}},
	})
	if err := env.Left("instances", 1); err != nil {
		t.Error(err)
	}
	if n := env.CountRequests("POST", "/instances"); n != 3 {
		t.Errorf("%d requests to rent, want one of another customer, one refused and one successful", n)
	}
}

func TestAccInstance_offerQueryErrors(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Config(configByQuery(`{ gpu = ["no_such"] }`)),
				ExpectError: regexp.MustCompile(
					`(?s)No matching offer could be rented.*0\s+offers\s+match.*Nothing\s+was\s+rented`,
				),
			},
			{
				// A limit of the account does not depend on the offer, so only a few offers are tried.
				PreConfig:   func() { setAccount(t, env, simulator.AccountPatch{MaxInstances: new(int64(0))}) },
				Config:      env.Config(configByQuery(`{}`)),
				ExpectError: regexp.MustCompile(`(?s)conflict.*a\s+limit\s+of\s+the\s+account`),
			},
		},
	})
	if n := env.CountRequests("POST", "/instances"); n != 5 {
		t.Errorf("%d requests to rent, want 5", n)
	}
}

// Fifty instances at the same time rent different offers, none above the cap.
func TestAccInstance_fiftyInParallel(t *testing.T) {
	const many, choice = 50, 60
	env := acctest.Start(t)
	setAccount(t, env, simulator.AccountPatch{MaxInstances: new(int64(many)), BalanceKop: new(int64(1e10))})
	limit := env.Offers("limit=200")[choice-1].Price.OnDemandKopH
	config := env.Config(
		fmt.Sprintf(
			"resource \"gpurent_instance\" \"fleet\" {\n  count = %d\n  name = \"fleet-${count.index}\"\n"+
				"  offer_query = {}\n  template = \"ubuntu\"\n  disk_gb = 10\n"+
				"  max_price_kop_h = %d\n  idempotency_key = \"fleet-${count.index}\"\n}\n",
			many,
			limit,
		),
	)
	w := env.Workspace(config)
	w.Run("apply", "-auto-approve", "-no-color", "-parallelism=50")
	w.Run("plan", "-detailed-exitcode", "-no-color")
	type rented struct {
		Offer string `json:"rented_offer_id"`
		Price *int64 `json:"quoted_kop_h"`
	}
	offers := map[string]bool{}
	for _, configByOffer := range acctest.SavedIn[rented](w, "gpurent_instance") {
		offers[configByOffer.Attributes.Offer] = true
		if price := configByOffer.Attributes.Price; price == nil || *price > limit {
			t.Errorf("server %+v has no price, or one above the cap of %d", configByOffer, limit)
		}
	}
	if len(offers) != many || offers[""] {
		t.Errorf("%d servers from %d offers", many, len(offers))
	}
	if err := env.Left("instances?status=all&limit=200", many); err != nil {
		t.Error(err)
	}
}
