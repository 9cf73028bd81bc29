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
