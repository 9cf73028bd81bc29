package instance_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

const readyWhenAll = `ready_when = { ssh_reachable = true, urls_reachable = true, log_pattern = "epoch \\d+" }`

// startReachable starts a simulator whose servers answer. change is applied to each new instance.
func startReachable(t *testing.T, change simulator.InstancePatch, options ...acctest.Option) *acctest.Env {
	t.Helper()
	var env *acctest.Env
	options = append(options, func(c *simulator.Config) { c.Reachable = true }, onFirstGet(func(id string) {
		setInstance(t, env, id, change)
	}))
	env = acctest.Start(t, options...)
	env.AddSSHKey()
	return env
}

func setInstance(t *testing.T, env *acctest.Env, id string, patch simulator.InstancePatch) {
	t.Helper()
	if err := env.SetInstance(id, patch); err != nil {
		t.Error(err)
	}
}

func TestAccInstance_readyWhen(t *testing.T) {
	env := startReachable(t, simulator.InstancePatch{LogLine: new("epoch 1")})
	config := env.Config(configByQuery(`{}`, readyWhenAll))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config:            config,
				ConfigStateChecks: []statecheck.StateCheck{attributeIs("status", knownvalue.StringExact("running"))},
			},
			{Config: config, ConfigPlanChecks: acctest.Unchanged()},
		},
		CheckDestroy: checkDestroyed(env),
	})
}

// A timeout names each condition that is not met, and shows the end of the log.
func TestAccInstance_readyWhenTimeout(t *testing.T) {
	// With these quirks, the last response before the timeout may be an error or lack the pages.
	quirks := acctest.WithoutQuirks("gateway-errors", "optional-fields-absent")
	env := startReachable(t, simulator.InstancePatch{SSHReachable: new(false), URLsReachable: new(false)}, quirks)
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{{
			Config: env.Config(configByQuery(`{}`, readyWhenAll, `timeouts = { create = "2s" }`)),
			ExpectError: regexp.MustCompile(`(?s)is\s+not\s+ready\s+yet.*ready_when\.ssh_reachable\s+is\s+not\s+met:.*` +
				`sends\s+no\s+SSH\s+version.*ready_when\.urls_reachable\s+is\s+not\s+met:.*status\s+503.*` +
				`ready_when\.log_pattern\s+is\s+not\s+met:.*` +
				`The\s+end\s+of\s+its\s+log:.*Container\s+is\s+running`),
		}},
		CheckDestroy: checkDestroyed(env),
	})
}

// After an apply that ended before the conditions were met, the next apply continues to wait, although the instance
// runs and has its addresses.
func TestAccInstance_readyWhenContinues(t *testing.T) {
	env := startReachable(t, simulator.InstancePatch{SSHReachable: new(false)})
	var id string
	config := env.Config(configByQuery(`{}`, `keep_on_timeout = true`, `ready_when = { ssh_reachable = true }`,
		`timeouts = { create = "2s", update = "1m" }`))
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: config, Check: acctest.RememberID(address, &id),
				ConfigStateChecks:  []statecheck.StateCheck{attributeIs("status", knownvalue.StringExact("running"))},
				ExpectNonEmptyPlan: true,
			},
			{
				PreConfig: func() { setInstance(t, env, id, simulator.InstancePatch{SSHReachable: new(true)}) },
				Config:    config,
				ConfigPlanChecks: resource.ConfigPlanChecks{
					PreApply: []plancheck.PlanCheck{expectAction(plancheck.ResourceActionUpdate)},
				},
			},
			{Config: config, ConfigPlanChecks: acctest.Unchanged()},
		},
		CheckDestroy: checkDestroyed(env),
	})
}
