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

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

const withPrefix = `idempotency_prefix = "team-"`

// The key of an instance without idempotency_key derives from the prefix and its name. A run that lost the
// instance recovers it, and a replacement gets another one.
func TestAccInstance_idempotencyPrefix(t *testing.T) {
	env := acctest.Start(t)
	env.AddSSHKey()
	config := env.Provider(withPrefix) + configByQuery(`{}`, `name = "trainer"`)
	var first, second string
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: config, Check: acctest.RememberID(address, &first)},
			removeFromStateStep(env.Provider(withPrefix)),
			{
				Config: config, Check: acctest.RememberID(address, &second),
				ConfigStateChecks: []statecheck.StateCheck{attributeIs("matched_query", knownvalue.Null())},
			},
			{
				Config: config, ConfigPlanChecks: acctest.Unchanged(),
				PreConfig: func() {
					if first != second {
						t.Errorf("recovered %s, want %s", second, first)
					}
				},
			},
			{
				Config: strings.Replace(config, `"trainer"
}`, `"renamed"
}`, 1),
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{expectAction(plancheck.ResourceActionUpdate)},
				},
			},
			{
				Config: strings.Replace(config, "disk_gb  = 60", "disk_gb  = 70", 1),
				Check:  acctest.RememberID(address, &second),
			},
			{
				Config: strings.Replace(config, "disk_gb  = 60", "disk_gb  = 70", 1), ConfigPlanChecks: acctest.Unchanged(),
				PreConfig: func() {
					if first == second {
						t.Errorf("the replacement of %s is itself", first)
					}
				},
			},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

func TestAccInstance_idempotencyPrefixInvalidArguments(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	for _, test := range []struct{ prefix, config, want string }{
		{"team-", configByQuery(`{}`), `(?s)Instance without a name.*idempotency_prefix`},
		{"", configByQuery(`{}`), `at least 1`},
	} {
		config := env.Provider(fmt.Sprintf("idempotency_prefix = %q", test.prefix)) + test.config
		resource.Test(t, resource.TestCase{
			ProtoV6ProviderFactories: acctest.Factories(),
			Steps: []resource.TestStep{
				{Config: config, PlanOnly: true, ExpectError: regexp.MustCompile(test.want)},
			},
		})
	}
	if n := env.CountRequests("POST", "/instances"); n > 0 {
		t.Errorf("%d create requests", n)
	}
}
