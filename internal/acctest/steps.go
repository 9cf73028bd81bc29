package acctest

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
)

// Unchanged expects an empty plan.
func Unchanged() resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
}

// Planned expects an action for a resource in the plan, and further checks.
func Planned(
	address string, action plancheck.ResourceActionType, further ...plancheck.PlanCheck,
) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: append(further, plancheck.ExpectResourceAction(address, action))}
}

// RememberID saves the id of a resource for later steps.
func RememberID(address string, into *string) resource.TestCheckFunc {
	return func(s *terraform.State) error {
		*into = s.RootModule().Resources[address].Primary.ID
		return nil
	}
}

// Refuses checks that each configuration fails without a request. A pair is a configuration without its provider block,
// and a regular expression that matches the error.
func (e *Env) Refuses(t *testing.T, pairs [][2]string) {
	t.Helper()
	var steps []resource.TestStep
	for _, pair := range pairs {
		config, message := e.Config(pair[0]), regexp.MustCompile(pair[1])
		steps = append(steps, resource.TestStep{Config: config, PlanOnly: true, ExpectError: message})
	}
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: Factories(), Steps: steps})
	if n := len(e.Requests()); n != 0 {
		t.Errorf("%d requests, want 0", n)
	}
}

// NeedsScope checks that each configuration, without its provider block, fails without an API key. With a key that has
// only the scope other, the regular expression message must match the error.
func (e *Env) NeedsScope(t *testing.T, other, message string, configs ...string) {
	t.Helper()
	narrow := e.Secret(`{"name":"narrow","scopes":["` + other + `"]}`)
	var steps []resource.TestStep
	for _, config := range configs {
		steps = append(steps,
			resource.TestStep{Config: e.ProviderWithoutKey() + config, ExpectError: regexp.MustCompile(`Missing API key`)},
			resource.TestStep{Config: e.ProviderWithKey(narrow) + config, ExpectError: regexp.MustCompile(message)})
	}
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: Factories(), Steps: steps})
}
