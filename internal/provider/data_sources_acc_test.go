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

// lookupArguments are the arguments that select one item in a data source with several of them, with a value.
var lookupArguments = map[string]string{
	"id": "anything", "slug": "anything", "name": "anything", "prefix": "anything",
	"fingerprint": "SHA256:8v26jgbNH2fLJxQMdNeAZ5MTwnOj+VNV2xs8TocK1Mo",
}

// lookupBlocks returns data blocks of a data source: one for each of its lookup arguments.
func lookupBlocks(name string, schema *tfprotov6.Schema) []string {
	var required, choices []string
	for _, a := range schema.Block.Attributes {
		switch {
		case a.Required:
			required = append(required, a.Name+` = "anything"`)
		case a.Optional && a.Computed && lookupArguments[a.Name] != "":
			choices = append(choices, fmt.Sprintf("%s = %q", a.Name, lookupArguments[a.Name]))
		}
	}
	if len(choices) == 0 {
		choices = []string{""}
	}
	var blocks []string
	for _, choice := range choices {
		blocks = append(blocks, fmt.Sprintf("data %q \"it\" {\n%s\n}\n", name, strings.Join(append(required, choice), "\n")))
	}
	return blocks
}

// A data source reports an error of the service with the next step, and never returns it as an empty result.
func TestAccProvider_dataSourcesReportServiceErrors(t *testing.T) {
	acctest.FirstCLIOnly(t)
	env := acctest.Start(t)
	if err := env.AddFault(simulator.Fault{Path: "/", Status: 503}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(env.ClearFaults)
	message := regexp.MustCompile(`(?s)Cannot (read|list) .*provider_unavailable.*Run again`)
	all := schemas(t).DataSourceSchemas
	var steps []resource.TestStep
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, block := range lookupBlocks(name, all[name]) {
			config := strings.Replace(env.Config(block), "max_retries = 3", "max_retries = 0", 1)
			steps = append(steps, resource.TestStep{Config: config, ExpectError: message})
		}
	}
	if len(steps) < dataSources.atLeast+4 {
		t.Errorf("%d blocks for %d data sources, want more", len(steps), len(all))
	}
	resource.ParallelTest(t, resource.TestCase{ProtoV6ProviderFactories: acctest.Factories(), Steps: steps})
}
