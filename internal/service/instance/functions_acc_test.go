package instance_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
)

// The file is known as soon as the instances have addresses, and can be written while one of them is stopped.
func TestAccSSHConfig_basic(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	const (
		block   = `Host worker-%\n  HostName [0-9a-z.:-]+\n  Port [0-9]+\n  User root\n`
		comment = `# worker-%: no SSH address now \(stopped, or not assigned yet\)\n`
	)
	example := env.Example("functions/ssh_config/function.tf")
	fileIs := func(first, second string) []statecheck.StateCheck {
		file := "^" + strings.Replace(first, "%", "1", 1) + `\n` + strings.Replace(second, "%", "2", 1) + "$"
		return []statecheck.StateCheck{
			statecheck.ExpectKnownOutputValue("ssh_config", knownvalue.StringRegexp(regexp.MustCompile(file))),
		}
	}
	stopped := strings.Replace(
		example,
		"disk_gb ",
		"desired_state = each.key == \"worker-2\" ? \"stopped\" : \"running\"\n  disk_gb ",
		1,
	)
	unknown := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectUnknownOutputValue("ssh_config")}}
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{Config: example, ConfigPlanChecks: unknown, ConfigStateChecks: fileIs(block, block)},
			{Config: stopped, ConfigStateChecks: fileIs(block, comment)},
			{Config: example, ConfigPlanChecks: unknown, ConfigStateChecks: fileIs(block, block)},
			{Config: env.Provider()}, // the test framework cannot end with something made by for_each
		},
		CheckDestroy: checkDestroyed(env),
	})
}
