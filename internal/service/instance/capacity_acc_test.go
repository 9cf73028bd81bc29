package instance_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// sellOut makes all offers of a GPU model unavailable, and returns them.
func sellOut(t *testing.T, env *acctest.Env, gpu string) []acctest.Offer {
	t.Helper()
	offers := env.Offers("limit=200&gpu=" + gpu)
	for _, offer := range offers {
		setOffer(t, env, offer.ID, simulator.OfferPatch{Available: new(false)})
	}
	return offers
}

func setOffer(t *testing.T, env *acctest.Env, id string, patch simulator.OfferPatch) {
	t.Helper()
	if err := env.SetOffer(id, patch); err != nil {
		t.Error(err)
	}
}

// A fallback wins when the first query has no offer. Later plans keep the instance, although it does not meet the first
// query, also when fallback_queries changes. A changed offer_query replaces it if it meets no query.
func TestAccInstance_fallbackQueries(t *testing.T) {
	env := acctest.Start(t, acctest.WithoutQuirks("optional-fields-absent", "other-gpu"))
	env.AddSSHKey()
	sellOut(t, env, "h100_sxm")
	const fallback = `fallback_queries = [{ gpu = ["no_such"] }, { gpu = ["rtx_4090"], num_gpus = [1] }]`
	kept := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
		plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
	}}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Config(configByQuery(`{ gpu = ["h100_sxm"] }`, fallback)),
				ConfigStateChecks: []statecheck.StateCheck{
					attributeIs("matched_query", knownvalue.Int64Exact(2)),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("rented_offer").AtMapKey("reliability"), knownvalue.NotNull()),
					statecheck.ExpectKnownValue(address, tfjsonpath.New("rented_offer").AtMapKey("verified"), knownvalue.Bool(true)),
				},
			},
			{
				Config: env.Config(configByQuery(`{ gpu = ["h100_sxm"] }`,
					`fallback_queries = [{ gpu = ["rtx_4090"] }]`, `wait_for_offer = "1h"`)),
				ConfigPlanChecks: kept,
			},
			{
				Config:           env.Config(configByQuery(`{ gpu = ["h100_sxm"] }`)),
				ConfigPlanChecks: kept,
			},
			{
				Config:           env.Config(configByQuery(`{ gpu = ["h200"] }`, `fallback_queries = [{ gpu = ["rtx_4090"] }]`)),
				ConfigPlanChecks: kept,
			},
			{
				Config: env.Config(configByQuery(`{ gpu = ["a100_sxm4_80gb"] }`)),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionReplace),
				}},
			},
			{ResourceName: address, ImportState: true, ImportStateCheck: func(states []*terraform.InstanceState) error {
				if got := states[0].Attributes["matched_query"] + states[0].Attributes["rented_offer.%"]; got != "" {
					return fmt.Errorf("after the import: %q", got)
				}
				return nil
			}},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

// Filters that the API does not have, and the explanation of a query that no offer matches.
func TestAccInstance_noMatchingOfferExplained(t *testing.T) {
	env := acctest.Start(t)
	env.AddSSHKey()
	query := `{ gpu = ["rtx_4090"], num_gpus = [1], min_ram_gb = 100000, min_cpu_cores = 1 }`
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: env.Config(configByQuery(query)),
				ExpectError: regexp.MustCompile(`(?s)0\s+offers\s+match\s+the\s+query.*num_gpus\s+=\s+1:\s+[1-9].*` +
					`min_ram_gb\s+=\s+100000:\s+0.*Without\s+min_ram_gb,\s+\d+\s+offers\s+match:\s+the\s+cheapest\s+costs.*` +
					`wait_for_offer`),
			},
			{
				Config:      env.Config(configByQuery(`{ gpu = ["rtx_4090"], min_ram_gb = 100000, country = ["AQ"] }`)),
				ExpectError: regexp.MustCompile(`(?s)min_ram_gb\s+=\s+100000:\s+0.*change\s+at\s+least\s+two\s+of\s+these`),
			},
			{
				Config: env.Config(configByQuery(`{ gpu = ["rtx_4090"], min_ram_gb = 1, exclude_countries = ["RU"], ` +
					`min_duration_days = 1, min_ports = 1, min_disk_bw_mbps = 1, min_inet_up_mbps = 1 }`)),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("rented_offer").AtMapKey("ram_gb"), knownvalue.NotNull()),
					attributeIs("matched_query", knownvalue.Int64Exact(0)),
				},
			},
			{
				// A replacement without a matching offer is an error, also with wait_for_offer.
				Config: env.Config(configByQuery(`{ gpu = ["no_such"] }`, `wait_for_offer = "1h"`)),
				ExpectError: regexp.MustCompile(`(?s)Cannot\s+replace\s+instance.*No\s+on_demand\s+offers\s+with\s+` +
					`this\s+gpu`),
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

func TestAccInstance_capacityInvalidArguments(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.Refuses(t, [][2]string{
		{configByOffer(`wait_for_offer = "1h"`), `specified when "wait_for_offer" is`},
		{configByOffer(`fallback_queries = [{ gpu = ["h100"] }]`), `specified when "fallback_queries" is`},
		{configByQuery(`{}`, `fallback_queries = []`), `at least 1`},
		{configByQuery(`{}`, `wait_for_offer = "soon"`), `duration`},
		{configByQuery(`{ exclude_countries = ["nl"] }`), `two\s+capital\s+letters`},
		{configByQuery(`{ min_cpu_cores = 0 }`), `at least 1`},
		{configByQuery(`{}`, `ready_when = { log_pattern = "(?=x)" }`), `Invalid\s+regular\s+expression`},
		{configByQuery(`{}`, `ready_when = { log_pattern = "" }`), `at least 1`},
	})
}

// A creation that waits longer than timeouts.create allows, and a template that nobody can log in to, cause warnings.
func TestAccInstance_capacityWarnings(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t, acctest.WithoutQuirks("strange-neighbours")) // they have SSH keys
	w := env.Workspace(env.Config(configByQuery(`{}`, `wait_for_offer = "1h"`, `timeouts = { create = "30m" }`)))
	plan := acctest.WithoutFrame(w.Run("plan", "-no-color"))
	for _, want := range []string{"wait_for_offer exceeds a timeout", "No SSH key for the instance"} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %q in the plan:\n%s", want, plan)
		}
	}
	env.AddSSHKey()
	if plan := w.Run("plan", "-no-color"); strings.Contains(plan, "No SSH key") {
		t.Errorf("a warning although the account has a key:\n%s", plan)
	}
}
