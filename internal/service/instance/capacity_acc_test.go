package instance_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// A fallback wins when the first query has no offer. Later plans keep the instance, although it does not meet the first
// query, even when fallback_queries changes. A changed offer_query replaces it if it meets no query.
func TestAccInstance_fallbackQueries(t *testing.T) {
	env := acctest.Start(t, acctest.WithoutQuirks("optional-fields-absent", "other-gpu"))
	env.AddSSHKey()
	sellOut(t, env, "h100_sxm")
	offered := func(name string, value knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, tfjsonpath.New("rented_offer").AtMapKey(name), value)
	}
	step := func(query, fallback string, action plancheck.ResourceActionType) resource.TestStep {
		return resource.TestStep{Config: env.Config(configByQuery(query, fallback)), ConfigPlanChecks: planned(action)}
	}
	const h100, h200, a100 = `{ gpu = ["h100_sxm"] }`, `{ gpu = ["h200"] }`, `{ gpu = ["a100_sxm4_80gb"] }`
	const fallback = `fallback_queries = [{ gpu = ["rtx_4090"] }]`
	first := step(h100, `fallback_queries = [{ gpu = ["no_such"] }, { gpu = ["rtx_4090"], num_gpus = [1] }]`,
		plancheck.ResourceActionCreate)
	first.ConfigStateChecks = []statecheck.StateCheck{
		attributeIs("matched_query", knownvalue.Int64Exact(2)),
		offered("reliability", knownvalue.NotNull()), offered("verified", knownvalue.Bool(true)),
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			first,
			step(h100, "", plancheck.ResourceActionUpdate),
			step(h200, fallback, plancheck.ResourceActionUpdate),
			step(a100, "", plancheck.ResourceActionReplace),
		},
		CheckDestroy: checkDestroyed(env),
	})
}

// Filters that the API does not have, and the explanation of a query that no offer matches.
func TestAccInstance_noMatchingOfferExplained(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	env.AddSSHKey()
	step := func(message, query string, arguments ...string) resource.TestStep {
		config := env.Config(configByQuery(query, arguments...))
		return resource.TestStep{Config: config, ExpectError: regexp.MustCompile(message)}
	}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			step(`(?s)Matching\s+the\s+query:\s+0.*wait_for_offer.*[1-9]\s+match\s+num_gpus\s+=\s+1,.*`+
				`\b0\s+match\s+min_ram_gb\s+=\s+100000.*`+
				`Without\s+min_ram_gb,\s+\d+\s+offers\s+match,\s+from`,
				`{ gpu = ["rtx_4090"], num_gpus = [1], min_ram_gb = 100000, min_cpu_cores = 1 }`),
			step(`(?s)\b0\s+match\s+min_ram_gb\s+=\s+100000.*change\s+at\s+least\s+two\s+of\s+these`,
				`{ gpu = ["rtx_4090"], min_ram_gb = 100000, country = ["AQ"] }`),
			{
				Config: env.Config(configByQuery(`{ gpu = ["rtx_4090"], min_ram_gb = 1, exclude_countries = ["RU"], ` +
					`min_duration_days = 1, min_ports = 1, min_disk_bw_mbps = 1, min_inet_up_mbps = 1 }`)),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("rented_offer").AtMapKey("ram_gb"), knownvalue.NotNull()),
					attributeIs("matched_query", knownvalue.Int64Exact(0)),
				},
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
}
