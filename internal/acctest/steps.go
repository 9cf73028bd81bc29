package acctest

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
)

// Unchanged expects a plan without any change.
func Unchanged() resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
}

// Planned expects a plan to do this with the resource.
func Planned(address string, action plancheck.ResourceActionType, further ...plancheck.PlanCheck) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: append(further, plancheck.ExpectResourceAction(address, action))}
}

// RememberID keeps the id of a resource in the state for later steps.
func RememberID(address string, into *string) resource.TestCheckFunc {
	return func(s *terraform.State) error {
		*into = s.RootModule().Resources[address].Primary.ID
		return nil
	}
}

// Refuses expects every configuration to be refused before a request is sent.
// Each pair is a configuration without its provider block, and a regular
// expression that its error must match.
func (e *Env) Refuses(t *testing.T, pairs [][2]string) {
	t.Helper()
	var steps []resource.TestStep
	for _, pair := range pairs {
		steps = append(steps, resource.TestStep{Config: e.Config(pair[0]), PlanOnly: true, ExpectError: regexp.MustCompile(pair[1])})
	}
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: Factories(), Steps: steps})
	if n := len(e.Requests()); n != 0 {
		t.Errorf("%d requests were made, want none", n)
	}
}

// NeedsScope expects every configuration, without its provider block, to be refused
// without an API key, and with one that has another scope only: then with an error
// that a regular expression matches.
func (e *Env) NeedsScope(t *testing.T, other, complaint string, configs ...string) {
	t.Helper()
	narrow := e.Secret(`{"name":"narrow","scopes":["` + other + `"]}`)
	var steps []resource.TestStep
	for _, config := range configs {
		steps = append(steps,
			resource.TestStep{Config: e.ProviderWithoutKey() + config, ExpectError: regexp.MustCompile(`Missing API key`)},
			resource.TestStep{Config: e.ProviderWithKey(narrow) + config, ExpectError: regexp.MustCompile(complaint)})
	}
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: Factories(), Steps: steps})
}
