package provider_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/gpurent/terraform-provider-gpurent/internal/acctest"
	"github.com/gpurent/terraform-provider-gpurent/internal/simulator"
)

// lookups are what a data source can look for a single thing by, where it takes one of several.
var lookups = []string{"id", "slug", "name"}

// waysToAsk are the blocks that read a data source: one for each thing that it can be looked for by.
func waysToAsk(name string, schema *tfprotov6.Schema) []string {
	var required, choices []string
	for _, a := range schema.Block.Attributes {
		switch {
		case a.Required:
			required = append(required, a.Name+` = "anything"`)
		case a.Optional && a.Computed && slices.Contains(lookups, a.Name):
			choices = append(choices, a.Name+` = "anything"`)
		}
	}
	if len(choices) == 0 {
		choices = []string{""}
	}
	var ways []string
	for _, choice := range choices {
		ways = append(ways, fmt.Sprintf("data %q \"it\" {\n%s\n}\n", name, strings.Join(append(required, choice), "\n")))
	}
	return ways
}

// A service in trouble is told as such, with the next step, and never taken for one that has nothing.
func TestAccProvider_noDataSourceTakesTroubleForNothing(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	if err := env.AddFault(simulator.Fault{Path: "/", Status: 503}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(env.ClearFaults)
	complaint := regexp.MustCompile(`(?s)Cannot (read|list) .*provider_unavailable.*Run again`)
	all := schemas(t).DataSourceSchemas
	var steps []resource.TestStep
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, block := range waysToAsk(name, all[name]) {
			steps = append(steps, resource.TestStep{Config: strings.Replace(env.Config(block), "max_retries = 3", "max_retries = 0", 1), ExpectError: complaint})
		}
	}
	if len(steps) < dataSources.least+2 {
		t.Errorf("%d ways to ask %d data sources: this test looks in the wrong place", len(steps), len(all))
	}
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
}
