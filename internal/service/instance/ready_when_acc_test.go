package instance_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// An apply waits for the conditions of ready_when. A timeout names each condition that is not met, and shows the end of
// the log. The next apply continues to wait, although the instance runs and has its addresses.
func TestAccInstance_readyWhen(t *testing.T) {
	// With these quirks, the last response before the timeout may be an error or lack the pages.
	p := new(acctest.Proxy)
	env := acctest.Start(t, func(c *simulator.Config) { c.Reachable = true }, p.Option(),
		acctest.WithoutQuirks("gateway-errors", "optional-fields-absent"))
	env.AddSSHKey()
	var id string
	config := func(update string) string {
		return env.Config(configByQuery(`{}`, `keep_on_timeout = true`,
			`ready_when = { ssh_reachable = true, urls_reachable = true, log_pattern = "epoch \\d+" }`,
			`timeouts = { create = "3s", update = "`+update+`" }`))
	}
	unreachable := acctest.Request("GET", "/instances.*").Do(acctest.RewriteItems(func(item map[string]any) {
		if ssh, ok := item["ssh"].(map[string]any); ok {
			ssh["port"] = 1
			link := item["urls"].([]any)[0].(map[string]any)
			link["url"] = strings.Replace(link["url"].(string), id, "none", 1)
		}
	}))
	epoch := acctest.Request("GET", "/instances/.*/logs").Do(acctest.SetField("lines", []string{"epoch 1"}))
	become := func(rule acctest.Rule) func() { return func() { p.Set(rule) } }
	resource.ParallelTest(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps: []resource.TestStep{
			{
				Config: config("3s"), Check: acctest.RememberID(address, &id),
				ConfigStateChecks: statusIs("running"), ExpectNonEmptyPlan: true,
			},
			{
				PreConfig: become(unreachable), Config: config("3s"),
				ExpectError: regexp.MustCompile(`(?s)is\s+not\s+in\s+its\s+desired\s+state.*` +
					`ready_when\.ssh_reachable\s+is\s+not\s+met:.*refused.*` +
					`ready_when\.urls_reachable\s+is\s+not\s+met:.*status\s+503.*ready_when\.log_pattern\s+is\s+not\s+met:.*` +
					`The\s+end\s+of\s+its\s+log:.*Container\s+is\s+running`),
			},
			{
				PreConfig: become(epoch), Config: config("1m"),
				ConfigPlanChecks: planned(plancheck.ResourceActionUpdate), ConfigStateChecks: statusIs("running"),
			},
			{Config: config("1m"), ConfigPlanChecks: acctest.Unchanged()},
		},
		CheckDestroy: checkDestroyed(env),
	})
}
