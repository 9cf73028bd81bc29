package provider_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// unreadable is a data source of each kind, and how it begins to tell that the service does not answer it.
var unreadable = map[string]string{
	`data "gpurent_account" "it" {}`:                            `Cannot read the account`,
	`data "gpurent_api_keys" "it" {}`:                           `Cannot list API keys`,
	`data "gpurent_balance" "it" {}`:                            `Cannot read the balance`,
	`data "gpurent_gpus" "it" {}`:                               `Cannot list GPU models`,
	`data "gpurent_instance" "it" { id = "ins_1" }`:             `Cannot read instance ins_1`,
	`data "gpurent_instance" "it" { name = "trainer" }`:         `Cannot list instances`,
	`data "gpurent_instance_logs" "it" { instance_id = "ins" }`: `Cannot read the log of instance ins`,
	`data "gpurent_instances" "it" {}`:                          `Cannot list instances`,
	`data "gpurent_offer" "it" { id = "off_1" }`:                `Cannot read offer off_1`,
	`data "gpurent_offers" "it" {}`:                             `Cannot list offers`,
	`data "gpurent_ssh_keys" "it" {}`:                           `Cannot list SSH keys`,
	`data "gpurent_template" "it" { slug = "pytorch" }`:         `Cannot read template pytorch`,
	`data "gpurent_template" "it" { name = "PyTorch" }`:         `Cannot list templates`,
	`data "gpurent_templates" "it" {}`:                          `Cannot list templates`,
	`data "gpurent_transactions" "it" {}`:                       `Cannot list transactions`,
}

// A service in trouble is told as such, with the next step, and never taken for one that has nothing.
func TestAccProvider_noDataSourceTakesTroubleForNothing(t *testing.T) {
	env := acctest.Start(t)
	if err := env.AddFault(simulator.Fault{Path: "/", Status: 503}); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var steps []resource.TestStep
	for config, says := range unreadable {
		steps = append(steps, resource.TestStep{
			Config:      strings.Replace(env.Config(config), "max_retries = 3", "max_retries = 0", 1),
			ExpectError: regexp.MustCompile(`(?s)` + regexp.QuoteMeta(says) + `.*provider_unavailable.*Run again`),
		})
		names[regexp.MustCompile(`gpurent_\w+`).FindString(config)] = true
	}
	for name := range schemas(t).DataSourceSchemas {
		if !names[name] {
			t.Errorf("%s is not tried", name)
		}
	}
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
	env.ClearFaults()
}
